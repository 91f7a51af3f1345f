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
  func head() throws(ArborError) -> CommitLogHead?

  /// Begins the log of a store, behind the newest commit of a snapshot.
  ///
  /// - Parameters:
  ///   - snapshot: What the log begins with: one that was published.
  ///   - entries: What was committed behind the snapshot while it was published, each following the
  ///     one before. They are in the log as soon as it is there.
  /// - Returns: Whether the log begins with the snapshot, also where an earlier call has begun it;
  ///   false where there is another log already, which stays as it is.
  func begin(with snapshot: CommitLogSnapshot, then entries: [CommitLogEntry]) throws(ArborError)
    -> Bool

  /// Adds an entry, where its predecessor is the newest one. Adding an entry again that is there
  /// changes nothing, and gives ``AppendResult/written``, also where others have come behind it.
  func append(_ entry: CommitLogEntry) throws(ArborError) -> AppendResult

  /// The entries behind a sequence, oldest first.
  ///
  /// - Parameters:
  ///   - sequence: The last commit of an entry. Entries that have been removed are not there: the
  ///     first one's predecessor is another then.
  ///   - limit: The most entries to give, at least 1; fewer may be given, but none only where there
  ///     are none.
  func entries(after sequence: UInt64, limit: Int) throws(ArborError) -> [CommitLogEntry]

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
  func publish(_ snapshot: CommitLogSnapshot, in file: URL) throws(ArborError)

  /// The newest snapshot that counts; nil where the log has none.
  func newestSnapshot() throws(ArborError) -> CommitLogSnapshot?

  /// Writes a snapshot to a file.
  ///
  /// - Parameters:
  ///   - snapshot: One that ``newestSnapshot()`` gave.
  ///   - file: Where to; nothing is there yet. It may be left behind where an error is thrown.
  func fetch(_ snapshot: CommitLogSnapshot, to file: URL) throws(ArborError)

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

/// What copies of a store add to the log that they share: commits that were made together, or a
/// change of the model.
///
/// A log keeps entries as they are and knows nothing of what is in them.
public struct CommitLogEntry: Sendable, Hashable {
  /// Tells the entry from every other, so that a store that lost an answer can ask again.
  public let batch: UUID
  /// The sequence of its first commit.
  public let first: UInt64
  /// The sequence of its last commit: not before the first.
  public let last: UInt64
  /// What the history before it comes to: the ``digest`` of the entry before.
  public let previous: CommitLogDigest
  /// What the history comes to with it.
  public let digest: CommitLogDigest
  /// What it holds, with checksums of its own.
  public let body: [UInt8]

  /// Makes an entry of what a log kept of it.
  public init(
    batch: UUID, first: UInt64, last: UInt64, previous: CommitLogDigest, digest: CommitLogDigest,
    body: [UInt8]
  ) {
    self.batch = batch
    self.first = first
    self.last = last
    self.previous = previous
    self.digest = digest
    self.body = body
  }
}

/// What came of adding an entry to a log.
public enum AppendResult: Sendable, Hashable {
  /// It is in the log, and every copy of the store will have it.
  case written
  /// Others were faster: these follow what the adder knew, oldest first. At least one, not
  /// necessarily all.
  case behind([CommitLogEntry])
  /// What it would follow is not in the log: the log has lost its end, or another history.
  case forked
  /// Nobody knows: the answer was lost. A store that adds the same entry again learns it.
  case unknown
}

/// How far a log is.
public struct CommitLogHead: Sendable, Hashable {
  /// The identity of the store whose commits it holds.
  public let store: UUID
  /// The newest commit in it.
  public let sequence: UInt64
  /// What the history up to that commit comes to.
  public let digest: CommitLogDigest

  /// Makes a head.
  public init(store: UUID, sequence: UInt64, digest: CommitLogDigest) {
    self.store = store
    self.sequence = sequence
    self.digest = digest
  }
}

/// What a log knows of a snapshot of its store: a whole file, from which new copies begin.
public struct CommitLogSnapshot: Sendable, Hashable {
  /// Tells it from every other.
  public let id: UUID
  /// The identity of the store.
  public let store: UUID
  /// The newest commit in it.
  public let sequence: UInt64
  /// What the history up to that commit comes to.
  public let digest: CommitLogDigest

  /// Makes the description of a snapshot.
  public init(id: UUID, store: UUID, sequence: UInt64, digest: CommitLogDigest) {
    self.id = id
    self.store = store
    self.sequence = sequence
    self.digest = digest
  }
}

/// What a history of commits comes to: two that differ anywhere have different ones.
///
/// It guards against accidents, such as a server that lost its newest entries, and not against
/// forgery.
public struct CommitLogDigest: Sendable, Hashable {
  /// The number of bytes.
  public static let size = 16

  package let bits: UInt128

  package init(bits: UInt128) { self.bits = bits }

  /// Reads what ``bytes`` gave.
  ///
  /// - Returns: nil for another number of bytes than ``size``.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.size else { return nil }
    bits = bytes.reversed().reduce(0) { $0 << 8 | UInt128($1) }
  }

  /// The digest as ``size`` bytes, the lowest first.
  public var bytes: [UInt8] { (0..<Self.size).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) } }
}
