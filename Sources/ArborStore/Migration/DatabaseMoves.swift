internal import ArborModel

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
    for entity in new.entities where !entity.isAbstract { locate(entity) }
    decide()
  }

  // MARK: Where things are

  private mutating func locate(_ entity: EntitySchema) {
    guard let former = old.entities.first(where: { $0.number == entity.number }), !former.isAbstract
    else { return }
    for relationship in entity.relationships where relationship.isToMany {
      guard let source = source(of: relationship, entity, former) else { continue }
      let target = PartName(relationship, new)
      contents[target, default: [:]][PartName(source, old), default: []].insert(entity.number)
    }
  }

  /// The relationship of the older model that has an entity's links.
  private mutating func source(
    of relationship: RelationshipSchema, _ entity: EntitySchema, _ former: EntitySchema
  ) -> RelationshipSchema? {
    var source: RelationshipSchema?
    if let name = evolution[entity.number]?.relationships[relationship.name] {
      source = former.relationships.first { $0.name == name }
    } else {
      source = counterpart(of: relationship).flatMap(former.own)
    }
    guard let source else { return nil }
    if source.storage != relationship.storage || source.isOrdered != relationship.isOrdered {
      // Of one that the model does not name, it is the one that leads here that is meant.
      let back = new.inverse(of: relationship)
      refuse(
        relationship.isHidden ? new.entities[back.declaringEntity].name : entity.name,
        relationship.isHidden ? back.name : relationship.name,
        "its links would have to be laid out anew")
      return nil
    }
    return source
  }

  /// What leads back from what was the relationship back.
  private func counterpart(of relationship: RelationshipSchema) -> RelationshipSchema? {
    let inverse = new.inverse(of: relationship)
    let destination = new.entities[relationship.destination]
    guard !inverse.isHidden, let name = evolution[destination.number]?.relationships[inverse.name],
      let former = old.entities.first(where: { $0.number == destination.number }),
      let source = former.relationships.first(where: { $0.name == name })
    else { return nil }
    return old.inverse(of: source)
  }

  // MARK: What to do

  private mutating func decide() {
    var uses: [PartName: Int] = [:]
    for source in contents.values.joined() { uses[source.key, default: 0] += 1 }
    for (target, sources) in contents {
      // What is kept stays as it is, so that there is a way back.
      let kept = sources.keys.first {
        sources.count == 1 && uses[$0] == 1 && owners(of: $0) == sources[$0]
      }
      carried[target] = kept
      for (source, owners) in sources where source != kept {
        moves.append(Move(source: source, target: target, owners: owners))
      }
    }
  }

  /// The numbers of the entities that had a relationship and are still there.
  private func owners(of name: PartName) -> Set<UInt16> {
    guard let entity = old.entity(named: name.entity) else { return [] }
    let numbers = entity.concreteFamily.lazy.map { old.entities[$0].number }
    return Set(numbers.filter { evolution[$0] != nil })
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
    _ transaction: borrowing EngineWriter
  ) throws(StoreError) {
    let limit = WorkLimit()
    for move in moves {
      guard let source = former.relationship(move.source, old),
        let target = present.relationship(move.target, schema)
      else { continue }
      try copy(source.members, target.members, move.owners, transaction, limit)
      if let order = source.order, let positions = target.order {
        try copy(order, positions, move.owners, transaction, limit)
      }
    }
  }

  private func copy(
    _ source: EngineDatabase, _ target: EngineDatabase, _ owners: Set<UInt16>,
    _ transaction: borrowing EngineWriter, _ limit: WorkLimit
  ) throws(StoreError) {
    try transaction.reader.forEachEntry(of: source, limit) { (found) throws(StoreError) in
      guard owners.contains(ObjectNumber(rawValue: found.integerKey).entity) else { return }
      // The engine lends these bytes until the next change only.
      let (key, value) = (Array(found.key), Array(found.value))
      try storing { () throws(EngineError) in
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
