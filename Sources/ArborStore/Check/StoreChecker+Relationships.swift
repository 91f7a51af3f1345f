internal import ArborModel
internal import LMDB

/// Both sides of every relationship agree, and nothing links to what is not there.
extension StoreChecker {
  // MARK: To-one sides

  /// A to-one relationship whose inverse is to-one: the target names the owner.
  mutating func checkClaims(
    _ number: ObjectNumber, _ record: RecordView, _ plan: EntityPlan
  ) throws(StoreError) {
    for reference in plan.references where reference.listPlace == nil {
      guard let target = record.reference(reference.field),
        let entity = store.schema.entity(of: number)
      else { continue }
      let relationship = entity.relationships[reference.slot]
      guard try exists(target) else {
        reportDangling(number, relationship.name, target)
        continue
      }
      let inverse = store.schema.inverse(of: relationship)
      guard case .field(let index) = inverse.storage,
        let targetPlan = store.schema.entity(of: target).flatMap({ store.plans[$0.index] }),
        let other = try storedRecord(target, targetPlan),
        other.reference(targetPlan.entity.layout.fields[index]) != number
      else { continue }
      report.add(
        .missingLink,
        "\(name(number)).\(relationship.name) is \(name(target)), whose \(inverse.name) differs.",
        entity: entity.name, object: number)
    }
  }

  private func storedRecord(
    _ number: ObjectNumber, _ plan: EntityPlan
  ) throws(StoreError) -> RecordView? {
    let found = try storing { () throws(LMDBError) in
      try reader.get(plan.records, key: number.rawValue)
    }
    guard let found, let base = found.baseAddress else { return nil }
    let record = RecordView(base: base, count: found.count)
    // A damaged record is reported where the records are read.
    return record.verify(plan.entity.layout, key: number) == nil ? record : nil
  }

  // MARK: To-many sides

  /// Notes what the links of each relationship ask of the other side.
  mutating func collectLinks() throws(StoreError) {
    for relationship in store.databases.relationships
    where relationship.schema.storage == .links {
      guard let inverse = inversePlace(relationship.schema) else { continue }
      let expected = relationships[inverse]
      try storing(limit) { () throws(LMDBError) in
        try forEachMember(relationship) { owner, member in
          expected.run.append(MemberChange(owner: member, member: owner, isRemoval: false))
        }
      }
    }
  }

  private func inversePlace(_ relationship: RelationshipSchema) -> Int? {
    let inverse = store.schema.inverse(of: relationship)
    return store.databases.relationshipPlace(
      entity: relationship.destination, slot: inverse.slot)
  }

  private func forEachMember(
    _ relationship: StoreDatabases.Relationship, _ body: (ObjectNumber, ObjectNumber) -> Void
  ) throws(LMDBError) {
    let isOrdered = relationship.order != nil
    let cursor = try reader.cursor(relationship.members)
    var entry = try cursor.first()
    while let found = entry {
      try limit.checkEngine()
      let raw = isOrdered ? OrderedMembers.pair(found.value, 0).0 : found.integerValue
      body(ObjectNumber(rawValue: found.integerKey), ObjectNumber(rawValue: raw))
      entry = try cursor.next()
    }
  }

  /// Compares what a relationship holds with what the other side asks, pair by pair.
  mutating func checkRelationship(_ place: Int) throws(StoreError) {
    let relationship = store.databases.relationships[place]
    let expected = relationships[place]
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
        reportLink(.missingLink, wanted, schema, "lacks the member", "whose own side has it")
        left += 1
      } else if let found, wanted.map({ found < $0 }) ?? true {
        reportLink(.strayLink, found, schema, "has the member", "whose own side does not")
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
    let owner = ObjectNumber(rawValue: pair.0)
    let member = ObjectNumber(rawValue: pair.1)
    report.add(
      kind, "\(name(owner)).\(schema.name) \(verb) \(name(member)), \(reason).",
      entity: entityName(owner), object: owner)
  }

  /// That owners and members of a sorted run are there.
  private mutating func checkExistence(
    _ run: borrowing MemberRun, _ schema: RelationshipSchema
  ) throws(StoreError) {
    var lastOwner: ObjectNumber?
    for place in 0..<run.count {
      try limit.checkStore()
      let (owner, member) = (run[place].owner, run[place].member)
      if owner != lastOwner, try !exists(owner) {
        reportDangling(member, store.schema.inverse(of: schema).name, owner)
      }
      lastOwner = owner
      if schema.storage == .links, try !exists(member) {
        reportDangling(owner, schema.name, member)
      }
    }
  }

  private mutating func reportDangling(
    _ owner: ObjectNumber, _ relationship: String, _ target: ObjectNumber
  ) {
    report.add(
      .danglingLink, "\(name(owner)).\(relationship) leads to \(name(target)), which is not there.",
      entity: entityName(owner), object: owner)
  }

  // MARK: Order

  /// The two databases of an ordered relationship hold the same triples.
  private mutating func checkOrder(
    _ relationship: StoreDatabases.Relationship, _ order: Database
  ) throws(LMDBError) {
    var members: [OrderedTriple] = []
    var positions: [OrderedTriple] = []
    let memberCursor = try reader.cursor(relationship.members)
    var entry = try memberCursor.first()
    while let found = entry {
      try limit.checkEngine()
      let (member, position) = OrderedMembers.pair(found.value, 0)
      members.append(OrderedTriple(owner: found.integerKey, member: member, position: position))
      entry = try memberCursor.next()
    }
    let orderCursor = try reader.cursor(order)
    entry = try orderCursor.first()
    while let found = entry {
      try limit.checkEngine()
      let (position, member) = OrderedMembers.pair(found.value, 0)
      positions.append(OrderedTriple(owner: found.integerKey, member: member, position: position))
      entry = try orderCursor.next()
    }
    for triple in Set(members).symmetricDifference(positions) {
      let owner = ObjectNumber(rawValue: triple.owner)
      report.add(
        .order,
        "\(name(owner)).\(relationship.schema.name) is out of step about "
          + "\(name(ObjectNumber(rawValue: triple.member))).",
        entity: entityName(owner), object: owner)
    }
    for (last, next) in zip(members, members.dropFirst())
    where last.owner == next.owner && last.member == next.member {
      let owner = ObjectNumber(rawValue: next.owner)
      report.add(
        .order, "\(name(owner)).\(relationship.schema.name) has a member twice.",
        entity: entityName(owner), object: owner)
    }
  }

  private struct OrderedTriple: Hashable {
    let owner: UInt64
    let member: UInt64
    let position: UInt64
  }
}
