public import ArborModel
internal import ArborStore
public import Foundation

/// A log of one store in a folder: snapshots, and every commit behind them.
///
/// It is what incremental backups and restoring at a point in time stand on. The folder may lie on
/// any file system: files appear whole and are never changed, so that it can be copied,
/// synchronised or mounted as it is. One process writes to it at a time; any number read.
///
/// ```swift
/// let log = FolderLog(URL(filePath: "/var/backups/staff"))
/// try store.backUp(to: log)                                     // again and again
/// try PersistentStore.restore(from: log, to: url, at: .date(yesterday))
/// ```
public struct FolderLog: Sendable, Hashable {
  /// The folder.
  public let url: URL

  /// Names a log; nothing is looked at.
  ///
  /// - Parameter url: A file URL of a folder. `backUp(to:)` makes it where none exists; the one
  ///   that it lies in has to exist.
  public init(_ url: URL) { self.url = url }

  /// What a log holds of its store.
  public struct Contents: Sendable, Hashable {
    /// The identity of the store.
    public let storeID: UUID
    /// The snapshots, the oldest first. What was committed behind each follows it.
    public let snapshots: [Snapshot]
    /// The newest commit; nil in a log without a snapshot.
    public let newest: UInt64?
  }

  /// One snapshot of a log.
  public struct Snapshot: Sendable, Hashable {
    /// The newest commit in it.
    public let sequence: UInt64
    /// When it was begun.
    public let date: Date
    /// When the newest commit in it was made: the first date that it leads to.
    public let commitDate: Date
    /// Its size.
    public let bytes: UInt64
    /// The newest commit behind it, up to which it can be brought.
    public let lastSequence: UInt64
    /// The size of the commits behind it.
    public let commitBytes: UInt64
  }

  /// What the log holds, by the names and sizes of its files.
  ///
  /// - Complexity: Linear in the number of files.
  /// - Throws: ``ArborError`` `fileUnreadable` where there is no log, `corrupted`, `inputOutput`.
  public func contents() throws(ArborError) -> Contents {
    try readContents { (base, segments) in segments.last?.last ?? base.manifest.sequence }
  }

  /// - Parameter last: Gives the newest commit behind a snapshot.
  private func readContents(
    _ last: (LogBase, [LogSegment]) throws(ArborError) -> UInt64
  ) throws(ArborError) -> Contents {
    let (_, identity) = try existing()
    let snapshots = try bases(of: identity).map { (base) throws(ArborError) in
      let base = try base.get()
      let segments = try base.segments()
      var bytes: UInt64 = 0
      for segment in segments { bytes += try base.size(of: segment) }
      return Snapshot(
        sequence: base.manifest.sequence, date: base.manifest.date,
        commitDate: base.manifest.commitDate, bytes: base.manifest.size,
        lastSequence: try last(base, segments), commitBytes: bytes)
    }
    return Contents(
      storeID: identity.store, snapshots: snapshots, newest: snapshots.last?.lastSequence)
  }

  /// Reads the whole log and compares every byte with its checksums; restores nothing.
  ///
  /// - Returns: What the log holds. The log's last segment may have been cut off: it counts up to
  ///   its last whole commit. Commits that are missing before a later snapshot are an error.
  /// - Complexity: Linear in the log's size. At most one commit is in memory at a time.
  /// - Throws: ``ArborError`` `corrupted`, naming the file; `fileUnreadable` where there is no log;
  ///   `inputOutput`; `cancelled`.
  @discardableResult
  public func verify() throws(ArborError) -> Contents {
    // What names and sizes tell comes before anything is read.
    _ = try contents()
    var previous: (end: LogEnd, folder: String)?
    return try readContents { (base, _) throws(ArborError) in
      if let previous { try base.checkContinues(previous.end, in: previous.folder) }
      let limit = WorkLimit()
      try base.forEachBlock { (_) throws(ArborError) in try limit.checkLog() }
      let end = try base.forEachEntry(after: 0) { (_) throws(ArborError) in
        try limit.checkLog()
        return true
      }
      previous = (end, base.folder)
      return end.sequence
    }
  }

  /// Removes what is needed only for points in time before a date.
  ///
  /// Each snapshot but the newest goes, with the commits behind it, where the newest commit in the
  /// next snapshot is from before the date: every later point stays restorable. To let go
  /// more, make a snapshot with `backUp(to:snapshot:)` first. Damaged snapshots before one that
  /// stays go as well.
  ///
  /// - Throws: ``ArborError`` `inUse` where somebody writes to the log, `fileUnreadable` where
  ///   none exists, `corrupted`, `inputOutput`.
  public func removeHistory(before date: Date) throws(ArborError) {
    let (path, identity) = try existing()
    do {
      try FolderLease.hold(path) {
        try LogFiles.removeUnfinished(in: path)
        for folder in try foldersNeeded(onlyBefore: date, of: identity) {
          // Under another name first: a kill meanwhile leaves no half of a snapshot.
          let doomed = LogFiles.unfinishedName(folder)
          try LogFiles.rename(folder, to: doomed)
          try LogFiles.removeFolder(doomed)
        }
      }
    } catch {
      throw error as? ArborError ?? LogFiles.error("Removal", path)
    }
  }

  /// The folders of the snapshots before the last one that begins by a date.
  private func foldersNeeded(
    onlyBefore date: Date, of identity: LogIdentity
  ) throws(ArborError) -> [String] {
    let path = try path
    let numbers = try baseNumbers()
    var first = 0
    var end: DatedEnd?
    for (index, base) in try bases(of: identity).enumerated() {
      guard let base = try? base.get() else {
        end = nil
        continue
      }
      guard base.firstDate(after: end) <= date else { break }
      first = index
      end = try? base.datedEnd()
    }
    return numbers[..<first].map { LogBase.folder($0, in: path) }
  }

  /// The folder's path.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` for URLs of other things.
  var path: String {
    get throws(ArborError) {
      let path = url.path(percentEncoded: false)
      guard url.isFileURL, !path.isEmpty, !path.utf8.contains(0) else {
        throw ArborError(
          .invalidArgument,
          "\(url.absoluteString) is not a log folder. Use the file URL of a folder.")
      }
      return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
  }

  func existing() throws(ArborError) -> (path: String, identity: LogIdentity) {
    let path = try path
    guard let identity = try identity(path) else {
      throw ArborError(
        .fileUnreadable,
        "There is no log in \(path). Check the path, or create the log with a backup.")
    }
    return (path, identity)
  }

  /// Whose log is in a folder; nil where the folder is missing or empty.
  func identity(_ path: String) throws(ArborError) -> LogIdentity? {
    let file = "\(path)/\(LogIdentity.fileName)"
    if let bytes = try LogFiles.contents(file) { return try LogIdentity(bytes, path: file) }
    let names = try LogFiles.names(in: path) ?? []
    // What a writer that died before the first file was complete has left.
    guard names.allSatisfy({ LogFiles.isUnfinished($0) || $0 == "writer" }) else {
      throw ArborError(
        .fileUnreadable,
        "\(path) is not a log folder: it contains files, but not \(LogIdentity.fileName). Use an "
          + "empty folder.")
    }
    return nil
  }

  /// All snapshots, the oldest first, or the error that keeps one from being used.
  ///
  /// - Parameter first: The number of the first one.
  /// - Throws: ``ArborError`` `inputOutput`: one that can't be read now isn't damaged.
  func bases(
    of identity: LogIdentity, from first: UInt32 = 0
  ) throws(ArborError) -> [Result<LogBase, ArborError>] {
    let path = try path
    return try baseNumbers().filter { $0 >= first }.map { (number) throws(ArborError) in
      do throws(ArborError) { return .success(try LogBase(number, in: path, of: identity)) } catch {
        guard error.code == .corrupted else { throw error }
        return .failure(error)
      }
    }
  }

  /// The numbers of the snapshots, the oldest first.
  func baseNumbers() throws(ArborError) -> [UInt32] {
    (try LogFiles.names(in: try path) ?? []).compactMap(LogBase.number(ofName:))
  }

  /// The identity of the log, by which stores keep commits for it.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable` where there is no log.
  package var id: UUID { get throws(ArborError) { try existing().identity.log } }
}
