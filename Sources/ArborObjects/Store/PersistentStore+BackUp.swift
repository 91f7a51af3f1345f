public import ArborFoundation
public import ArborLog
public import ArborModel
internal import ArborStore

extension PersistentStore {
  /// The result of a backup.
  public struct BackUp: Sendable, Hashable {
    /// A Boolean value that indicates whether a snapshot was created: for the first backup, if
    /// requested, and whenever commits could not be appended.
    public let isSnapshot: Bool
    /// The number of commits that were added.
    public let commits: Int
    /// The sequence of the newest commit in the log.
    public let sequence: UInt64
  }

  /// Brings a backup log up to date with the store.
  ///
  /// The first backup writes a snapshot. From then on the store retains commits for the log,
  /// whichever process makes them, and each further backup appends the new ones.
  /// ``restore(from:to:at:)`` restores the state after any of them. The store can be read and
  /// written during a backup, in this process and others.
  ///
  /// ```swift
  /// let log = FolderLog(URL(filePath: "/var/backups/staff"))
  /// for await _ in store.changes { try store.backUp(to: log) }
  /// ```
  ///
  /// A new snapshot is written if commits cannot be appended: after the store was restored to an
  /// earlier point, and if the end of the log is missing or its newest snapshot is damaged.
  ///
  /// A change of the model in place is a commit. It is appended like the commits before and after
  /// it, all of which remain restorable, and a snapshot follows, with which followers continue. A
  /// migration in a copy has no intermediate states to restore: commits before it are appended, and
  /// a snapshot contains its result.
  ///
  /// Unique IDs and object numbers that were reserved before the backup are recorded, even if no
  /// commit used them. If the store shares a log, this includes those of other machines, provided
  /// that the log can be reached.
  ///
  /// A crash or power loss at any time leaves the log intact. Anything that is missing is added by
  /// the next backup.
  ///
  /// - Parameters:
  ///   - log: The log. A log belongs to one store; a store can have several logs.
  ///   - snapshot: Whether to always write a snapshot. Restoring has to replay the commits
  ///     after a snapshot, and `FolderLog.removeHistory(before:)` removes everything before one.
  /// - Throws: ``ArborError`` `inUse` if another process or thread is writing to the log;
  ///   `invalidArgument` if it belongs to another store; `fileUnreadable` if the folder contains
  ///   other files; `diskFull`, `inputOutput`, `corrupted`, `formatTooNew`, `readOnly`,
  ///   `migrationUnderWay`, `closed`. The log is then unchanged or partially updated.
  /// - Complexity: Linear in the amount of data that is added. At most one commit is in memory at a
  ///   time.
  @discardableResult
  public func backUp(to log: FolderLog, snapshot: Bool = false) throws(ArborError) -> BackUp {
    try requireOpen()
    if case .shared(let client, _)? = link, !engine.isReadOnly {
      do throws(ArborError) { try logging { try client.raiseCounters(of: engine) } } catch {
        // A backup must be possible when the server isn't reachable.
        guard error.code == .logUnavailable else { throw error }
      }
    }
    let added = try logging { try log.backUp(engine, snapshot: snapshot) }
    return BackUp(isSnapshot: added.isSnapshot, commits: added.commits, sequence: added.sequence)
  }

  /// Stops retaining commits for a log. The log itself isn't changed.
  ///
  /// The store's file holds each commit until every log has received it, so it grows if a log is
  /// never backed up to again. If the log itself no longer exists, use ``endBackUps()`` to stop for
  /// all logs.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable` if the folder contains no log, and the errors of a
  ///   commit.
  public func endBackUp(to log: FolderLog) throws(ArborError) {
    try requireOpen()
    try logging { try engine.removeLogReader(try log.id) }
  }

  /// Stops retaining commits for any log.
  ///
  /// - Throws: The same errors as a commit.
  public func endBackUps() throws(ArborError) {
    try requireOpen()
    try logging {
      for id in try engine.logReaders().sequences.keys { try engine.removeLogReader(id) }
    }
  }

  /// Creates a store from a log, in its state at a point in time.
  ///
  /// The new store has the identity of the log's store, so object IDs refer to the same objects.
  /// Object numbers and unique IDs known to the log are not reused. The new store doesn't retain
  /// commits for the log; its first backup writes a snapshot.
  ///
  /// ```swift
  /// try PersistentStore.restore(from: log, to: url)                     // the newest state
  /// try PersistentStore.restore(from: log, to: url, at: .sequence(4711))
  /// ```
  ///
  /// - Parameters:
  ///   - log: The log. It is only read.
  ///   - url: The file to create, in an existing folder. Existing files are never overwritten.
  ///   - point: The state to restore. A date selects the last commit at or before it, according to
  ///     the clocks of the committing machines.
  /// - Returns: The sequence of the newest commit in the store.
  /// - Throws: ``ArborError`` `fileUnreadable` if there is no log; `objectNotFound` if the log
  ///   doesn't contain the point or has a gap before it; `corrupted` with the name of the damaged
  ///   file; `invalidArgument` if clocks were set back around the date; `inputOutput` if the URL
  ///   already exists; `diskFull`, `cancelled`. No file is created in that case.
  /// - Complexity: Linear in the size of the snapshot and of the commits after it up to the point;
  ///   for a date, in all commits of the log. Uses a few megabytes of memory in addition to the new
  ///   file's pages.
  @discardableResult
  public static func restore(
    from log: FolderLog, to url: URL, at point: RestorePoint = .newest
  ) throws(ArborError) -> UInt64 {
    let path = try StoreLocation.path(of: url)
    return try logging(nil) { try log.restore(to: path, at: point) }
  }

  func logging<R>(_ body: () throws -> R) throws(ArborError) -> R { try Self.logging(engine, body) }

  /// Runs a closure, and converts the errors of a log or a store that it throws.
  static func logging<R>(_ engine: StoreEngine?, _ body: () throws -> R) throws(ArborError) -> R {
    do { return try body() } catch let error as ArborError {
      throw error
    } catch let error as StoreError {
      throw engine.map { ArborError(error, in: $0) } ?? ArborError(opening: error)
    } catch {
      throw ArborError(.inputOutput, "\(error)")
    }
  }
}
