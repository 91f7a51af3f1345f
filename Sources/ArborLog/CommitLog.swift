public import ArborFoundation
public import ArborModel

/// The totally ordered commit log of a store, kept by a server, through which several machines
/// write to one store.
///
/// Every copy of the store follows the log. A commit takes effect once its entry is in the log, and
/// a store that appends an entry has applied all earlier ones. The log itself validates nothing. It
/// stores entries in sequence and rejects an entry if another one has been appended first, which is
/// optimistic concurrency control between machines. `PostgresLog` is an implementation; a program
/// can provide its own.
///
/// A log guarantees:
/// - An entry is appended atomically, and only after the entry that it names as its predecessor, by
///   sequence and by digest.
/// - An entry acknowledged with ``AppendResult/written`` is durable. If a server loses one
///   nevertheless, for example after failing over to a standby without it, digests reveal the loss.
/// - Reserved numbers are never reserved again.
///
/// All methods must be thread-safe. They may block, but must return within the log's timeouts.
/// Errors are ``ArborError`` `logUnavailable` if the log cannot be reached or refuses the call;
/// `outcomeUnknown` if it is unknown whether a log was begun or a snapshot published; and
/// `corrupted`, `formatTooNew` or `invalidArgument` for the log's contents. An error other than
/// `outcomeUnknown` guarantees that nothing was changed.
public protocol CommitLog: Sendable {
  /// The name of the log in messages. It contains no password.
  var name: String { get }

  /// The time for which a store retries an append whose response was lost, before it treats the
  /// outcome as unknown. Commits of the process wait in the meantime.
  var waitLimit: Duration { get }

  /// Returns the newest position of the log, or `nil` if the log has not been begun.
  func head() throws(ArborError) -> CommitLogHead?

  /// Begins the log of a store, after the newest commit of a snapshot.
  ///
  /// - Parameters:
  ///   - snapshot: The published snapshot that the log begins with.
  ///   - entries: The commits made after the snapshot while it was being published, each following
  ///     the previous one. They are added atomically with the log.
  /// - Returns: Whether the log begins with the snapshot, including as the result of an earlier
  ///   call; `false` if another log already exists, which is not changed. A log whose first entry
  ///   has been trimmed may also return `false`.
  func begin(with snapshot: CommitLogSnapshot, then entries: [CommitLogEntry]) throws(ArborError)
    -> Bool

  /// Appends an entry if its predecessor is the newest entry.
  ///
  /// Appending an entry that is already in the log changes nothing and returns
  /// ``AppendResult/written``, even if others follow it.
  func append(_ entry: CommitLogEntry) throws(ArborError) -> AppendResult

  /// Returns the entries after a sequence, oldest first.
  ///
  /// - Parameters:
  ///   - sequence: The sequence of an entry's last commit. Removed entries are missing from the
  ///     result, in which case the first entry has a different predecessor.
  ///   - limit: The maximum number of entries, at least 1. Fewer may be returned, but none only if
  ///     no more exist.
  func entries(after sequence: UInt64, limit: Int) throws(ArborError) -> [CommitLogEntry]

  /// Reserves numbers of a counter, which are never returned again.
  ///
  /// - Parameters:
  ///   - counter: The name of the counter, which is created by its first use.
  ///   - count: The number of values, at least 1.
  ///   - least: The smallest value that may be returned.
  /// - Returns: `count` consecutive numbers.
  func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(ArborError) -> Range<UInt64>

  /// Returns the first number of each counter that has not been reserved yet, by the counter's name.
  func counters() throws(ArborError) -> [String: UInt64]

  /// Publishes a snapshot from which new copies can be created.
  ///
  /// It becomes valid once the log begins with it, or contains an entry with the snapshot's
  /// sequence as its last commit and the same digest. An invalid snapshot is ignored. A snapshot
  /// can be published before the log has been begun.
  ///
  /// - Parameters:
  ///   - snapshot: The description of the file's contents.
  ///   - file: The file, which is only read.
  func publish(_ snapshot: CommitLogSnapshot, in file: URL) throws(ArborError)

  /// Returns the newest valid snapshot, or `nil` if the log has none.
  func newestSnapshot() throws(ArborError) -> CommitLogSnapshot?

  /// Writes a snapshot to a file.
  ///
  /// - Parameters:
  ///   - snapshot: A snapshot returned by ``newestSnapshot()``.
  ///   - file: The URL of the file, which must not exist. It may be left behind if an error is
  ///     thrown.
  func fetch(_ snapshot: CommitLogSnapshot, to file: URL) throws(ArborError)

  /// Removes entries and snapshots that are needed neither to create a copy from the newest
  /// snapshot nor to continue after a sequence.
  ///
  /// These are entries up to that sequence, snapshots before the newest valid one, and invalid
  /// snapshots.
  ///
  /// - Parameter sequence: The sequence after which all entries are kept. Entries after the newest
  ///   snapshot are kept as well.
  func trim(through sequence: UInt64) throws(ArborError)

  /// Returns a stream that yields a value whenever the log may have new entries, or `nil` if the
  /// log cannot detect that. Copies also poll the log.
  ///
  /// - Returns: A stream that ends when it is no longer iterated, or when the log is released.
  func news() -> AsyncStream<Void>?

  /// Waits until the log's own threads have finished their work for closed stores.
  ///
  /// Called when a store is closed, so that no thread of the log is still running library code when
  /// the process exits. Must return within the log's timeouts.
  func waitUntilIdle()
}

extension CommitLog {
  /// The default time, which is ten seconds.
  public var waitLimit: Duration { .seconds(10) }

  /// Returns `nil`, so that copies rely on polling the log.
  public func news() -> AsyncStream<Void>? { nil }

  /// Returns immediately, for logs without threads of their own.
  public func waitUntilIdle() {}
}

/// An entry that a copy of a store appends to the shared log: a group of commits, or a change of
/// the model.
///
/// A log stores entries verbatim and does not interpret them.
public struct CommitLogEntry: Sendable, Hashable {
  /// A unique identifier, by which a store can find out whether an unacknowledged entry was
  /// appended.
  public let batch: UUID
  /// The sequence of the entry's first commit.
  public let first: UInt64
  /// The sequence of the entry's last commit, at least ``first``.
  public let last: UInt64
  /// The digest of the history before this entry: the ``digest`` of the previous entry.
  public let previous: CommitLogDigest
  /// The digest of the history up to and including this entry.
  public let digest: CommitLogDigest
  /// The contents, including checksums.
  public let body: [UInt8]

  /// Creates an entry from the values that a log has stored.
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

/// The result of appending an entry to a log.
public enum AppendResult: Sendable, Hashable {
  /// The entry is in the log, and every copy of the store will receive it.
  case written
  /// Other entries were appended first. Contains at least one entry after the expected predecessor,
  /// oldest first, but not necessarily all.
  case behind([CommitLogEntry])
  /// The entry's predecessor is not in the log: the log has lost its end, or has a different
  /// history.
  case forked
  /// The response was lost and the outcome is unknown. Appending the same entry again determines
  /// it.
  case unknown
}

/// The newest position of a log.
public struct CommitLogHead: Sendable, Hashable {
  /// The identity of the store that the log belongs to.
  public let store: UUID
  /// The sequence of the newest commit.
  public let sequence: UInt64
  /// The digest of the history up to that commit.
  public let digest: CommitLogDigest

  /// Creates a position.
  public init(store: UUID, sequence: UInt64, digest: CommitLogDigest) {
    self.store = store
    self.sequence = sequence
    self.digest = digest
  }
}

/// The description of a snapshot of a store: a complete file from which new copies are created.
public struct CommitLogSnapshot: Sendable, Hashable {
  /// A unique identifier.
  public let id: UUID
  /// The identity of the store.
  public let store: UUID
  /// The sequence of the newest commit in the snapshot.
  public let sequence: UInt64
  /// The digest of the history up to that commit.
  public let digest: CommitLogDigest

  /// Creates a description.
  public init(id: UUID, store: UUID, sequence: UInt64, digest: CommitLogDigest) {
    self.id = id
    self.store = store
    self.sequence = sequence
    self.digest = digest
  }
}

/// A digest of a history of commits. Different histories have different digests.
///
/// It protects against accidents, such as a server that has lost its newest entries, but not
/// against forgery.
public struct CommitLogDigest: Sendable, Hashable {
  /// The size of a digest in bytes.
  public static let size = 16

  package let bits: UInt128

  package init(bits: UInt128) { self.bits = bits }

  /// Creates a digest from its ``bytes``.
  ///
  /// - Returns: `nil` unless there are exactly ``size`` bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.size else { return nil }
    bits = bytes.reversed().reduce(0) { $0 << 8 | UInt128($1) }
  }

  /// The digest as ``size`` bytes, in little-endian order.
  public var bytes: [UInt8] { (0..<Self.size).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) } }
}
