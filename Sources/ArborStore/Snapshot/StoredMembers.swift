internal import ArborModel
internal import LMDB

/// The members of to-many relationships in one transaction.
struct StoredMembers {
  let store: StoreEngine
  let reader: TransactionReader

  /// Returns the members of an owner. Those of an ordered relationship are in order; otherwise they
  /// are ascending.
  func members(
    _ relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(LMDBError) -> [ObjectNumber] {
    try databases(of: relationship, owner)?.members(of: owner, reader) ?? []
  }

  /// Returns the number of members without a scan.
  func count(
    _ relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(LMDBError) -> Int {
    guard let found = databases(of: relationship, owner) else { return 0 }
    let cursor = try reader.cursor(found.members)
    guard try cursor.seekExact(owner.rawValue) != nil else { return 0 }
    return try cursor.valueCount()
  }

  /// Returns whether an object is a member.
  ///
  /// - Complexity: Logarithmic.
  func contains(
    _ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(LMDBError) -> Bool {
    try databases(of: relationship, owner)?.contains(member, of: owner, reader) ?? false
  }

  /// Returns the databases of an owner's relationship, or `nil` if it is to-one.
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

extension StoreDatabases.Relationship {
  /// Returns the members of an owner. Those of an ordered relationship are in order; otherwise they
  /// are ascending.
  func members(
    of owner: ObjectNumber, _ reader: TransactionReader
  ) throws(LMDBError) -> [ObjectNumber] {
    if let order { return try OrderedMembers.read(reader, order, owner).map(\.member) }
    var numbers: [ObjectNumber] = []
    let cursor = try reader.cursor(members)
    var batch = try cursor.firstNumbers(owner.rawValue)
    while let found = batch {
      numbers.reserveCapacity(numbers.count + found.count)
      for number in found { numbers.append(ObjectNumber(rawValue: number)) }
      batch = try cursor.nextNumbers()
    }
    return numbers
  }

  /// Returns whether an object is a member of an owner.
  ///
  /// - Complexity: Logarithmic.
  func contains(
    _ member: ObjectNumber, of owner: ObjectNumber, _ reader: TransactionReader
  ) throws(LMDBError) -> Bool {
    if order != nil { return try OrderedMembers.position(reader, members, owner, member) != nil }
    return try reader.cursor(members).seekExact(owner.rawValue, number: member.rawValue) != nil
  }
}
