internal import ArborModel
internal import LMDB

/// Moves the members of to-many relationships when a store is migrated to another model.
///
/// A renamed relationship keeps its databases. Entries are copied, in time linear in their number,
/// only if several relationships are merged or one is split, for example by a change of the entity
/// hierarchy.
struct DatabaseMoves {
  typealias PartName = SchemaCatalog.PartName

  /// Entries that move to another database.
  struct Move: Hashable {
    let source: PartName
    let target: PartName
    /// The catalog numbers of the owners' entities.
    let owners: Set<UInt16>
    /// The catalog numbers of the entities that members may belong to.
    let members: Set<UInt16>

    func covers(_ owner: ObjectNumber, _ member: ObjectNumber) -> Bool {
      owners.contains(owner.entity) && members.contains(member.entity)
    }
  }

  private(set) var moves: [Move] = []
  /// The relationships of the older model whose databases are kept, by the corresponding
  /// relationship of the newer model.
  private(set) var carried: [PartName: PartName] = [:]
  private(set) var obstacles: [MigrationObstacle] = []
  private let old: ModelSchema
  private let new: ModelSchema
  private let evolution: [UInt16: CatalogEvolution.Entity]
  private let isReversal: Bool
  /// The current locations of the members of each relationship of the newer model, with the numbers
  /// of the owners' entities.
  private var contents: [PartName: [PartName: Set<UInt16>]] = [:]
  /// For each new relationship, by source: the numbers of the entities whose objects become members
  /// through that source, which stores the links of the entities' former inverse.
  private var contributors: [PartName: [PartName: Set<UInt16>]] = [:]

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

  // MARK: Locations

  private mutating func locate(_ entity: EntitySchema) {
    guard let former = old.entity(numbered: entity.number), !former.isAbstract else { return }
    for relationship in entity.relationships {
      let target = PartName(relationship, new)
      for source in sources(of: relationship, entity, former) {
        guard agrees(source, relationship) else {
          // A hidden relationship is reported by the name of its inverse.
          let back = new.inverse(of: relationship)
          refuse(
            relationship.isHidden ? new.entities[back.declaringEntity].name : entity.name,
            relationship.isHidden ? back.name : relationship.name,
            "its links would have to be stored in another layout")
          continue
        }
        contents[target, default: [:]][PartName(source, old), default: []].insert(entity.number)
      }
    }
  }

  /// Returns whether a relationship stores its links like a relationship of the older model.
  private func agrees(_ source: RelationshipSchema, _ relationship: RelationshipSchema) -> Bool {
    relationship.isToMany && source.storage == relationship.storage
      && source.isOrdered == relationship.isOrdered
  }

  /// Returns the relationships of the older model that an entity's links are read from, and records
  /// the entities that contribute to a new relationship. The result is empty for a former to-one
  /// relationship, whose links are in the entity's own records.
  private mutating func sources(
    of relationship: RelationshipSchema, _ entity: EntitySchema, _ former: EntitySchema
  ) -> [RelationshipSchema] {
    if let name = evolution[entity.number]?.relationships[relationship.name] {
      return relationship.isToMany ? former.relationships.filter { $0.name == name } : []
    }
    if !relationship.isToMany, relationship.description.isTransient { return [] }
    return counterparts(of: relationship, former).map { counterpart, members in
      let target = PartName(relationship, new)
      contributors[target, default: [:]][PartName(counterpart, old), default: []]
        .formUnion(members)
      return counterpart
    }
  }

  /// Returns the relationships of the older model that contain the links of a new relationship: the
  /// former inverses of its inverse.
  ///
  /// There are several if the inverse had several sources in the hierarchy.
  ///
  /// - Returns: The relationships, each with the numbers of the entities whose inverse has that
  ///   source.
  func counterparts(
    of relationship: RelationshipSchema, _ former: EntitySchema
  ) -> [(relationship: RelationshipSchema, members: Set<UInt16>)] {
    let inverse = new.inverse(of: relationship)
    guard !inverse.isHidden else { return [] }
    let destination = new.entities[relationship.destination]
    var found: [(relationship: RelationshipSchema, members: Set<UInt16>)] = []
    for index in [destination.index] + destination.concreteFamily {
      let owner = new.entities[index]
      guard let name = evolution[owner.number]?.relationships[inverse.name],
        let source = old.entity(numbered: owner.number)?.relationships.first(where: {
          $0.name == name
        }), source.description.isTransient == relationship.description.isTransient,
        let counterpart = former.own(old.inverse(of: source))
      else { continue }
      let place = PartName(counterpart, old)
      if let index = found.firstIndex(where: { PartName($0.relationship, old) == place }) {
        found[index].members.insert(owner.number)
      } else {
        found.append((counterpart, [owner.number]))
      }
    }
    return found
  }

  // MARK: Decisions

  private mutating func decide() {
    var uses: [PartName: Int] = [:]
    for source in contents.values.joined() { uses[source.key, default: 0] += 1 }
    for (target, sources) in contents {
      let all = members(of: target, new)
      let contributors = contributors[target] ?? [:]
      func accepted(_ source: PartName) -> Set<UInt16> {
        contributors[source].map(all.intersection) ?? all
      }
      // A kept database does not change, so that the migration can be reverted.
      let kept = sources.keys.first { source in
        let members = accepted(source)
        return sources.count == 1 && uses[source] == 1
          && remaining(old.entity(named: source.entity)) == sources[source]
          && self.members(of: source, old).allSatisfy {
            members.contains($0) || evolution[$0] == nil
          }
      }
      carried[target] = kept
      for (source, owners) in sources where source != kept {
        moves.append(
          Move(source: source, target: target, owners: owners, members: accepted(source)))
      }
    }
  }

  /// Returns the numbers of the entities that remain after the migration, out of an entity of the
  /// older model and its subentities.
  private func remaining(_ entity: EntitySchema?) -> Set<UInt16> {
    let numbers = entity?.concreteFamily.map { old.entities[$0].number } ?? []
    return Set(numbers.filter { evolution[$0] != nil })
  }

  /// Returns the numbers of the entities that members of a relationship may belong to.
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
          ? "which a reversal doesn't do. Keep the newer model, or export the data and import it "
            + "afterwards."
          : "which .lightweightOnly doesn't do. Set options.migration to .automatic."))
    if !obstacles.contains(obstacle) { obstacles.append(obstacle) }
  }

  // MARK: Copying

  /// Copies the entries that move.
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
        isOrdered ? OrderedMembers.pair($0).0 : source.members.numbers.number($0)
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
      guard
        move.covers(
          ObjectNumber(rawValue: found.integerKey), ObjectNumber(rawValue: member(found.value)))
      else { return }
      // These bytes are only valid until the next change.
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
