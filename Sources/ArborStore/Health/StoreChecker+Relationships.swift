internal import ArborModel
internal import LMDB

/// Checks that both sides of every relationship are consistent and that all links refer to existing
/// objects.
extension StoreChecker {
  // MARK: To-one sides

  /// Checks the one-to-one relationships of a record: the target must refer back to the owner.
  mutating func checkClaims(
    _ number: ObjectNumber, _ record: RecordView, _ plan: WritePlan
  ) throws(StoreError) {
    for reference in plan.references where reference.listIndex == nil {
      guard let target = record.reference(reference.field) else { continue }
      let entity = plan.entity
      let relationship = entity.relationships[reference.slot]
      guard try checkTarget(target, of: relationship, from: number) else { continue }
      // The inverse of the target's own entity, because the field's offset differs between
      // entities.
      guard let targetPlan = store.schema.entity(of: target).flatMap({ store.plans[$0.index] }),
        let inverse = targetPlan.entity.own(store.schema.inverse(of: relationship)),
        case .field(let index) = inverse.storage, let other = try storedRecord(target, targetPlan),
        other.reference(targetPlan.entity.layout.fields[index]) != number
      else { continue }
      report.add(
        .missingLink,
        "\(name(number)).\(relationship.name) is \(name(target)), whose \(inverse.name) doesn't "
          + "refer back.",
        entity: entity.name, object: number)
    }
  }

  private func storedRecord(
    _ number: ObjectNumber, _ plan: WritePlan
  ) throws(StoreError) -> RecordView? {
    guard let record = try reader.storedRecord(number, in: plan.records) else { return nil }
    // A damaged record is reported when the records are checked.
    if record.verify(plan.entity.layout, key: number) == nil { return record }
    return try? store.layouts.verified(
      record, of: number, entity: plan.entity, allocator: upgradedRecords)
  }

  // MARK: To-many sides

  /// Collects the members that the links of each relationship require in its inverse.
  mutating func collectLinks() throws(StoreError) {
    for relationship in store.databases.relationships where relationship.schema.storage == .links {
      guard let inverse = inverseIndex(relationship.schema) else { continue }
      let expected = relationships[inverse]
      try storing(limit) { () throws(LMDBError) in
        try forEachMember(relationship) { owner, member in
          expected.run.append(MemberChange(owner: member, member: owner, isRemoval: false))
        }
      }
    }
  }

  private func inverseIndex(_ relationship: RelationshipSchema) -> Int? {
    let inverse = store.schema.inverse(of: relationship)
    return store.databases.relationshipIndex(entity: relationship.destination, slot: inverse.slot)
  }

  private func forEachMember(
    _ relationship: StoreDatabases.Relationship, _ body: (ObjectNumber, ObjectNumber) -> Void
  ) throws(LMDBError) {
    let isOrdered = relationship.order != nil
    let cursor = try reader.cursor(relationship.members)
    while let found = try cursor.next() {
      try limit.checkLMDB()
      let raw = isOrdered ? OrderedMembers.pair(found.value).0 : cursor.number(of: found)
      body(ObjectNumber(rawValue: found.integerKey), ObjectNumber(rawValue: raw))
    }
  }

  /// Compares the members of a relationship with those that its inverse requires.
  mutating func checkRelationship(_ relationshipIndex: Int) throws(StoreError) {
    let relationship = store.databases.relationships[relationshipIndex]
    let expected = relationships[relationshipIndex]
    expected.run.sort()
    var stored = MemberRun()
    try storing(limit) { () throws(LMDBError) in
      try forEachMember(relationship) { owner, member in
        stored.append(MemberChange(owner: owner, member: member, isRemoval: false))
      }
      if let order = relationship.order { try checkOrder(relationship, order) }
    }
    stored.sort()
    compare(expected.run, stored, relationship.schema)
    try checkExistence(stored, relationship.schema)
    try checkExistence(expected.run, relationship.schema)
    report.linkCount += stored.count
  }

  private mutating func compare(
    _ expected: borrowing MemberRun, _ stored: borrowing MemberRun, _ schema: RelationshipSchema
  ) {
    var (left, right) = (0, 0)
    while left < expected.count || right < stored.count {
      let wanted = left < expected.count ? (expected[left].high, expected[left].low) : nil
      let found = right < stored.count ? (stored[right].high, stored[right].low) : nil
      if let wanted, found.map({ wanted < $0 }) ?? true {
        reportLink(
          .missingLink, wanted, schema, "doesn't have the member",
          "although its inverse has the link")
        left += 1
      } else if let found, wanted.map({ found < $0 }) ?? true {
        reportLink(
          .strayLink, found, schema, "has the member",
          "although its inverse doesn't have the link")
        right += 1
      } else {
        left += 1
        right += 1
      }
    }
  }

  private mutating func reportLink(
    _ kind: StoreCheckReport.Problem.Kind, _ pair: (UInt64, UInt64),
    _ schema: RelationshipSchema, _ verb: String, _ reason: String
  ) {
    let member = ObjectNumber(rawValue: pair.1)
    add(kind, ObjectNumber(rawValue: pair.0), ".\(schema.name) \(verb) \(name(member)), \(reason).")
  }

  /// Checks that the owners and members of a sorted run exist.
  private mutating func checkExistence(
    _ run: borrowing MemberRun, _ schema: RelationshipSchema
  ) throws(StoreError) {
    let inverse = store.schema.inverse(of: schema)
    var lastOwner: ObjectNumber?
    for index in 0..<run.count {
      try limit.checkStore()
      let (owner, member) = (run[index].owner, run[index].member)
      if owner != lastOwner { try checkTarget(owner, of: inverse, from: member) }
      lastOwner = owner
      if schema.storage == .links { try checkTarget(member, of: schema, from: owner) }
    }
  }

  /// Checks that a target exists and belongs to the destination of its relationship. Returns
  /// whether it does.
  @discardableResult
  private mutating func checkTarget(
    _ target: ObjectNumber, of relationship: RelationshipSchema, from owner: ObjectNumber
  ) throws(StoreError) -> Bool {
    let exists = try snapshot.exists(target)
    if exists, store.schema.leads(relationship, to: target) { return true }
    let destination = store.schema.entities[relationship.destination].name
    let reason = exists ? "which is not a \(destination)" : "which doesn't exist"
    add(.danglingLink, owner, ".\(relationship.name) refers to \(name(target)), \(reason).")
    return false
  }

  // MARK: Order

  /// Checks that the two databases of an ordered relationship contain the same triples.
  private mutating func checkOrder(
    _ relationship: StoreDatabases.Relationship, _ order: Database
  ) throws(LMDBError) {
    let members = try triples(relationship.members) { ($0.0, $0.1) }
    let positions = try triples(order) { ($0.1, $0.0) }
    for triple in Set(members).symmetricDifference(positions) {
      let member = name(ObjectNumber(rawValue: triple.member))
      add(
        .order, ObjectNumber(rawValue: triple.owner),
        ".\(relationship.schema.name) and its order disagree about \(member).")
    }
    for (last, next) in zip(members, members.dropFirst())
    where last.owner == next.owner && last.member == next.member {
      let owner = ObjectNumber(rawValue: next.owner)
      add(.order, owner, ".\(relationship.schema.name) contains a member twice.")
    }
  }

  private func triples(
    _ database: Database, _ parts: ((UInt64, UInt64)) -> (member: UInt64, position: UInt64)
  ) throws(LMDBError) -> [OrderedTriple] {
    var triples: [OrderedTriple] = []
    let cursor = try reader.cursor(database)
    while let found = try cursor.next() {
      try limit.checkLMDB()
      let (member, position) = parts(OrderedMembers.pair(found.value))
      triples.append(OrderedTriple(owner: found.integerKey, member: member, position: position))
    }
    return triples
  }

  private struct OrderedTriple: Hashable {
    let owner: UInt64
    let member: UInt64
    let position: UInt64
  }
}
