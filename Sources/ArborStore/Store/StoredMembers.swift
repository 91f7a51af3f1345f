internal import ArborModel
internal import LMDB

/// The members of to-many relationships as one transaction knows them.
struct StoredMembers {
  let store: StoreEngine
  let reader: TransactionReader

  /// The members of an owner: in their order where the relationship is ordered, else ascending.
  func members(
    _ relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(LMDBError) -> [ObjectNumber] {
    guard let found = databases(of: relationship, owner) else { return [] }
    if let order = found.order {
      return try OrderedMembers.read(reader, order, owner).map(\.member)
    }
    var members: [ObjectNumber] = []
    let cursor = try reader.cursor(found.members)
    var batch = try cursor.firstBatch(owner.rawValue)
    while let values = batch {
      members.reserveCapacity(members.count + values.count / 8)
      for raw in WholeValues(values, as: UInt64.self) {
        members.append(ObjectNumber(rawValue: raw))
      }
      batch = try cursor.nextBatch()
    }
    return members
  }

  /// The number of members; costs no scan.
  func count(
    _ relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(LMDBError) -> Int {
    guard let found = databases(of: relationship, owner) else { return 0 }
    let cursor = try reader.cursor(found.members)
    guard try cursor.seekExact(owner.rawValue) != nil else { return 0 }
    return try cursor.valueCount()
  }

  /// Whether an object is a member. Logarithmic.
  func contains(
    _ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(LMDBError) -> Bool {
    guard let found = databases(of: relationship, owner) else { return false }
    if found.order != nil {
      return try OrderedMembers.position(reader, found.members, owner, member) != nil
    }
    let cursor = try reader.cursor(found.members)
    return try cursor.seekExact(owner.rawValue, value: member.rawValue) != nil
  }

  /// Where a relationship of an owner is kept; nil for one that is to-one.
  func databases(
    of relationship: RelationshipSchema, _ owner: ObjectNumber
  ) -> StoreDatabases.Relationship? {
    let databases = store.databases
    guard let entity = store.schema.entity(of: owner), let own = entity.own(relationship),
      let relationshipIndex = databases.relationshipIndex(entity: entity.index, slot: own.slot)
    else { return nil }
    return databases.relationships[relationshipIndex]
  }
}
