public import ArborModel
internal import ArborStore

extension PersistentStore {
  /// Returns how the space in the store's file is used: bytes by kind and by database, free pages,
  /// pages pinned by readers, and the space that ``compact()`` would free.
  ///
  /// - Throws: ``ArborError`` `closed`, `modelChanged`, `inputOutput`.
  /// - Complexity: Linear in the number of entities, indexes and relationships, for each of which
  ///   up to 4096 pages are examined, and in the list of free pages.
  public func spaceUsage() throws(ArborError) -> StoreSpace {
    try whileOpen(engine.space(longReadersPinning: longReaders?.limit))
  }

  /// Returns the snapshots held by all processes, including this one, oldest state first. Snapshots
  /// of processes that have died are removed.
  ///
  /// - Throws: ``ArborError`` `closed`, `inputOutput`.
  /// - Complexity: Linear in the number of readers, and in the list of free pages if one of them
  ///   reads an earlier state.
  public func readers() throws(ArborError) -> [StoreReader] { try whileOpen(engine.readers()) }

  /// Removes the snapshots of processes that have died, so that commits can reuse the pages they
  /// pinned.
  ///
  /// Opening the store does this, too, and so do ``readers()`` and ``spaceUsage()``. A server that
  /// runs for months alongside processes that may be killed should call it from time to time.
  ///
  /// - Returns: The number of removed snapshots.
  /// - Throws: ``ArborError`` `closed`, `inputOutput`.
  /// - Complexity: Linear in the number of readers.
  @discardableResult
  public func clearStaleReaders() throws(ArborError) -> Int {
    try whileOpen(engine.clearStaleReaders())
  }
}
