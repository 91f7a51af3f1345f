internal import ArborModel
internal import ArborStore

extension Session {
  /// Returns the objects of fetched rows: registered objects, and new ones with the copied records.
  ///
  /// - Parameters:
  ///   - fetched: Receives the loaded objects whose `awakeFromFetch` is to be called.
  ///   - areNew: Whether none of the objects is registered.
  func materialise(
    _ records: FetchedRecords, on snapshot: StoreSnapshot, _ fetched: inout FetchedObjects,
    areNew: Bool = false
  ) throws(StoreError) -> [ManagedObject] {
    if areNew || registry.count == 0 {
      return try makeAll(records, &fetched)
    }
    var results: [ManagedObject] = []
    results.reserveCapacity(records.rows.count)
    var slab: RecordSlab?
    var slabIndex: Int32 = -1
    for row in records.rows {
      try limit.checkStore()
      var isFetched = false
      if row.slabIndex != slabIndex, row.slabIndex >= 0 {
        slabIndex = row.slabIndex
        slab = records.slabs[Int(slabIndex)]
      }
      let object = try object(of: row, slab, on: snapshot, &isFetched)
      if isFetched { fetched.append(object) }
      results.append(consume object)
    }
    return results
  }

  /// Creates the objects of fetched rows, none of which is registered.
  private func makeAll(
    _ records: FetchedRecords, _ fetched: inout FetchedObjects
  ) throws(StoreError) -> [ManagedObject] {
    let rows = records.rows
    if let lost = rows.first(where: { $0.slabIndex < 0 }) { throw Self.missingRecord(lost) }
    // Empty arrays share one buffer, which must not be initialized here.
    guard !rows.isEmpty else { return [] }
    registry.reserve(rows.count)
    let limit = limit
    var failure: StoreError?
    let made = [ManagedObject](unsafeUninitializedCapacity: rows.count) { results, count in
      guard let objects = results.baseAddress else { return }
      while count < rows.count, limit.interruption == nil {
        let first = rows[count]
        let run = rows[count...].prefix {
          $0.slabIndex == first.slabIndex && $0.number.entity == first.number.entity
        }
        let found: Unmanaged<EntityBinding>
        do throws(StoreError) { found = try binding(ofStored: first.number) } catch {
          failure = error
          return
        }
        found._withUnsafeGuaranteedRef { binding in
          let made = objects + count
          binding.makeObjects(in: self, run, records.slabs[Int(first.slabIndex)], made)
          fetched.append(UnsafeBufferPointer(start: made, count: run.count), of: binding)
        }
        count = run.endIndex
        _ = limit.admit(run.count)
      }
    }
    if let failure { throw failure }
    try limit.checkStore(0)
    return made
  }

  private static func missingRecord(_ row: FetchedRow) -> StoreError {
    .corrupted(
      entity: nil, object: row.number, what: "a fetch found an object without a record")
  }

  /// Returns the object of a row: the registered one, or a new one with the copied record.
  ///
  /// - Parameters:
  ///   - slab: The slab that contains the copy.
  ///   - isFetched: Set to `true` if the object was loaded.
  @inline(__always)
  func object(
    of row: FetchedRow, _ slab: RecordSlab?, on snapshot: StoreSnapshot, _ isFetched: inout Bool
  ) throws(StoreError) -> ManagedObject {
    if let present = registry.object(row.number) {
      if present.base == nil { isFetched = try fill(present, row, slab, on: snapshot) }
      return present
    }
    guard let record = row.record else { throw Self.missingRecord(row) }
    isFetched = true
    return try make(row.number, record, slab)
  }

  /// Loads a fault with the record found by a fetch. Returns whether there was one.
  @inline(never)
  private func fill(
    _ object: ManagedObject, _ row: FetchedRow, _ slab: RecordSlab?, on snapshot: StoreSnapshot
  ) throws(StoreError) -> Bool {
    if let record = row.record {
      object.hold(record, slab)
    } else if let record = try snapshot.record(row.number, allocator: allocator) {
      object.hold(record, allocator.slab)
    }
    return object.base != nil
  }
}
