internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Finds objects that share values that must be unique in a newer model, before the migration.
/// Sorts all keys in memory, because no index exists yet.
struct DuplicateSearch {
  let migration: LightweightMigration
  let parts: StoreParts
  /// The layouts that convert present records to those of the newer model.
  let layouts: StoreLayouts
  let reader: TransactionReader
  private let limit = WorkLimit()

  private var schema: ModelSchema { migration.new }
  private var storeID: UUID { parts.header.storeID }

  /// - Throws: `duplicateValues` if objects share values in one of the unique indexes; `corrupted`
  ///   if a record is damaged; `interrupted`.
  func refuseDuplicates(in indexes: [IndexSchema]) throws(StoreError) {
    var violations: [UniquenessViolation] = []
    for index in indexes { violations += try self.violations(of: index) }
    guard violations.isEmpty else {
      throw .duplicateValues(
        violations.prefix(IndexBuilder.maximumViolations).map {
          DuplicateValues($0, schema, storeID)
        })
    }
  }

  private func violations(of index: IndexSchema) throws(StoreError) -> [UniquenessViolation] {
    // The index has no database yet, but nothing is written to it.
    let maintainer = IndexMaintainer(
      StoreDatabases.Index(schema: index, database: parts.databases.arbor),
      filter: try IndexFilter(index, schema, storeID: storeID))
    for entity in schema.entities[index.declaringEntity].concreteFamily {
      try collect(schema.entities[entity], index, maintainer)
    }
    maintainer.sort()
    let duplicates = try maintainer.duplicates { (number) throws(StoreError) in
      let allocator = SlabAllocator(slabSize: 4 << 10)
      defer { withExtendedLifetime(allocator) {} }
      guard let entity = schema.entity(of: number), let records = records(of: entity),
        let record = try reader.record(number, of: entity, in: records, layouts, allocator)
      else { return nil }
      return maintainer.wholeKey(of: record, number, WritePlan.Index(index, of: entity, number: 0))
    }
    return duplicates.map {
      UniquenessViolation(index, schema, existing: $0.holder, offending: $0.other)
    }
  }

  /// Returns the database of an entity's present records, or `nil` if the entity is new.
  private func records(of entity: EntitySchema) -> Database? {
    guard let former = migration.old.entity(numbered: entity.number), !former.isAbstract else {
      return nil
    }
    return parts.databases.records(former.index)
  }

  private func collect(
    _ entity: EntitySchema, _ index: IndexSchema, _ maintainer: IndexMaintainer
  ) throws(StoreError) {
    guard let records = records(of: entity) else { return }
    let plan = WritePlan.Index(index, of: entity, number: 0)
    let scan = RecordScan(entity: entity, records: records, layouts: layouts)
    try scan.forEach(reader, limit) { (number, record) throws(StoreError) in
      maintainer.collect(number, old: nil, new: record, plan: plan)
    }
  }
}
