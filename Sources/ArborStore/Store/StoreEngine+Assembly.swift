extension StoreEngine {
  /// Makes the engine of an opened file, with what writes its commits and works behind it.
  convenience init(_ parts: consuming StoreParts) {
    let indexBuilding = BackgroundIndexBuild {
      (store, largestBatch, isStopped) throws(StoreError) in
      try OnlineIndexBuilder(store, largestBatch: largestBatch).run(isStopped: isStopped)
    }
    let scrubbing = BackgroundScrub { (store, report, pause) throws(StoreError) in
      try StoreScrub(store, .gentle, report, pause: pause).run(anew: false)
    }
    self.init(
      parts, queue: CommitQueue(CommitBatch()), indexBuilding: indexBuilding, scrubbing: scrubbing)
  }
}
