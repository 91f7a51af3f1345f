import ArborModel
import ArborStore

/// The objects of a concrete entity in the order of their numbers, read in batches.
struct ObjectStream {
  private static let batch = 1000

  private let snapshot: StoreSnapshot
  private let entity: EntitySchema
  private var fetched: FetchedRecords?
  private var next = 0
  private var isAtEnd = false

  init(_ entity: EntitySchema, on snapshot: StoreSnapshot) {
    self.entity = entity
    self.snapshot = snapshot
  }

  /// Returns the next object with its record, or `nil` after the last one. The record is valid
  /// until the call after the next one.
  mutating func object() throws -> (number: ObjectNumber, record: RecordView)? {
    while true {
      if let fetched, next < fetched.rows.count {
        let row = fetched.rows[next]
        next += 1
        if let record = row.record { return (row.number, record) }
        continue
      }
      guard !isAtEnd else { return nil }
      let last = fetched?.rows.last?.number
      let found = try snapshot.fetch(
        StoreQuery(
          entity: entity, includesSubentities: false, limit: Self.batch,
          continuation: last.map { RowContinuation(values: [], number: $0) }),
        overlay: nil, allocator: SlabAllocator())
      isAtEnd = found.rows.count < Self.batch
      fetched = found
      next = 0
    }
  }
}
