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
