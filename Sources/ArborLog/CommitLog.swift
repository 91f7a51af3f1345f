public import ArborModel
public import Foundation

/// The one order of a store's commits, which every copy of the store follows: what a server keeps
/// so that several machines can write to one store.
///
/// A commit counts once its entry is in the log, and a store that adds one has taken over
/// everything before it. The log itself validates nothing: it keeps entries, one behind the other,
/// and refuses those that somebody was faster than. `PostgresLog` is one; a program can bring its
/// own.
///
/// What a log promises:
/// - An entry is added whole or not at all, and only behind the entry that it names as its
///   predecessor, by sequence and by digest.
/// - What was answered with ``AppendResult/written`` stays. A server that loses it all the same, as
///   after failing over to one that did not have it, is found out by digests.
/// - Numbers that were reserved are not given out again.
///
/// All methods may be called from several threads at once, and they may block: each ends within a
/// time-out of the log's own. Errors are ``ArborError`` `logUnavailable` where the log cannot be
/// reached or refuses, `outcomeUnknown` where nobody knows whether a log was begun or a snapshot
/// published, and `corrupted`, `formatTooNew` or `invalidArgument` for what is there. After any
/// other error than `outcomeUnknown` nothing was done.
public protocol CommitLog: Sendable {
  /// What messages call the log. It holds no password.
  var name: String { get }

  /// How long a store asks again where an answer was lost, before it says that the outcome is
  /// unknown. Commits of its process wait meanwhile.
  var waitLimit: Duration { get }

  /// How far the log is; nil for one that nobody has begun.
  func head() throws(ArborError) -> LogHead?

  /// Begins the log of a store, behind the newest commit of a snapshot.
  ///
  /// - Parameters:
  ///   - snapshot: What the log begins with: one that was published.
  ///   - entries: What was committed behind the snapshot while it was published, each following the
  ///     one before. They are in the log as soon as it is there.
  /// - Returns: Whether the log begins with the snapshot, also where an earlier call has begun it;
  ///   false where there is another log already, which stays as it is.
  func begin(with snapshot: LogSnapshot, then entries: [LogEntry]) throws(ArborError) -> Bool

  /// Adds an entry, where its predecessor is the newest one. Adding an entry again that is there
  /// changes nothing, and gives ``AppendResult/written``, also where others have come behind it.
  func append(_ entry: LogEntry) throws(ArborError) -> AppendResult

  /// The entries behind a sequence, oldest first.
  ///
  /// - Parameters:
  ///   - sequence: The last commit of an entry. Entries that have been removed are not there: the
  ///     first one's predecessor is another then.
  ///   - limit: The most entries to give, at least 1; fewer may be given, but none only where there
  ///     are none.
  func entries(after sequence: UInt64, limit: Int) throws(ArborError) -> [LogEntry]

  /// Takes numbers of a counter that nobody gets again.
  ///
  /// - Parameters:
  ///   - counter: The name of the counter, which begins where it is first asked for.
  ///   - count: How many, at least 1.
  ///   - least: The smallest number that may be given.
  /// - Returns: `count` numbers.
  func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(ArborError) -> Range<UInt64>

  /// Adds a snapshot from which new copies can begin.
  ///
  /// It counts once the log begins with it, or has an entry whose last commit is the snapshot's,
  /// with its digest; one that does not is as if it were not there. There need be no log yet.
  ///
  /// - Parameters:
  ///   - snapshot: What the file holds.
  ///   - file: The file; it is read only.
  func publish(_ snapshot: LogSnapshot, in file: URL) throws(ArborError)

  /// The newest snapshot that counts; nil where the log has none.
  func newestSnapshot() throws(ArborError) -> LogSnapshot?

  /// Writes a snapshot to a file.
  ///
  /// - Parameters:
  ///   - snapshot: One that ``newestSnapshot()`` gave.
  ///   - file: Where to; nothing is there yet. It may be left behind where an error is thrown.
  func fetch(_ snapshot: LogSnapshot, to file: URL) throws(ArborError)

  /// Removes what is not needed to begin a copy from the newest snapshot or to go on behind a
  /// sequence: entries up to it, snapshots before the newest one that counts, and those that do not
  /// count.
  ///
  /// - Parameter sequence: What is behind it stays, and so do entries behind the newest snapshot.
  func trim(through sequence: UInt64) throws(ArborError)

  /// Gives something each time that the log may have something new, as soon as it is known; nil
  /// where nothing can tell. Copies look at the log by themselves too.
  ///
  /// - Returns: A sequence that ends when it is no longer iterated, or when the log is released.
  func news() -> AsyncStream<Void>?

  /// Waits until the log's own threads have nothing left to do for stores that are closed.
  ///
  /// Closing a store calls it, so that a program can end behind it: no thread is inside of a
  /// library then whose state the end of the process takes away. It ends within a time-out of the
  /// log's own.
  func waitUntilIdle()
}

extension CommitLog {
  /// Ten seconds.
  public var waitLimit: Duration { .seconds(10) }

  /// Nothing tells of what is new: copies look again and again.
  public func news() -> AsyncStream<Void>? { nil }

  /// Returns at once: a log without threads of its own has none to wait for.
  public func waitUntilIdle() {}
}
