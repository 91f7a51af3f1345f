internal import ArborModel
internal import LMDB

/// Checks additional rules of the newer model for the number of members.
extension MigrationChecks {
  /// Adds obstacles for the objects of an entity that have fewer or more members than the newer
  /// model allows.
  ///
  /// Visits the objects of entities whose rules become narrower, or that gain a relationship with
  /// rules whose links already exist. A reversal does not check narrower rules, because the former
  /// model already had them.
  func checkMembers(
    _ plan: CatalogEvolution.Entity, _ former: EntitySchema, _ obstacles: inout [MigrationObstacle]
  ) throws(StoreError) {
    guard let entity = migration.new.entity(named: plan.name) else { return }
    for relationship in entity.relationships where relationship.description.limitsMembers {
      let owner = migration.new.entities[relationship.declaringEntity].name
      if let source = plan.relationships[relationship.name] {
        let subject = ModelDifference.Subject(owner, relationship.name)
        guard !migration.isReversal, migration.narrowed.contains(subject) else { continue }
        let before = former.relationships.filter { $0.name == source }
        try check(relationship.description, before, plan, former, &obstacles)
      } else if let before = presentLinks(of: relationship.name, plan, former) {
        try check(relationship.description, before, plan, former, &obstacles)
      }
    }
  }

  /// Returns the relationships of the older model that contain the existing links of an entity's
  /// new relationship, or `nil` if it starts without links.
  func presentLinks(
    of name: String, _ plan: CatalogEvolution.Entity, _ former: EntitySchema
  ) -> [RelationshipSchema]? {
    guard plan.relationships[name] == nil, plan.returned[name] == nil,
      case .relationship(let relationship) = migration.new.entity(named: plan.name)?
        .property(named: name), !relationship.description.isTransient
    else { return nil }
    let found = migration.moves.counterparts(of: relationship, former).map(\.relationship)
    return found.isEmpty ? nil : found
  }

  private func check(
    _ rule: RelationshipDescription, _ before: [RelationshipSchema],
    _ plan: CatalogEvolution.Entity, _ former: EntitySchema,
    _ obstacles: inout [MigrationObstacle]
  ) throws(StoreError) {
    var (fewer, more) = (ObjectTally(), ObjectTally())
    try forEachCount(of: before, former) { number, count in
      if rule.needsMore(than: count) { fewer.add(number) }
      if rule.isToMany, rule.maximumCount > 0, count > rule.maximumCount { more.add(number) }
    }
    let least = rule.isToMany ? rule.minimumCount : 1
    let cases = [
      (fewer, "fewer", "it needs at least \(least) \(least == 1 ? "member" : "members")"),
      (
        more, "more",
        "it takes at most \(rule.maximumCount) \(rule.maximumCount == 1 ? "member" : "members")"
      ),
    ]
    for (tally, detail, what) in cases {
      obstacles += obstacle(plan.name, rule.name, tally, former, " with \(detail)") {
        "\(what), but \($0). Change them with the former model, or \(step("do so"))"
      }
    }
  }

  /// Calls `body` with each object of an entity and the total number of its members in the given
  /// relationships.
  private func forEachCount(
    of relationships: [RelationshipSchema], _ former: EntitySchema,
    _ body: (ObjectNumber, Int) -> Void
  ) throws(StoreError) {
    if let only = relationships.first, relationships.count == 1 {
      return try forEachCount(of: only, former, body)
    }
    var counts: [ObjectNumber: Int] = [:]
    for relationship in relationships {
      try forEachCount(of: relationship, former) { counts[$0, default: 0] += $1 }
    }
    for (number, count) in counts.sorted(by: { $0.key < $1.key }) { body(number, count) }
  }

  /// Calls `body` with each object of an entity and the number of its members in a relationship.
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
    try storing { () throws(LMDBError) in
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

/// The number of matching objects, and the first few of them.
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
  /// Whether objects may have too few or too many members.
  fileprivate var limitsMembers: Bool {
    !isOptional || (isToMany && (minimumCount > 0 || maximumCount > 0))
  }

  /// Returns whether a number of members is too small, by the rules of commits: an optional
  /// relationship may be empty.
  fileprivate func needsMore(than count: Int) -> Bool {
    if count == 0 { return !isOptional && (!isToMany || minimumCount > 0) }
    return isToMany && count < minimumCount
  }
}
