internal import ArborModel

/// Rules about the number of members that a newer model has and the older one has not.
extension MigrationChecks {
  /// Lists the objects of an entity with fewer or more members than the newer model lets them have.
  ///
  /// Takes a look at each object of entities whose rules have become narrower, and at none of
  /// others. On the way back nothing is checked: the former model had these rules before.
  func checkMembers(
    _ plan: CatalogEvolution.Entity, _ former: EntitySchema, _ obstacles: inout [MigrationObstacle]
  ) throws(StoreError) {
    guard !migration.isReversal, !migration.narrowed.isEmpty,
      let entity = migration.new.entity(named: plan.name)
    else { return }
    for relationship in entity.relationships {
      let owner = migration.new.entities[relationship.declaringEntity].name
      guard migration.narrowed.contains(ModelDifference.Subject(owner, relationship.name)),
        let source = plan.relationships[relationship.name],
        let before = former.relationships.first(where: { $0.name == source })
      else { continue }
      try check(relationship.description, before, plan, former, &obstacles)
    }
  }

  private func check(
    _ rule: RelationshipDescription, _ before: RelationshipSchema, _ plan: CatalogEvolution.Entity,
    _ former: EntitySchema, _ obstacles: inout [MigrationObstacle]
  ) throws(StoreError) {
    var (fewer, more) = (ObjectTally(), ObjectTally())
    try forEachCount(of: before, former) { number, count in
      if rule.needsMore(than: count) { fewer.add(number) }
      if rule.isToMany, rule.maximumCount > 0, count > rule.maximumCount { more.add(number) }
    }
    let least = rule.isToMany ? rule.minimumCount : 1
    let cases = [
      (fewer, "fewer", "it needs \(least) or more members"),
      (more, "more", "it takes \(rule.maximumCount) members at most"),
    ]
    for (tally, detail, what) in cases {
      obstacles += obstacle(plan.name, rule.name, tally, former, " with \(detail)") {
        "\(what), and \($0); change them with the former model, or let a MigrationStep do so"
      }
    }
  }

  /// Calls `body` with each object of an entity, and the number of its members.
  private func forEachCount(
    of relationship: RelationshipSchema, _ former: EntitySchema, _ body: (ObjectNumber, Int) -> Void
  ) throws(StoreError) {
    let records = databases.records(former.index)
    if case .field(let index) = relationship.storage {
      let field = former.layout.fields[index]
      return try forEachRecord(of: former) { number, record in
        body(number, record.isNull(field) ? 0 : 1)
      }
    }
    guard let own = former.own(relationship),
      let relationshipIndex = databases.relationshipIndex(entity: former.index, slot: own.slot)
    else { return }
    let members = databases.relationships[relationshipIndex].members
    try storing { () throws(EngineError) in
      let owners = try reader.cursor(records)
      let links = try reader.cursor(members)
      while let found = try owners.next() {
        let key = found.integerKey
        let count = try links.seekExact(key) == nil ? 0 : links.valueCount()
        body(ObjectNumber(rawValue: key), count)
      }
    }
  }
}

/// How many objects there are of a kind, and the first of them.
struct ObjectTally {
  static let namedObjects = 3

  var count = 0
  var first: [ObjectNumber] = []

  mutating func add(_ number: ObjectNumber) {
    count += 1
    if first.count < Self.namedObjects { first.append(number) }
  }
}

extension RelationshipDescription {
  /// Whether an object with so many members breaks the least count, as commits see it: none is
  /// enough for an optional relationship.
  fileprivate func needsMore(than count: Int) -> Bool {
    if count == 0 { return !isOptional && (!isToMany || minimumCount > 0) }
    return isToMany && count < minimumCount
  }
}
