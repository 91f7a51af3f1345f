internal import ArborModel
internal import LMDB

/// A scan of all records of one entity, in the order of their numbers, each verified and in the
/// newest layout.
struct RecordScan {
  let entity: EntitySchema
  let records: Database
  let layouts: StoreLayouts

  /// - Parameter body: Gets a record, which is valid until it returns.
  /// - Throws: `corrupted` where a record is damaged, `interrupted` where the limit ends the scan,
  ///   what `body` throws.
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
      // Upgraded records fill slabs.
      if count.isMultiple(of: 1 << 10) { allocator = SlabAllocator(slabSize: 4 << 10) }
    }
  }
}

extension TransactionReader {
  /// Calls `body` with each entry of a database, in the order of its keys.
  ///
  /// - Parameter limit: What ends the scan; nil for nothing.
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
