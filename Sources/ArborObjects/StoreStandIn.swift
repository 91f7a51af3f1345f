internal import ArborModel
internal import ArborStore

struct StoreCheckReport {
  struct Problem {
    let entity: String?
    let object: ObjectNumber?
    let description: String
  }
  var problems: [Problem] = []
  var isSound: Bool { problems.isEmpty }
}
extension StoreFile {
  func check() throws(StoreError) -> StoreCheckReport { StoreCheckReport() }
}
extension StoreSnapshot {
  func fetch(
    _ query: StoreQuery, overlay: FetchOverlay?, allocator: SlabAllocator
  ) throws(StoreError) -> FetchedRecords { throw .closed }
  func count(_ query: StoreQuery, overlay: FetchOverlay?) throws(StoreError) -> Int {
    throw .closed
  }
  func explain(_ query: StoreQuery) throws(StoreError) -> QueryPlan { throw .closed }
}
