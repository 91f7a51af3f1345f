internal import ArborModel
internal import LMDB

/// What becomes of the members of to-many relationships as a store is brought to another model.
///
/// A relationship keeps its databases under whatever name it has. Only where it comes from several,
/// or several come from it, as in another hierarchy, entries are copied, in time in proportion to
/// their number.
struct DatabaseMoves {
  typealias PartName = SchemaCatalog.PartName

  /// Entries that come to lie elsewhere.
  struct Move: Hashable {
    let source: PartName
    let target: PartName
    /// The catalogue numbers of the entities whose objects' entries are meant.
    let owners: Set<UInt16>
    /// Those of the entities that members may be of.
    let members: Set<UInt16>
  }

  private(set) var moves: [Move] = []
  /// For relationships of the newer model those of the older one whose databases they keep.
  private(set) var carried: [PartName: PartName] = [:]
  private(set) var obstacles: [MigrationObstacle] = []
  private let old: ModelSchema
  private let new: ModelSchema
  private let evolution: [UInt16: CatalogEvolution.Entity]
  private let isReversal: Bool
  /// By relationship of the newer model: where its members are now, by the numbers of their owners.
  private var contents: [PartName: [PartName: Set<UInt16>]] = [:]

  init(
    from old: ModelSchema, to new: ModelSchema, _ evolution: CatalogEvolution,
    isReversal: Bool = false
  ) {
    self.isReversal = isReversal
    self.old = old
    self.new = new
    self.evolution = Dictionary(uniqueKeysWithValues: evolution.entities.map { ($0.number, $0) })
    for entity in new.concreteEntities { locate(entity) }
    decide()
  }

  // MARK: Where things are

  private mutating func locate(_ entity: EntitySchema) {
    guard let former = old.entity(numbered: entity.number), !former.isAbstract else { return }
    for relationship in entity.relationships {
      let target = PartName(relationship, new)
      for source in sources(of: relationship, entity, former) {
        guard agrees(source, relationship) else {
          // Of one that the model does not name, it is the one that leads here that is meant.
          let back = new.inverse(of: relationship)
          refuse(
            relationship.isHidden ? new.entities[back.declaringEntity].name : entity.name,
            relationship.isHidden ? back.name : relationship.name,
            "its links would have to be laid out anew")
          continue
        }
        contents[target, default: [:]][PartName(source, old), default: []].insert(entity.number)
      }
    }
  }

  /// Whether a relationship has its links where another one of the older model has them.
  private func agrees(_ source: RelationshipSchema, _ relationship: RelationshipSchema) -> Bool {
    relationship.isToMany && source.storage == relationship.storage
      && source.isOrdered == relationship.isOrdered
  }

  /// The relationships of the older model that have an entity's links, if they are in databases or
  /// have to be found from their other side.
  private func sources(
    of relationship: RelationshipSchema, _ entity: EntitySchema, _ former: EntitySchema
  ) -> [RelationshipSchema] {
    if let name = evolution[entity.number]?.relationships[relationship.name] {
      return relationship.isToMany ? former.relationships.filter { $0.name == name } : []
    }
    if !relationship.isToMany, relationship.description.isTransient { return [] }
    return counterparts(of: relationship, former)
  }

  /// The relationships of the older model by which an entity's objects have the links of one that
  /// only the newer model has: those that led back from what was the relationship back.
  ///
  /// There are several if the relationship back had several sources in the hierarchy.
  func counterparts(
    of relationship: RelationshipSchema, _ former: EntitySchema
  ) -> [RelationshipSchema] {
    let inverse = new.inverse(of: relationship)
    guard !inverse.isHidden else { return [] }
    let destination = new.entities[relationship.destination]
    var found: [RelationshipSchema] = []
    for index in [destination.index] + destination.concreteFamily {
      let owner = new.entities[index]
      guard let name = evolution[owner.number]?.relationships[inverse.name],
        let source = old.entity(numbered: owner.number)?.relationships.first(where: {
          $0.name == name
        }), source.description.isTransient == relationship.description.isTransient,
        let counterpart = former.own(old.inverse(of: source)),
        !found.contains(where: { PartName($0, old) == PartName(counterpart, old) })
      else { continue }
      found.append(counterpart)
    }
    return found
  }

  // MARK: What to do

  private mutating func decide() {
    var uses: [PartName: Int] = [:]
    for source in contents.values.joined() { uses[source.key, default: 0] += 1 }
    for (target, sources) in contents {
      let members = members(of: target, new)
      // What is kept stays as it is, so that there is a way back.
      let kept = sources.keys.first {
        sources.count == 1 && uses[$0] == 1
          && remaining(old.entity(named: $0.entity)) == sources[$0]
          && self.members(of: $0, old).allSatisfy { members.contains($0) || evolution[$0] == nil }
      }
      carried[target] = kept
      for (source, owners) in sources where source != kept {
        moves.append(Move(source: source, target: target, owners: owners, members: members))
      }
    }
  }

  /// The numbers of the entities that inherit from one of the older model and are still there.
  private func remaining(_ entity: EntitySchema?) -> Set<UInt16> {
    let numbers = entity?.concreteFamily.map { old.entities[$0].number } ?? []
    return Set(numbers.filter { evolution[$0] != nil })
  }

  /// The numbers of the entities that members of a relationship may be of.
  private func members(of name: PartName, _ schema: ModelSchema) -> Set<UInt16> {
    let relationship = schema.entity(named: name.entity)?.relationships.first {
      $0.name == name.name
    }
    guard let relationship else { return [] }
    let family = schema.entities[relationship.destination].concreteFamily
    return Set(family.map { schema.entities[$0].number })
  }

  private mutating func refuse(_ entity: String, _ property: String?, _ reason: String) {
    let subject = ModelDifference.Subject(entity, property)
    let obstacle = MigrationObstacle(
      entity: entity, property: property,
      message: "\(subject): \(reason), "
        + (isReversal
          ? "which the way back does not do; go on with the newer model, or carry the data over by "
            + "an export."
          : "which .lightweightOnly does not do; let options.migration be .automatic."))
    if !obstacles.contains(obstacle) { obstacles.append(obstacle) }
  }

  // MARK: Doing

  /// Copies what has to lie elsewhere.
  func perform(
    from former: StoreDatabases, to present: StoreDatabases, in schema: ModelSchema,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let limit = WorkLimit()
    for move in moves {
      guard let source = former.relationship(move.source, old),
        let target = present.relationship(move.target, schema)
      else { continue }
      let isOrdered = source.order != nil
      try copy(source.members, target.members, move, transaction, limit) {
        isOrdered ? OrderedMembers.pair($0).0 : $0.loadUnaligned(as: UInt64.self)
      }
      if let order = source.order, let positions = target.order {
        try copy(order, positions, move, transaction, limit) { OrderedMembers.pair($0).1 }
      }
    }
  }

  private func copy(
    _ source: Database, _ target: Database, _ move: Move,
    _ transaction: borrowing WriteTransaction, _ limit: WorkLimit,
    member: (UnsafeRawBufferPointer) -> UInt64
  ) throws(StoreError) {
    try transaction.reader.forEachEntry(of: source, limit) { (found) throws(StoreError) in
      guard move.owners.contains(ObjectNumber(rawValue: found.integerKey).entity),
        move.members.contains(ObjectNumber(rawValue: member(found.value)).entity)
      else { return }
      // The engine lends these bytes until the next change only.
      let (key, value) = (Array(found.key), Array(found.value))
      try storing { () throws(LMDBError) in
        _ = try transaction.put(target, key: key, value: value, .noDuplicate)
      }
    }
  }
}

extension SchemaCatalog.PartName {
  init(_ relationship: RelationshipSchema, _ schema: ModelSchema) {
    self.init(schema.entities[relationship.declaringEntity].name, relationship.name)
  }
}

extension StoreDatabases {
  fileprivate func relationship(
    _ name: SchemaCatalog.PartName, _ schema: ModelSchema
  ) -> Relationship? {
    guard let entity = schema.entity(named: name.entity) else { return nil }
    return relationships.first {
      $0.schema.declaringEntity == entity.index && $0.schema.name == name.name
    }
  }
}
