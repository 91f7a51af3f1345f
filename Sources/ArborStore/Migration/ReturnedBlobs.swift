internal import ArborModel
internal import LMDB

/// Removes large binaries of restored attributes that are no longer used by a record, because
/// objects were deleted or written since the attributes were removed.
struct ReturnedBlobs {
  let migration: LightweightMigration
  /// The databases of the former model, to which ``layouts`` belongs, too.
  let databases: StoreDatabases
  let layouts: StoreLayouts
  private let limit = WorkLimit()

  /// Removes the unused binaries.
  ///
  /// - Complexity: Linear in the number of large binaries of entities with such attributes.
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

  /// Returns the names of an object's large binaries.
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
