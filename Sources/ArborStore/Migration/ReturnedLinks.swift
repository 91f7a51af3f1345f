internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Restores the relationships that a migration dropped, when it is reverted despite later commits.
///
/// A link is restored if both of its ends still exist and contain it. Links of objects that were
/// deleted since are dropped, as are links in records that were written since, which no longer
/// contain them. A link that is missing at one end is removed from the other.
struct ReturnedLinks {
  let migration: LightweightMigration
  /// The former model, as the store kept it; the databases and layouts belong to it.
  let former: ModelSchema
  let databases: StoreDatabases
  let layouts: StoreLayouts
  private let limit = WorkLimit()

  private var schema: ModelSchema { migration.new }

  /// Restores all relationships.
  ///
  /// - Complexity: Linear in the number of objects of entities with restored to-one relationships
  ///   or inverses of them, and in the number of the other links.
  func restore(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    for entity in schema.concreteEntities {
      try forgetMissingTargets(of: entity, transaction)
    }
    for relationship in databases.relationships
    where migration.moves.carried[SchemaCatalog.PartName(relationship.schema, schema)] == nil {
      if relationship.schema.storage == .derived {
        try derive(relationship, transaction)
      } else if let order = relationship.order {
        try restore(relationship, order: order, transaction)
      } else {
        try restore(relationship, transaction)
      }
    }
  }

  // MARK: To-one relationships

  /// Returns the to-one relationships that are restored in the records of an entity.
  private func returnedReferences(of entity: EntitySchema) -> [RelationshipSchema] {
    let plan = migration.evolution.entities.first { $0.name == entity.name }
    return entity.relationships.filter { relationship in
      guard case .field = relationship.storage else { return false }
      return plan.map { $0.returned[relationship.name] != nil } ?? true
    }
  }

  /// Removes links from records if they are missing at the other end.
  private func forgetMissingTargets(
    of entity: EntitySchema, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let references = returnedReferences(of: entity)
    guard !references.isEmpty else { return }
    let records = databases.records(entity.index)
    var changed: [(number: ObjectNumber, fields: [RecordField])] = []
    let reader = transaction.reader
    let scan = RecordScan(entity: entity, records: records, layouts: layouts)
    try scan.forEach(reader, limit) { (number, record) throws(StoreError) in
      var fields: [RecordField] = []
      for relationship in references {
        guard let field = field(of: relationship, entity), let target = record.reference(field),
          try !leads(relationship, from: number, to: target, reader)
        else { continue }
        fields.append(field)
      }
      if !fields.isEmpty { changed.append((number, fields)) }
    }
    for (number, fields) in changed {
      try limit.checkStore()
      try rewrite(number, of: entity, without: fields, records, transaction)
    }
  }

  private func field(of relationship: RelationshipSchema, _ entity: EntitySchema) -> RecordField? {
    guard case .field(let index) = relationship.storage else { return nil }
    return entity.layout.fields[index]
  }

  /// Returns whether the target of a link exists and, if its end of the link is to-one, links back.
  private func leads(
    _ relationship: RelationshipSchema, from owner: ObjectNumber, to target: ObjectNumber,
    _ reader: TransactionReader
  ) throws(StoreError) -> Bool {
    guard let entity = schema.entity(of: target), !entity.isAbstract,
      schema.entities[relationship.destination].concreteFamily.contains(entity.index)
    else { return false }
    let inverse = schema.inverse(of: relationship)
    guard case .field(let index) = inverse.storage else { return try exists(target, reader) }
    return try reference(of: target, at: index, entity, reader) == owner
  }

  private func exists(_ number: ObjectNumber, _ reader: TransactionReader) throws(StoreError)
    -> Bool
  {
    guard let entity = schema.entity(of: number), !entity.isAbstract else { return false }
    let records = databases.records(entity.index)
    return try reader.storedRecord(number, in: records) != nil
  }

  /// Returns the target of an object's to-one relationship, or `nil` if the relationship is empty
  /// or the object does not exist.
  private func reference(
    of number: ObjectNumber, at index: Int, _ entity: EntitySchema, _ reader: TransactionReader
  ) throws(StoreError) -> ObjectNumber? {
    let (records, allocator) = (databases.records(entity.index), SlabAllocator(slabSize: 4 << 10))
    let record = try reader.record(number, of: entity, in: records, layouts, allocator)
    return withExtendedLifetime(allocator) { record?.reference(entity.layout.fields[index]) }
  }

  private func rewrite(
    _ number: ObjectNumber, of entity: EntitySchema, without fields: [RecordField],
    _ records: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let allocator = SlabAllocator(slabSize: 4 << 10, keepsSlabs: true)
    let record = try transaction.reader.record(number, of: entity, in: records, layouts, allocator)
    guard let record else { return }
    var buffer = RecordBuffer(copying: record.bytes, into: allocator)
    for field in fields { buffer.setNull(field) }
    try transaction.put(buffer.view, of: number, entity, in: records)
  }

  // MARK: To-many relationships

  /// Rebuilds the members of a derived relationship from the records.
  private func derive(
    _ relationship: StoreDatabases.Relationship, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let inverse = schema.inverse(of: relationship.schema)
    let maintainer = RelationshipMaintainer(relationship)
    for entityIndex in schema.entities[inverse.declaringEntity].concreteFamily {
      let entity = schema.entities[entityIndex]
      let scan = RecordScan(
        entity: entity, records: databases.records(entity.index), layouts: layouts)
      guard let field = field(of: entity.relationships[inverse.slot], entity) else { continue }
      try scan.forEach(transaction.reader, limit) { (number, record) throws(StoreError) in
        guard let target = record.reference(field) else { return }
        maintainer.collect(target, number, isRemoval: false)
      }
    }
    try write(maintainer, transaction)
  }

  private func write(
    _ maintainer: RelationshipMaintainer, clearing: Bool = true,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    maintainer.sort()
    try storing { () throws(LMDBError) in
      if clearing { try transaction.clear(maintainer.relationship.members) }
      try maintainer.apply(transaction)
    }
  }

  /// Copies the links of an unordered relationship.
  private func restore(
    _ relationship: StoreDatabases.Relationship, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let maintainer = RelationshipMaintainer(relationship)
    let moves = moves(to: relationship)
    try eachEntry(of: relationship, isOrder: false, transaction) {
      (owner, value) throws(StoreError) in
      let member = ObjectNumber(rawValue: relationship.members.numbers.number(value))
      if !moves.contains(where: { $0.covers(owner, member) }),
        try isLink(relationship.schema, owner, member, transaction.reader)
      {
        maintainer.collect(owner, member, isRemoval: false)
      }
    }
    try write(maintainer, clearing: moves.isEmpty, transaction)
  }

  /// Returns the moves that have already restored links of a relationship.
  private func moves(to relationship: StoreDatabases.Relationship) -> [DatabaseMoves.Move] {
    let name = SchemaCatalog.PartName(relationship.schema, schema)
    return migration.moves.moves.filter { $0.target == name }
  }

  /// Copies the links of an ordered relationship, with their positions.
  private func restore(
    _ relationship: StoreDatabases.Relationship, order: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    var links: [(owner: ObjectNumber, position: UInt64, member: UInt64)] = []
    let moves = moves(to: relationship)
    try eachEntry(of: relationship, isOrder: true, transaction) {
      (owner, value) throws(StoreError) in
      let (position, member) = OrderedMembers.pair(value)
      let target = ObjectNumber(rawValue: member)
      if !moves.contains(where: { $0.covers(owner, target) }),
        try isLink(relationship.schema, owner, target, transaction.reader)
      {
        links.append((owner, position, member))
      }
    }
    try storing { () throws(LMDBError) in
      if moves.isEmpty {
        try transaction.clear(relationship.members)
        try transaction.clear(order)
      }
      for link in links {
        try OrderedMembers.change(
          relationship.members, order, link.owner.rawValue, link.member, link.position
        ) { (database, key, value) throws(LMDBError) in
          _ = try transaction.put(database, key: key, value: value, .noDuplicate)
        }
      }
    }
  }

  /// Returns whether both ends of a link exist and, if a member can have only one owner, its owner
  /// is this one.
  private func isLink(
    _ relationship: RelationshipSchema, _ owner: ObjectNumber, _ member: ObjectNumber,
    _ reader: TransactionReader
  ) throws(StoreError) -> Bool {
    guard try exists(owner, reader) else { return false }
    return try leads(relationship, from: owner, to: member, reader)
  }

  /// Calls `body` with the preserved entries of a relationship.
  private func eachEntry(
    of relationship: StoreDatabases.Relationship, isOrder: Bool,
    _ transaction: borrowing WriteTransaction,
    _ body: (ObjectNumber, UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let name = SchemaCatalog.PartName(relationship.schema, schema)
    let owner = former.entity(named: name.entity)
    let source = owner?.relationships.first {
      $0.name == name.name && $0.declaringEntity == owner?.index
    }
    guard let stored = source.map(former.storedName) else { return }
    // A database that the newer model continued to use has no former links. Moves have copied its
    // contents.
    let isInUse = migration.old.entities.contains { entity in
      entity.relationships.contains { migration.old.storedName(of: $0) == stored }
    }
    if isInUse, !moves(to: relationship).isEmpty { return }
    let database =
      isOrder ? StoreFormat.orderDatabase(stored) : StoreFormat.relationshipDatabase(stored)
    let opened = try storing(transaction.createDatabase(database, StoreFormat.relationshipFlags))
    try transaction.reader.forEachEntry(of: opened, limit) { (found) throws(StoreError) in
      try body(ObjectNumber(rawValue: found.integerKey), found.value)
    }
  }
}
