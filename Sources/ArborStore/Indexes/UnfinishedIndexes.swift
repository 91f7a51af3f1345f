internal import ArborModel
internal import LMDB

/// Which of a store's indexes are not ready to be read in one state of the file.
///
/// A snapshot of a file without such indexes has none of this.
package final class UnfinishedIndexes: Sendable {
  package let list: IndexBuildList
  /// By the numbers of indexes throughout the store; nil for those that are ready.
  private let builds: [IndexBuildList.Build?]

  private init(_ list: IndexBuildList, _ schema: ModelSchema, _ databases: StoreDatabases) {
    self.list = list
    builds = databases.indexes.map { list.build(of: schema.catalogNumber(of: $0.schema)) }
  }

  /// - Returns: nil where the header says that every index is ready.
  /// - Throws: `corrupted` where the list is damaged or missing.
  static func read(
    _ header: HeaderRecord, _ reader: TransactionReader, _ schema: ModelSchema,
    _ databases: StoreDatabases
  ) throws(StoreError) -> UnfinishedIndexes? {
    guard header.hasIndexBuilds else { return nil }
    return UnfinishedIndexes(
      try IndexBuildList.read(header, reader, databases.arbor), schema, databases)
  }

  /// What is known of an index by its number throughout the store; nil where it is ready.
  subscript(indexNumber: Int) -> IndexBuildList.Build? { builds[indexNumber] }

  func isReady(_ indexNumber: Int) -> Bool { builds[indexNumber] == nil }
}

extension StoreEngine {
  /// The indexes that are not ready to be read; empty where all are.
  package func indexBuilds() throws(StoreError) -> [IndexBuildStatus] {
    let snapshot = try snapshot()
    defer { snapshot.close() }
    return try snapshot.indexBuilds()
  }

  /// What ended the building behind the store before its work was done; nil where nothing did.
  package var indexBuildFailure: StoreError? { indexBuilding.failure }

  /// Waits for the building behind the store, if it goes on.
  package func waitForIndexBuilds() { indexBuilding.waitForEnd() }

  /// Does what the options ask about indexes that are not ready.
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
