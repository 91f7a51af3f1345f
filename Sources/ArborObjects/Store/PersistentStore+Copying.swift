public import ArborFoundation
public import ArborModel
internal import ArborStore

extension PersistentStore {
  /// Writes a copy of the store, in the state of the newest commit, to a new file, completely or
  /// not at all.
  ///
  /// The copy is a consistent snapshot. The store can be read and written in the meantime, in this
  /// process and others. The copy has the store's ``id``, so object IDs refer to the same objects
  /// in both. An in-memory store can be copied to a file as well.
  ///
  /// ```swift
  /// try store.copy(to: backups.appending(path: "Staff-\(day).arbor"), compacting: true)
  /// ```
  ///
  /// - Parameters:
  ///   - url: The file to create, in an existing folder. Existing files are never overwritten.
  ///   - compacting: Whether to omit free pages and write the others in order. The file is smaller,
  ///     but copying takes longer. Every page is verified first; otherwise, damaged pages are
  ///     copied as they are.
  /// - Throws: ``ArborError`` `inputOutput` if the URL already exists or the folder is missing;
  ///   `corrupted` if a compacting copy finds a damaged page; `diskFull`; `invalidArgument` if the
  ///   URL isn't a file URL; `closed`. No file is created in that case.
  /// - Complexity: Linear in the size of the file, or of its contents if compacting. While the copy
  ///   is written, pages replaced by commits are not reused, as with any long-running reader.
  public func copy(to url: URL, compacting: Bool = false) throws(ArborError) {
    try requireOpen()
    let path = try StoreLocation.path(of: url)
    try engine.reporting(engine.copy(to: path, compacting: compacting, keepsMarker: false))
  }

  /// Returns unused space in the file to the file system.
  ///
  /// An open file never shrinks by itself: later commits reuse the pages of deleted data. After a
  /// large deletion, a migration that removed data or a series of large commits, this method
  /// replaces the file with a compacted copy. ``spaceUsage()`` reports in advance how much space it
  /// would free. Files of a moderate size are compacted automatically when they are closed; see
  /// ``StoreOptions/compactsWhenClosed``.
  ///
  /// Only one process may have the store open. No object changes, so everything in this process
  /// remains valid: contexts, objects with their pending changes, results and observers of
  /// ``changes``. This includes other `PersistentStore` instances that have the file open. Reading
  /// can continue until the copy is complete. Commits wait, including those of other threads.
  ///
  /// A crash or power loss at any time leaves either the old or the new file intact. For an
  /// in-memory store, this method has no effect.
  ///
  /// - Throws: ``ArborError`` `inUse` if another process has the file open, or if a reader doesn't
  ///   finish, such as a snapshot held by this thread or a `withSnapshot` of another thread that
  ///   takes more than a minute; `corrupted` if a page is damaged; `diskFull`, `readOnly`,
  ///   `modelChanged`, `migrationUnderWay`, `closed`. The file is unchanged in that case.
  /// - Complexity: Linear in the size of the store's contents. Needs the same amount of disk space
  ///   temporarily.
  public func compact() throws(ArborError) { try whileOpen(engine.compact()) }
}
