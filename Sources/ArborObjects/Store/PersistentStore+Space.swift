public import ArborModel
internal import ArborStore

extension PersistentStore {
  /// What the store's file is made of: bytes by kind and by database, free pages, those that
  /// readers keep from being used, and what ``compact()`` would give back.
  ///
  /// - Complexity: Linear in the number of entities, indexes and relationships, of each of which up
  ///   to 4096 pages are looked at, and in the list of free pages.
  /// - Throws: ``ArborError`` `closed`, `modelChanged`, `inputOutput`.
  public func spaceUsage() throws(ArborError) -> StoreSpace {
    try whileOpen(engine.space(longReadersPinning: longReaders?.limit))
  }

  /// The snapshots that processes hold of the store, this one included, those that see the oldest
  /// state first. Snapshots of processes that died are ended.
  ///
  /// - Complexity: Linear in the number of readers, and in the list of free pages where one of them
  ///   reads an earlier state.
  /// - Throws: ``ArborError`` `closed`, `inputOutput`.
  public func readers() throws(ArborError) -> [StoreReader] { try whileOpen(engine.readers()) }

  /// Ends the snapshots that processes held which died, so that commits use the pages again which
  /// these pinned.
  ///
  /// Opening the store does so too, and looking at ``readers()`` or ``spaceUsage()``: a server that runs for
  /// months beside others that may be killed calls this now and then.
  ///
  /// - Returns: How many there were.
  /// - Complexity: Linear in the number of readers.
  /// - Throws: ``ArborError`` `closed`, `inputOutput`.
  @discardableResult
  public func clearStaleReaders() throws(ArborError) -> Int {
    try whileOpen(engine.clearStaleReaders())
  }
}
