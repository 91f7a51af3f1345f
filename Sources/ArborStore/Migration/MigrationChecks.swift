internal import ArborFoundation
package import ArborModel
internal import LMDB

/// Searches a store's objects for obstacles to its migration.
///
/// The number of an entity's objects is known. Each object is visited only if an attribute without
/// a default becomes mandatory, or rules for the number of members become narrower.
struct MigrationChecks {
  let migration: LightweightMigration
  let databases: StoreDatabases
  let layouts: StoreLayouts
  let storeID: UUID
  let reader: TransactionReader
  let limit = WorkLimit()

  /// Returns the obstacles to migrating the file: first those of the models, then those of the
  /// objects. Objects that share unique values are not searched.
  func obstacles() throws(StoreError) -> [MigrationObstacle] {
    try present(migration.obstacles) + objectObstacles(inCopy: migration.isStaged)
  }

  /// Returns the obstacles of the objects, except for shared unique values.
  ///
  /// - Parameter inCopy: Whether the file is the private copy of a staged migration, which may drop
  ///   the objects of entities that become abstract.
  func objectObstacles(inCopy: Bool) throws(StoreError) -> [MigrationObstacle] {
    var obstacles: [MigrationObstacle] = []
    for plan in migration.evolution.entities {
      guard let former = migration.old.entity(named: plan.oldName), !former.isAbstract else {
        continue
      }
      if migration.new.entity(named: plan.name)?.isAbstract ?? true {
        if !inCopy { try checkAbstraction(of: plan, former, &obstacles) }
        continue
      }
      try check(plan, former, &obstacles)
    }
    if !migration.isStaged {
      for removed in migration.evolution.removed {
        try checkRemoval(of: removed, &obstacles)
      }
    }
    return obstacles
  }

  /// Checks that an entity that becomes abstract has no objects of its own.
  private func checkAbstraction(
    of plan: CatalogEvolution.Entity, _ former: EntitySchema, _ obstacles: inout [MigrationObstacle]
  ) throws(StoreError) {
    obstacles += obstacle(of: try all(of: former), plan.name, nil) {
      "\(plan.name) becomes abstract, but \($0). Delete the objects with the "
        + (migration.isReversal
          ? "newer model."
          : "former model, or \(step("turn them into objects of a subentity")).")
    }
  }

  /// Returns the advice to use code. Only migrations in a copy run steps.
  func step(_ verb: String) -> String {
    "use a MigrationStep to \(verb)"
      + (migration.isStaged ? "" : " with options.migration = .automatic")
  }

  private func check(
    _ plan: CatalogEvolution.Entity, _ former: EntitySchema, _ obstacles: inout [MigrationObstacle]
  ) throws(StoreError) {
    var required = plan.required
    if !plan.missing.isEmpty || !plan.computed.isEmpty {
      let all = try all(of: former)
      guard all.count > 0 else { return }
      for name in plan.missing where migration.retyped(name, of: plan.name) == nil {
        if let number = formerNumber(of: name, plan) {
          required.append((name, number))
          continue
        }
        if plan.returned[name] != nil {
          try checkReturn(of: name, plan, former, &obstacles)
          continue
        }
        if presentLinks(of: name, plan, former) != nil { continue }
        obstacles += obstacle(plan.name, name, all, former, " without a value") {
          "it is mandatory without a constant default, but \($0). "
            + (migration.isReversal
              ? "Delete them with the newer model"
              : "Give the attribute a constant default (UUID() is not one), make it optional, or "
                + "\(step("fill it"))")
        }
      }
      for name in plan.computed where !migration.isStaged {
        obstacles += obstacle(plan.name, name, all, former) {
          "it is derived and stored, but \($0). "
            + (migration.isReversal
              ? "A reversal doesn't compute derived attributes. Keep the newer model, or export "
                + "the data and import it afterwards"
              : "Set options.migration to .automatic, since .lightweightOnly doesn't compute "
                + "derived attributes")
        }
      }
    }
    for (name, number) in required where migration.retyped(name, of: plan.name) == nil {
      try checkValues(of: name, number, plan, former, &obstacles)
    }
    try checkStructures(plan, former, &obstacles)
    try checkMembers(plan, former, &obstacles)
    try checkDestinations(plan, former, &obstacles)
  }

  /// Checks that all objects have a value of an attribute that becomes mandatory.
  private func checkValues(
    of name: String, _ number: UInt16, _ plan: CatalogEvolution.Entity, _ former: EntitySchema,
    _ obstacles: inout [MigrationObstacle]
  ) throws(StoreError) {
    guard let field = former.layout.fields.first(where: { $0.catalogNumber == number }) else {
      return
    }
    var tally = ObjectTally()
    try forEachRecord(of: former) { number, record in
      if record.isNull(field) { tally.add(number) }
    }
    obstacles += obstacle(plan.name, name, tally, former, " without a value") {
      "it becomes mandatory without a default, but \($0). "
        + (migration.isReversal
          ? "Give each object a value with the newer model"
          : "Give the attribute a default, give each object a value with the former model, or "
            + "\(step("do so"))")
    }
  }

  /// Returns the catalog number that an attribute has in the older model if a pass fills it, or
  /// `nil` otherwise.
  private func formerNumber(of name: String, _ plan: CatalogEvolution.Entity) -> UInt16? {
    let model = migration.new.model
    guard migration.isStaged, let entity = model.entity(named: plan.name),
      let source = model.lineage(of: entity).lazy.compactMap({
        migration.relaid[ModelDifference.Subject($0.name, name)]
      }).first
    else { return nil }
    return migration.old.catalog.entries[plan.oldName]?.properties[source]
  }

  /// Checks that no objects have been written without a property since it was removed.
  private func checkReturn(
    of name: String, _ plan: CatalogEvolution.Entity, _ former: EntitySchema,
    _ obstacles: inout [MigrationObstacle]
  ) throws(StoreError) {
    var tally = ObjectTally()
    try reader.forEachEntry(of: databases.records(former.index), limit) { found in
      if let base = found.value.baseAddress, found.value.count >= RecordLayout.headerSize,
        RecordView(base: base, count: found.value.count).layoutNumber > plan.lastLayout
      {
        tally.add(ObjectNumber(rawValue: found.integerKey))
      }
    }
    obstacles += obstacle(plan.name, name, tally, former, " without a value") {
      "it is mandatory without a default, but \($0), written since the attribute was removed. "
        + "Delete them with the newer model"
    }
  }

  /// Checks that a removed entity has no objects that others may link to through inherited
  /// relationships.
  private func checkRemoval(
    of removed: CatalogEvolution.Removed, _ obstacles: inout [MigrationObstacle]
  ) throws(StoreError) {
    guard let former = migration.old.entity(named: removed.name), !former.isAbstract else { return }
    let kept = keptRelationships
    let mayBeLinked = former.relationships.contains { relationship in
      relationship.declaringEntity != former.index
        && [relationship, migration.old.inverse(of: relationship)].contains {
          kept.contains(SchemaCatalog.PartName($0, migration.old))
        }
    }
    guard mayBeLinked else { return }
    obstacles += obstacle(removed.name, nil, try all(of: former), former) {
      "it is removed, but \($0), to which other objects may link through inherited relationships. "
        + (migration.isReversal
          ? "Delete them with the newer model"
          : "Delete them with the former model, or set options.migration to .automatic")
    }
  }

  /// The relationships of the older model that the newer one also has.
  private var keptRelationships: Set<SchemaCatalog.PartName> {
    var kept: Set<SchemaCatalog.PartName> = []
    for plan in migration.evolution.entities {
      let names = Set(plan.relationships.values)
      for relationship in migration.old.entity(named: plan.oldName)?.relationships ?? []
      where names.contains(relationship.name) {
        kept.insert(SchemaCatalog.PartName(relationship, migration.old))
      }
    }
    return kept
  }

  /// Counts the objects of an entity, not including subentities.
  private func all(of former: EntitySchema) throws(StoreError) -> ObjectTally {
    let records = databases.records(former.index)
    return try storing { () throws(LMDBError) in
      var tally = ObjectTally(count: try reader.entryCount(records))
      let cursor = try reader.cursor(records)
      while tally.first.count < ObjectTally.namedObjects, let found = try cursor.next() {
        tally.first.append(ObjectNumber(rawValue: found.integerKey))
      }
      return tally
    }
  }

  /// Calls `body` with the number and the record of each object of an entity, not including
  /// subentities.
  func forEachRecord(
    of former: EntitySchema, _ body: (ObjectNumber, RecordView) -> Void
  ) throws(StoreError) {
    let records = databases.records(former.index)
    try RecordScan(entity: former, records: records, layouts: layouts)
      .forEach(reader, limit) { number, record in body(number, record) }
  }

  /// Returns the obstacle that objects represent, or an empty array if there are no objects.
  func obstacle(
    _ entity: String, _ property: String?, _ objects: ObjectTally, _ former: EntitySchema,
    _ detail: String = "", _ sentence: (String) -> String
  ) -> [MigrationObstacle] {
    obstacle(of: objects, entity, property, detail) {
      "\(ModelDifference.Subject(entity, property)): \(sentence($0))."
    }
  }

  /// Does the same with the whole message.
  func obstacle(
    of objects: ObjectTally, _ entity: String, _ property: String?, _ detail: String = "",
    _ message: (String) -> String
  ) -> [MigrationObstacle] {
    guard objects.count > 0 else { return [] }
    let ids = objects.first.map { number in
      let entity = migration.old.entity(of: number) ?? migration.new.entity(of: number)
      return ObjectID(
        storeID: storeID, entityName: entity?.name ?? "", number: number.sequence)
    }
    let names = ids.map { "\($0.entityName) \($0.number)" }.joined(separator: ", ")
    let total = objects.count == 1 ? "there is 1 object" : "there are \(objects.count) objects"
    let list = objects.count > ids.count ? "\(names) and more" : names
    return [
      MigrationObstacle(
        entity: entity, property: property, objectIDs: ids,
        message: message("\(total)\(detail) (\(list))"))
    ]
  }
}

// MARK: Obstacles without objects

extension MigrationChecks {
  /// Returns those obstacles that exist in the store: an obstacle with holders only if one of them
  /// has objects or links.
  func present(_ obstacles: [MigrationObstacle]) throws(StoreError) -> [MigrationObstacle] {
    var present: [MigrationObstacle] = []
    for obstacle in obstacles {
      var exists = obstacle.holders.isEmpty
      for holder in obstacle.holders where !exists { exists = try holdsAnything(holder) }
      if exists { present.append(obstacle) }
    }
    return present
  }

  /// Returns whether an entity of the older model or its subentities have objects or, for a
  /// relationship, links.
  private func holdsAnything(_ subject: ModelDifference.Subject) throws(StoreError) -> Bool {
    guard let entity = migration.old.entity(named: subject.entity) else { return false }
    for index in entity.concreteFamily {
      let former = migration.old.entities[index]
      guard try all(of: former).count > 0 else { continue }
      guard case .relationship(let relationship) = former.property(named: subject.property ?? ""),
        !relationship.description.isTransient
      else { return true }
      if try hasLinks(relationship, former) { return true }
    }
    return false
  }

  private func hasLinks(
    _ relationship: RelationshipSchema, _ owner: EntitySchema
  ) throws(StoreError) -> Bool {
    if case .field(let index) = relationship.storage {
      let field = owner.layout.fields[index]
      var hasLinks = false
      try forEachRecord(of: owner) { _, record in
        if !record.isNull(field) { hasLinks = true }
      }
      return hasLinks
    }
    guard let own = owner.own(relationship),
      let relationshipIndex = databases.relationshipIndex(entity: owner.index, slot: own.slot)
    else { return false }
    let members = databases.relationships[relationshipIndex].members
    return try storing { () throws(LMDBError) in
      let first = ObjectNumber(entity: owner.number, sequence: 0)
      guard let found = try reader.cursor(members).seek(first.rawValue) else { return false }
      return ObjectNumber(rawValue: found.integerKey).entity == owner.number
    }
  }
}

extension MigrationChecks {
  init(_ migration: LightweightMigration, _ parts: StoreParts, _ reader: TransactionReader) {
    self.init(
      migration: migration, databases: parts.databases, layouts: parts.layouts,
      storeID: parts.header.storeID, reader: reader)
  }
}

extension StoreEngine {
  /// Returns the obstacles to a migration to another model, in the models and in the objects.
  ///
  /// - Parameters:
  ///   - versions: The models in between, oldest first.
  ///   - names: The names of data that may be dropped, or `nil` for all.
  ///   - passes: Whether passes over the objects migrate data that catalog changes cannot.
  ///   - models: The models of these passes. Objects that share values which a pass restores or
  ///     computes are not searched.
  package func migrationObstacles(
    to model: ManagedObjectModel, via versions: [ManagedObjectModel], dropping names: Set<String>?,
    passes: Bool, _ models: StagedModels
  ) throws(StoreError) -> [MigrationObstacle] {
    let checked = try LightweightMigration(
      from: schema, modelFingerprint, to: model, dropping: names, via: versions, isStaged: passes)
    let stated =
      passes
      ? MigrationObstacle.obstacles(
        in: schema.model.difference(to: model, via: versions), dropping: names, passes: true)
      : checked.obstacles
    return try checks(checked) { (checks) throws(StoreError) in
      try checks.present(stated) + checks.objectObstacles(inCopy: false)
        + checks.duplicates(except: models)
    }
  }

  /// Returns obstacles for the objects of the store, a private copy, that violate rules of the
  /// model that the copy will have at the end of a migration. Shared unique values are found when
  /// the indexes are filled.
  package func brokenRules(
    of model: ManagedObjectModel
  ) throws(StoreError) -> [MigrationObstacle] {
    let migration = try LightweightMigration(
      from: schema, modelFingerprint, to: model, dropping: nil, isStaged: true)
    return try checks(migration) { (checks) throws(StoreError) in
      try checks.objectObstacles(inCopy: true)
    }
  }

  /// Calls `body` with the checks of a migration of the store.
  func checks<R>(
    _ migration: LightweightMigration, _ body: (MigrationChecks) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try read { (reader) throws(StoreError) in
      try body(
        MigrationChecks(
          migration: migration, databases: databases, layouts: layouts, storeID: id,
          reader: reader))
    }
  }
}
