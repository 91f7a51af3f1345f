internal import ArborModel
internal import LMDB

/// A scan over all records of one entity in the order of their numbers. Each record is verified and
/// converted to the newest layout.
struct RecordScan {
  let entity: EntitySchema
  let records: Database
  let layouts: StoreLayouts

  /// - Parameter body: Called with each record, which is valid until the call returns.
  /// - Throws: `corrupted` if a record is damaged, `interrupted` if the limit ends the scan, and
  ///   the errors of `body`.
  @inline(__always)
  func forEach(
    _ reader: TransactionReader, _ limit: WorkLimit,
    _ body: (ObjectNumber, RecordView) throws(StoreError) -> Void
  ) throws(StoreError) {
    var allocator = SlabAllocator(slabSize: 4 << 10)
    var count = 0
    try reader.forEachEntry(of: records, limit) { (found) throws(StoreError) in
      let number = ObjectNumber(rawValue: found.integerKey)
      let record = try layouts.verified(
        found.value, of: number, entity: entity, allocator: allocator)
      try body(number, record)
      count += 1
      // Converted records accumulate in slabs.
      if count.isMultiple(of: 1 << 10) { allocator = SlabAllocator(slabSize: 4 << 10) }
    }
  }
}

extension TransactionReader {
  /// Calls `body` with each entry of a database in key order.
  ///
  /// - Parameter limit: The limit that ends the scan, or `nil` for none.
  @inline(__always)
  func forEachEntry(
    of database: Database, _ limit: WorkLimit?,
    _ body: (Entry) throws(StoreError) -> Void
  ) throws(StoreError) {
    let cursor = try storing(self.cursor(database))
    while let entry = try storing(cursor.next()) {
      try limit?.checkStore()
      try body(entry)
    }
  }
}
