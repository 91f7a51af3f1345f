public import ArborLog
public import ArborModel
internal import ArborStore
public import Foundation

extension PersistentStore {
  /// What a backup added to its log.
  public struct BackUp: Sendable, Hashable {
    /// Whether a snapshot was made: the first time, and where commits could not be added.
    public let isSnapshot: Bool
    /// How many commits were added.
    public let commits: Int
    /// The newest commit that the log has now.
    public let sequence: UInt64
  }

  /// Adds to a log what it does not have of the store.
  ///
  /// The first time that is a snapshot; the store keeps its commits for the log from then on,
  /// whichever process makes them, and each further backup adds those of them that are new.
  /// ``restore(from:to:at:)`` brings back the state behind any of them. Reading and writing go on
  /// meanwhile, in this process and others.
  ///
  /// ```swift
  /// let log = FolderLog(URL(filePath: "/var/backups/staff"))
  /// for await _ in store.changes { try store.backUp(to: log) }
  /// ```
  ///
  /// A snapshot is made anew where commits cannot be added: after a change of the model, after the
  /// store was restored to an earlier point or written to by a version of the library that knows no
  /// logs, and where the log has lost its end or its newest snapshot is damaged. What was committed
  /// between the last backup and a change of the model is added first and stays restorable; a
  /// migration with code has no states to restore in it.
  ///
  /// A kill or a loss of power at any moment leaves a sound log; what was not added is added the
  /// next time.
  ///
  /// - Parameters:
  ///   - log: Where to. A log is of one store; a store can have several logs.
  ///   - snapshot: Whether to make a snapshot in any case: restoring takes the time of the commits
  ///     behind one, and `FolderLog.removeHistory(before:)` removes what is before one.
  /// - Complexity: Linear in what is added. At most one commit is in memory at a time.
  /// - Throws: ``ArborError`` `inUse` where somebody else writes to the log; `invalidArgument`
  ///   where it is of another store; `fileUnreadable` where the folder has other files; `diskFull`,
  ///   `inputOutput`, `corrupted`, `formatTooNew`, `readOnly`, `migrationUnderWay`, `closed`. The
  ///   log is as it was then, or has part of what it lacked.
  @discardableResult
  public func backUp(to log: FolderLog, snapshot: Bool = false) throws(ArborError) -> BackUp {
    try requireOpen()
    let added = try logging { try log.backUp(engine, snapshot: snapshot) }
    return BackUp(isSnapshot: added.isSnapshot, commits: added.commits, sequence: added.sequence)
  }

  /// Keeps commits for a log no more, which stays as it is.
  ///
  /// The store's file holds each commit until every log has it: one that is never backed up to
  /// again makes the file grow. Where the log itself is gone, ``endBackUps()`` ends all of them.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable` where there is no log in the folder, and as a commit
  ///   does.
  public func endBackUp(to log: FolderLog) throws(ArborError) {
    try requireOpen()
    try logging { try engine.removeLogReader(try log.id) }
  }

  /// Keeps commits for no log any more.
  ///
  /// - Throws: ``ArborError`` as a commit does.
  public func endBackUps() throws(ArborError) {
    try requireOpen()
    try logging {
      for id in try engine.logReaders().sequences.keys { try engine.removeLogReader(id) }
    }
  }

  /// Makes a store from a log, as it was at a point in time.
  ///
  /// The new store has the identity of the one that the log is of, so IDs of objects lead to the
  /// same objects; numbers and unique IDs that the log knows of are not given out again. It keeps
  /// no commits for the log: the first backup of it makes a snapshot.
  ///
  /// ```swift
  /// try PersistentStore.restore(from: log, to: url)                     // the newest state
  /// try PersistentStore.restore(from: log, to: url, at: .sequence(4711))
  /// ```
  ///
  /// - Parameters:
  ///   - log: Where from; it is only read.
  ///   - url: The file to be made, whose folder has to exist. Nothing is ever written over.
  ///   - point: Which state. The one of a date is that behind the last commit at or before it, by
  ///     the clocks of those who committed.
  /// - Returns: The sequence of the newest commit in the store.
  /// - Complexity: Linear in the snapshot and in the commits behind it up to the point, for a date
  ///   in all commits of the log; some megabytes of memory beside the new file's pages.
  /// - Throws: ``ArborError`` `fileUnreadable` where there is no log; `objectNotFound` where it
  ///   does not reach to the point or has a gap there; `corrupted`, naming the file;
  ///   `invalidArgument` where clocks went back around the date; `inputOutput` where something is
  ///   at the URL; `diskFull`, `cancelled`. Nothing is left at the URL then.
  @discardableResult
  public static func restore(
    from log: FolderLog, to url: URL, at point: RestorePoint = .newest
  ) throws(ArborError) -> UInt64 {
    let path = try StoreLocation.path(of: url)
    return try logging(nil) { try log.restore(to: path, at: point) }
  }

  func logging<R>(_ body: () throws -> R) throws(ArborError) -> R { try Self.logging(engine, body) }

  /// Runs what may throw errors of a log and of a store.
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
