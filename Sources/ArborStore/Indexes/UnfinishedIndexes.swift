internal import ArborModel
internal import LMDB

/// The indexes of a store that are not ready for reading in one state of the file.
///
/// Snapshots of a file without such indexes have no instance.
package final class UnfinishedIndexes: Sendable {
  package let list: IndexBuildList
  /// The builds by store-wide index number. `nil` for indexes that are ready.
  private let builds: [IndexBuildList.Build?]

  private init(_ list: IndexBuildList, _ schema: ModelSchema, _ databases: StoreDatabases) {
    self.list = list
    builds = databases.indexes.map { list.build(of: schema.catalogNumber(of: $0.schema)) }
  }

  /// - Returns: `nil` if all indexes are ready according to the header.
  /// - Throws: `corrupted` if the list is damaged or missing.
  static func read(
    _ header: HeaderRecord, _ reader: TransactionReader, _ schema: ModelSchema,
    _ databases: StoreDatabases
  ) throws(StoreError) -> UnfinishedIndexes? {
    guard header.hasIndexBuilds else { return nil }
    return UnfinishedIndexes(
      try IndexBuildList.read(header, reader, databases.arbor), schema, databases)
  }

  /// The build of an index, given its store-wide number, or `nil` if it is ready.
  subscript(indexNumber: Int) -> IndexBuildList.Build? { builds[indexNumber] }

  func isReady(_ indexNumber: Int) -> Bool { builds[indexNumber] == nil }
}

extension StoreEngine {
  /// Returns the indexes that are not ready for reading.
  package func indexBuilds() throws(StoreError) -> [IndexBuildStatus] {
    let snapshot = try snapshot()
    defer { snapshot.close() }
    return try snapshot.indexBuilds()
  }

  /// The error that ended the background build before its work was done, or `nil`.
  package var indexBuildFailure: StoreError? { indexBuilding.failure }

  /// Waits for the background build, if it is running.
  package func waitForIndexBuilds() { indexBuilding.waitForEnd() }

  /// Builds unfinished indexes as requested by the options.
  func goOn(with opening: StoreOpening) throws(StoreError) {
    guard !isReadOnly, opening.indexBuilds != .left else { return }
    let snapshot = try snapshot()
    let isUnfinished = snapshot.unfinishedIndexes != nil
    snapshot.close()
    guard isUnfinished else { return }
    let largestBatch = opening.largestIndexBatch
    if opening.indexBuilds == .inBackground {
      return indexBuilding.begin(self, largestBatch: largestBatch)
    }
    try OnlineIndexBuilder(self, largestBatch: largestBatch).run(
      reportingTo: opening.onIndexProgress)
  }
}
