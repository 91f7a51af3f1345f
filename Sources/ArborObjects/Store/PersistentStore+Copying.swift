public import ArborModel
internal import ArborStore
public import Foundation

extension PersistentStore {
  /// Writes a copy of the newest commit into a new file, whole or not at all.
  ///
  /// The copy is one state of the store, whatever is committed meanwhile: reading and writing go
  /// on, in this process and others. It has the store's ``id``, so IDs of objects lead to the same
  /// objects in both. A store in memory can be copied into a file as well.
  ///
  /// ```swift
  /// try store.copy(to: backups.appending(path: "Staff-\(day).arbor"), compacting: true)
  /// ```
  ///
  /// - Parameters:
  ///   - url: The file to be made, whose folder has to exist. Nothing is ever written over.
  ///   - compacting: Leaves free pages out and orders the others: a smaller file, in more time.
  ///     Every page is verified before; without it, damaged pages are copied as they are.
  /// - Complexity: Linear in the size of the file, or of what it holds if compacting. While it
  ///   runs, pages that commits replace are not used again, as with any long read.
  /// - Throws: ``ArborError`` `inputOutput` where something is at the URL already, or the folder is
  ///   missing; `corrupted` where a compacting copy meets a damaged page; `diskFull`;
  ///   `invalidArgument` for a URL that names no file; `closed`. Nothing is left at the URL then.
  public func copy(to url: URL, compacting: Bool = false) throws(ArborError) {
    try requireOpen()
    let path = try StoreLocation.path(of: url)
    try engine.reporting(engine.copy(to: path, compacting: compacting, keepsMarker: false))
  }

  /// Gives the space that the file does not need back to the file system.
  ///
  /// While it is open a file never shrinks by itself: later commits use the pages of what was
  /// deleted. After a large deletion, a migration that dropped something or a run of large commits,
  /// this puts a compacted copy in the file's place; ``spaceUsage()`` tells beforehand what it would give
  /// back. Files of some size do so when they are closed, see
  /// ``StoreOptions/compactsWhenClosed``.
  ///
  /// Only one process may have the store open. In it everything stays valid, here and in other
  /// openings of the file: contexts, objects with their pending changes, results and those who
  /// follow ``changes`` go on, for no object changes. Reading goes on until the copy is complete;
  /// commits wait, also those of other threads.
  ///
  /// A kill or a loss of power at any moment leaves the former file or the new one, whole. A store
  /// in memory has nothing to give back.
  ///
  /// - Complexity: Linear in what the store holds; needs as much room on the disk meanwhile.
  /// - Throws: ``ArborError`` `inUse` where another process has the file open, or where a read does
  ///   not end, such as a snapshot that this thread holds or a `withSnapshot` of another one that
  ///   takes more than a minute; `corrupted` where a page is damaged; `diskFull`, `readOnly`,
  ///   `modelChanged`, `migrationUnderWay`, `closed`. The file is as it was then.
  public func compact() throws(ArborError) { try whileOpen(engine.compact()) }
}
