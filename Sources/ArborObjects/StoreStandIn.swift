internal import ArborModel
internal import ArborStore

extension StoreSnapshot {
  func fetch(
    _ query: StoreQuery, overlay: FetchOverlay?, allocator: SlabAllocator
  ) throws(StoreError) -> FetchedRecords { throw .closed }
  func count(_ query: StoreQuery, overlay: FetchOverlay?) throws(StoreError) -> Int {
    throw .closed
  }
  func explain(_ query: StoreQuery) throws(StoreError) -> QueryPlan { throw .closed }
}
