public import ArborFoundation
public import ArborModel
internal import ArborStore

/// A log of one store in a folder: snapshots, and every commit after them.
///
/// Used for incremental backups and point-in-time recovery. The folder may be on any file system:
/// files are created atomically and never changed, so that the folder can be copied, synchronized
/// or mounted at any time. One process at a time writes to it; any number may read.
///
/// ```swift
/// let log = FolderLog(URL(filePath: "/var/backups/staff"))
/// try store.backUp(to: log)                                     // repeat regularly
/// try PersistentStore.restore(from: log, to: url, at: .date(yesterday))
/// ```
public struct FolderLog: Sendable, Hashable {
  /// The URL of the folder.
  public let url: URL

  /// Creates a reference to a log without accessing it.
  ///
  /// - Parameter url: The file URL of a folder. `backUp(to:)` creates it if it doesn't exist; its
  ///   parent must exist.
  public init(_ url: URL) { self.url = url }

  /// The contents of a log.
  public struct Contents: Sendable, Hashable {
    /// The identity of the store.
    public let storeID: UUID
    /// The snapshots, oldest first. Each is followed by the commits made after it.
    public let snapshots: [Snapshot]
    /// The sequence of the newest commit, or `nil` if the log has no snapshot.
    public let newest: UInt64?
  }

  /// A snapshot in a log.
  public struct Snapshot: Sendable, Hashable {
    /// The sequence of the newest commit in the snapshot.
    public let sequence: UInt64
    /// The date at which the snapshot was started.
    public let date: Date
    /// The date of the newest commit in the snapshot, which is the earliest date that can be
    /// restored from it.
    public let commitDate: Date
    /// The size of the snapshot in bytes.
    public let bytes: UInt64
    /// The sequence of the newest commit that can be restored from the snapshot and the commits
    /// after it.
    public let lastSequence: UInt64
    /// The size of the commits after the snapshot, in bytes.
    public let commitBytes: UInt64
  }

  /// Returns the contents of the log, as determined from the names and sizes of its files.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable` if there is no log, `corrupted`, `inputOutput`.
  /// - Complexity: Linear in the number of files.
  public func contents() throws(ArborError) -> Contents {
    try readContents { (base, segments) in segments.last?.last ?? base.manifest.sequence }
  }

  /// - Parameter last: A closure that returns the sequence of the newest commit after a snapshot.
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

  /// Reads the entire log and verifies all checksums. Restores nothing.
  ///
  /// - Returns: The contents of the log. Its last segment may be truncated, in which case only the
  ///   complete commits in it count. Commits missing before a later snapshot are an error.
  /// - Throws: ``ArborError`` `corrupted`, which names the file; `fileUnreadable` if there is no
  ///   log; `inputOutput`; `cancelled`.
  /// - Complexity: Linear in the log's size. At most one commit is in memory at a time.
  @discardableResult
  public func verify() throws(ArborError) -> Contents {
    // Problems visible in names and sizes are found before anything is read.
    _ = try contents()
    _ = try recordedCounters(of: try existing().identity)
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

  /// Removes the snapshots and commits that are needed only for points in time before a date.
  ///
  /// A snapshot and the commits after it are removed if the newest commit in the next snapshot is
  /// from before the date, so that every later point can still be restored. The newest snapshot is
  /// always kept. To remove more, create a snapshot with `backUp(to:snapshot:)` first. Damaged
  /// snapshots before one that is kept are removed as well.
  ///
  /// - Throws: ``ArborError`` `inUse` if another process writes to the log, `fileUnreadable` if
  ///   there is no log, `corrupted`, `inputOutput`.
  public func removeHistory(before date: Date) throws(ArborError) {
    let (path, identity) = try existing()
    do {
      try FolderLease.hold(path) {
        try LogFiles.removeUnfinished(in: path)
        for folder in try foldersNeeded(onlyBefore: date, of: identity) {
          // Renamed first, so that a crash during the removal leaves no partial snapshot.
          let doomed = LogFiles.unfinishedName(folder)
          try LogFiles.rename(folder, to: doomed)
          try LogFiles.removeFolder(doomed)
        }
      }
    } catch {
      throw error as? ArborError ?? LogFiles.error("Removal", path)
    }
  }

  /// Returns the folders of the snapshots before the last one that begins at or before a date.
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
  /// - Throws: ``ArborError`` `invalidArgument` for a URL that is not a file URL.
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

  /// Returns the identity of the log in a folder, or `nil` if the folder is missing or empty.
  func identity(_ path: String) throws(ArborError) -> LogIdentity? {
    let file = "\(path)/\(LogIdentity.fileName)"
    if let bytes = try LogFiles.contents(file) { return try LogIdentity(bytes, path: file) }
    let names = try LogFiles.names(in: path) ?? []
    // Files left by a writer that died before it completed the first file.
    guard names.allSatisfy({ LogFiles.isUnfinished($0) || $0 == "writer" }) else {
      throw ArborError(
        .fileUnreadable,
        "\(path) is not a log folder: it contains files, but not \(LogIdentity.fileName). Use an "
          + "empty folder.")
    }
    return nil
  }

  /// Returns the snapshots, oldest first. A damaged snapshot is represented by its error.
  ///
  /// - Parameter first: The number of the first snapshot to return.
  /// - Throws: ``ArborError`` `inputOutput`, because a snapshot that can't be read at the moment
  ///   isn't necessarily damaged.
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

  /// Returns the numbers of the snapshots, oldest first.
  func baseNumbers() throws(ArborError) -> [UInt32] {
    (try LogFiles.names(in: try path) ?? []).compactMap(LogBase.number(ofName:))
  }

  /// The identity of the log, under which stores keep commits for it.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable` if there is no log.
  package var id: UUID { get throws(ArborError) { try existing().identity.log } }
}
