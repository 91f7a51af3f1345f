internal import ArborModel
internal import LMDB

extension SalvageTarget {
  /// Hands on the records of an entity in their newest layout, a batch at a time: nothing is held
  /// open between two batches, so that what `batch` does can write.
  func forEachRecord(
    of plan: EntityPlan, _ body: (ObjectNumber, RecordView) throws(StoreError) -> Void,
    batch: () throws(StoreError) -> Void
  ) throws(StoreError) {
    var next: UInt64? = 0
    while let start = next {
      try limit.checkStoreNow()
      next = try read { (reader) throws(StoreError) in
        let cursor = try storing { () throws(LMDBError) in try reader.cursor(plan.records) }
        var entry = try storing { () throws(LMDBError) in try cursor.seek(start) }
        let allocator = SlabAllocator(slabSize: 4 << 10)
        var count = 0
        while let found = entry {
          if count == Self.mostChanges { return found.integerKey }
          let number = ObjectNumber(rawValue: found.integerKey)
          let record = try layouts.verified(
            found.value, of: number, entity: plan.entity, allocator: allocator)
          try body(number, record)
          count += 1
          entry = try storing { () throws(LMDBError) in try cursor.next() }
        }
        return nil
      }
      try batch()
    }
  }
}
