internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Finds objects that share values that must be unique in a newer model.
///
/// Sorts the keys of one index at a time in memory, because the index is not in the store.
struct DuplicateSearch {
  /// A unique index of the newer model, with the entity that declares it.
  typealias Unique = (entity: EntitySchema, index: IndexSchema)

  let checks: MigrationChecks
  /// The layouts that convert records to those of the newer model.
  let layouts: StoreLayouts
  /// The databases of the newer model, or `nil` before they have been created.
  var databases: StoreDatabases?

  private var migration: LightweightMigration { checks.migration }
  private var schema: ModelSchema { migration.new }

  /// Returns an obstacle for each of the indexes in which objects share values.
  ///
  /// - Throws: `corrupted` if a record is damaged; `interrupted`.
  /// - Complexity: O(*n* log *n*) in time and linear in memory in the number of objects of an
  ///   index.
  func obstacles(in indexes: [Unique]) throws(StoreError) -> [MigrationObstacle] {
    var obstacles: [MigrationObstacle] = []
    for unique in indexes {
      let shared = try sharing(unique.index)
      if shared.isEmpty { continue }
      obstacles += try obstacle(unique, shared)
    }
    return obstacles
  }

  private func obstacle(
    _ unique: Unique, _ shared: [ObjectNumber]
  ) throws(StoreError) -> [MigrationObstacle] {
    let (entity, index) = unique
    var tally = ObjectTally()
    for number in shared { tally.add(number) }
    let names = index.columns.map { entity.name(of: $0.source) }
    let isFilled = try containsDefault(shared, index)
    let remedy =
      migration.isReversal
      ? "Change the values with the newer model"
      : "Change the values with the former model, or \(checks.step("change them"))"
    return checks.obstacle(of: tally, entity.name, names.first) {
      MigrationObstacle.sharedValues(
        of: entity.name, names, isAdded: !isMigrated && !wasUnique(unique), $0, isFilled: isFilled,
        remedy)
    }
  }

  /// Whether earlier steps of the migration have already changed the records.
  private var isMigrated: Bool {
    databases != nil && (migration.isStaged || migration.isReversal)
  }

  /// Returns whether the older model has a unique index of the same values.
  private func wasUnique(_ unique: Unique) -> Bool {
    guard let former = migration.old.entity(numbered: unique.entity.number) else { return false }
    let values = Self.values(of: unique.index, unique.entity)
    return former.indexes.contains { index in
      index.isUnique && index.condition?.text == unique.index.condition?.text
        && Self.values(of: index, former) == values
    }
  }

  private struct Values: Hashable {
    let property: UInt16
    let keys: [String]
    let kind: IndexSchema.Column.Kind
  }

  private static func values(of index: IndexSchema, _ entity: EntitySchema) -> Set<Values> {
    Set(
      index.columns.map { column in
        Values(
          property: entity.field(of: column.source).catalogNumber, keys: column.source.keys,
          kind: column.kind)
      })
  }

  /// Returns whether a value of one of the objects in an index is the default that replaces `nil`.
  private func containsDefault(
    _ numbers: [ObjectNumber], _ index: IndexSchema
  ) throws(StoreError) -> Bool {
    if isMigrated { return false }
    for number in numbers {
      guard let entity = schema.entity(of: number), let former = migration.old.entity(of: number)
      else { continue }
      let allocator = SlabAllocator(slabSize: 4 << 10)
      defer { withExtendedLifetime(allocator) {} }
      let records = checks.databases.records(former.index)
      let record = try checks.reader.record(
        number, of: former, in: records, checks.layouts, allocator)
      guard let record else { continue }
      let takesDefault = index.columns.contains { column in
        let property = entity.field(of: column.source).catalogNumber
        let field = former.layout.fields.first { $0.catalogNumber == property }
        return field.map(record.isNull) ?? true
      }
      if takesDefault { return true }
    }
    return false
  }

  // MARK: Keys

  /// Returns the objects that share their values in an index with another object, in ascending
  /// order.
  private func sharing(_ index: IndexSchema) throws(StoreError) -> [ObjectNumber] {
    // Nothing is written to the index's database.
    let maintainer = IndexMaintainer(
      StoreDatabases.Index(schema: index, database: checks.databases.arbor),
      filter: try IndexFilter(index, schema, storeID: checks.storeID))
    for entity in schema.entities[index.declaringEntity].concreteFamily {
      try collect(schema.entities[entity], index, maintainer)
    }
    maintainer.sort()
    let duplicates = try maintainer.duplicates { (number) throws(StoreError) in
      let allocator = SlabAllocator(slabSize: 4 << 10)
      defer { withExtendedLifetime(allocator) {} }
      guard let entity = schema.entity(of: number), let records = records(of: entity),
        let record = try checks.reader.record(number, of: entity, in: records, layouts, allocator)
      else { return nil }
      return maintainer.wholeKey(of: record, number, WritePlan.Index(index, of: entity, number: 0))
    }
    return Set(duplicates.flatMap { [$0.holder, $0.other] }).sorted()
  }

  /// Returns the database of the records of an entity of the newer model, or `nil` if it has no
  /// objects yet.
  private func records(of entity: EntitySchema) -> Database? {
    if let databases { return databases.records(entity.index) }
    guard let former = migration.old.entity(numbered: entity.number), !former.isAbstract else {
      return nil
    }
    return checks.databases.records(former.index)
  }

  private func collect(
    _ entity: EntitySchema, _ index: IndexSchema, _ maintainer: IndexMaintainer
  ) throws(StoreError) {
    guard let records = records(of: entity) else { return }
    let plan = WritePlan.Index(index, of: entity, number: 0)
    let scan = RecordScan(entity: entity, records: records, layouts: layouts)
    try scan.forEach(checks.reader, checks.limit) { (number, record) throws(StoreError) in
      maintainer.collect(number, old: nil, new: record, plan: plan)
    }
  }
}

extension MigrationChecks {
  /// Returns an obstacle for each unique index to fill in which objects share values.
  ///
  /// - Parameter models: The models of passes over the objects, or `nil` for none. Indexes of values
  ///   that a pass restores or computes are omitted.
  func duplicates(
    except models: StagedModels? = nil
  ) throws(StoreError) -> [MigrationObstacle] {
    let indexes = uniqueIndexes(among: migration.indexes.built).filter {
      models?.fills($0.index, of: $0.entity) != true
    }
    if indexes.isEmpty { return [] }
    let arbor = databases.arbor
    let added = StoreOpener.newLayouts(migration)
    let layouts = try StoreOpener.layouts(of: migration.new, reader, arbor, adding: added)
    return try DuplicateSearch(checks: self, layouts: layouts).obstacles(in: indexes)
  }

  /// Returns those of the given indexes of the newer model that are unique.
  func uniqueIndexes(
    among names: Set<SchemaCatalog.PartName>
  ) -> [DuplicateSearch.Unique] {
    migration.new.entities.flatMap { entity in
      entity.indexes.lazy.filter {
        $0.isUnique && $0.declaringEntity == entity.index
          && names.contains(.init(entity.name, $0.name))
      }.map { (entity, $0) }
    }
  }
}

extension MigrationObstacle {
  /// Returns the message about objects that share unique values.
  ///
  /// - Parameters:
  ///   - isAdded: Whether the older model permits sharing them.
  ///   - objects: The number of the objects and the first ones.
  ///   - isFilled: Whether one of the values is the default that replaces `nil`.
  package static func sharedValues(
    of entity: String, _ properties: [String], isAdded: Bool, _ objects: String, isFilled: Bool,
    _ remedy: String
  ) -> String {
    let cause = isFilled ? ", because nil becomes the default" : ""
    return
      "\(entity).\(properties.joined(separator: ", ")) \(isAdded ? "becomes" : "is") unique, but "
      + "\(objects) with equal values\(cause). \(remedy)."
  }
}

extension StagedModels {
  /// Returns whether an index depends on values that a pass restores or computes.
  func fills(_ index: IndexSchema, of entity: EntitySchema) -> Bool {
    let columns = index.columns.map { entity.name(of: $0.source) }
    return (columns + (index.condition.map { [$0.text] } ?? [])).contains {
      fills($0, of: entity.name)
    }
  }
}
