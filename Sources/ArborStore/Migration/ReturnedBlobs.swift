internal import ArborModel
internal import LMDB

/// Removes the large binaries of attributes that come back which no record has any more: objects
/// were deleted or written while nothing knew of them.
struct ReturnedBlobs {
  let migration: LightweightMigration
  /// Those of the model that comes back, like the layouts.
  let databases: StoreDatabases
  let layouts: StoreLayouts
  private let limit = WorkLimit()

  /// Takes time in proportion to the large binaries of entities to which attributes with some come
  /// back.
  func removeStray(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    for plan in migration.evolution.entities {
      let numbers = Set(plan.returned.values)
      guard let entity = migration.new.entity(named: plan.name), !entity.isAbstract,
        let blobs = databases.blobs(entity.index)
      else { continue }
      let fields = entity.layout.externalFields.filter { numbers.contains($0.catalogNumber) }
      if !fields.isEmpty { try removeStray(entity, fields, blobs, transaction) }
    }
  }

  private func removeStray(
    _ entity: EntitySchema, _ fields: [RecordField], _ blobs: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let properties = Set(fields.map(\.catalogNumber))
    var stray: [[UInt8]] = []
    var known: (owner: ObjectNumber, names: Set<BlobName>)?
    let reader = transaction.reader
    try reader.forEachEntry(of: blobs, limit) { (found) throws(StoreError) in
      guard let name = BlobName.of(key: found.key)?.name, properties.contains(name.property) else {
        return
      }
      if known?.owner != name.number {
        known = (name.number, try names(of: name.number, entity, fields, reader))
      }
      if known?.names.contains(name) != true { stray.append(Array(found.key)) }
    }
    try storing { () throws(LMDBError) in
      for key in stray { try transaction.delete(blobs, key: key) }
    }
  }

  /// The large binaries that an object has.
  private func names(
    of number: ObjectNumber, _ entity: EntitySchema, _ fields: [RecordField],
    _ reader: TransactionReader
  ) throws(StoreError) -> Set<BlobName> {
    let (records, allocator) = (databases.records(entity.index), SlabAllocator(slabSize: 4 << 10))
    let record = try reader.record(number, of: entity, in: records, layouts, allocator)
    guard let record else { return [] }
    return withExtendedLifetime(allocator) {
      Set(fields.compactMap { field in record.blob(field).map { BlobName($0, of: number, field) } })
    }
  }
}
