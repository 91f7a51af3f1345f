internal import ArborModel
internal import LMDB

/// What becomes of the databases of a store that is brought to another model, indexes aside.
///
/// Databases are named after entities and relationships, and the engine renames none: what has
/// another name now is copied, in time in proportion to its entries. Everything else stays where it
/// is, is made, or goes.
struct DatabaseMoves {
  /// Entries that come to lie elsewhere.
  struct Move: Hashable {
    let source: String
    let target: String
    /// The catalogue numbers of the entities whose objects' entries are meant, where they are by
    /// owner; nil for all.
    let owners: Set<UInt16>?
  }

  private(set) var moves: [Move] = []
  /// Databases whose names come to mean something else.
  private(set) var cleared: Set<String> = []
  /// Databases that nothing has the name of any more, indexes included.
  let dropped: [String]
  private(set) var obstacles: [MigrationObstacle] = []
  private let old: ModelSchema
  private let new: ModelSchema
  private let evolution: [UInt16: CatalogEvolution.Entity]
  /// By the name of a database: where its entries are now, by the numbers of their owners.
  private var contents: [String: [String: Set<UInt16>]] = [:]

  init(from old: ModelSchema, to new: ModelSchema, _ evolution: CatalogEvolution) {
    self.old = old
    self.new = new
    self.evolution = Dictionary(uniqueKeysWithValues: evolution.entities.map { ($0.number, $0) })
    let before = Dictionary(
      uniqueKeysWithValues: StoreDatabases.list(old).map { ($0.name, $0.flags) })
    let after = StoreDatabases.list(new)
    dropped = Set(before.keys).subtracting(after.map(\.name)).sorted()
    for entity in new.entities where !entity.isAbstract { locate(entity) }
    decide(before, after)
  }

  // MARK: Where things are

  private mutating func locate(_ entity: EntitySchema) {
    guard let former = old.entities.first(where: { $0.number == entity.number }),
      !former.isAbstract
    else { return }
    func place(_ name: (String) -> String) {
      contents[name(entity.name), default: [:]][name(former.name)] = [entity.number]
    }
    place(StoreFormat.recordDatabase)
    if entity.keepsBlobs, former.keepsBlobs { place(StoreFormat.blobDatabase) }
    for relationship in entity.relationships where relationship.isToMany {
      guard let source = source(of: relationship, entity, former) else { continue }
      let owner = new.entities[relationship.declaringEntity].name
      let formerOwner = old.entities[source.declaringEntity].name
      func place(_ name: (String, String) -> String) {
        contents[name(owner, relationship.name), default: [:]][
          name(formerOwner, source.name), default: []
        ].insert(entity.number)
      }
      place(StoreFormat.relationshipDatabase)
      if relationship.isOrdered { place(StoreFormat.orderDatabase) }
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
      refuse(
        entity.name, relationship.isHidden ? new.inverse(of: relationship).name : relationship.name,
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

  private mutating func decide(
    _ before: [String: DatabaseFlags], _ after: [(name: String, flags: DatabaseFlags)]
  ) {
    for (name, flags) in after where contents[name] != nil || before[name] != nil {
      guard !StoreFormat.isShared(name) else { continue }
      let sources = contents[name] ?? [:]
      for (source, owners) in sources where source != name {
        moves.append(
          Move(source: source, target: name, owners: StoreFormat.isByOwner(name) ? owners : nil))
      }
      if let former = before[name], sources[name] == nil {
        cleared.insert(name)
        if former != flags { refuseName(name) }
      }
    }
    let needed = Set(moves.map(\.source))
    for name in cleared.intersection(needed).sorted() { refuseName(name) }
    moves.sort { ($0.target, $0.source) < ($1.target, $1.source) }
  }

  private mutating func refuseName(_ name: String) {
    let parts = name.split(separator: "/").map(String.init)
    refuse(
      parts.count > 1 ? parts[1] : name, parts.count > 2 ? parts[2] : nil,
      "it takes the name of something else that is renamed or goes")
  }

  private mutating func refuse(_ entity: String, _ property: String?, _ reason: String) {
    let subject = ModelDifference.Subject(entity, property)
    let obstacle = MigrationObstacle(
      entity: entity, property: property,
      message: "\(subject): \(reason); leave it as it was, or carry the data over by an export.")
    if !obstacles.contains(obstacle) { obstacles.append(obstacle) }
  }

  // MARK: Doing

  /// Clears and fills databases.
  ///
  /// - Parameters:
  ///   - former: The databases of the older model, by name.
  ///   - present: Those of the newer one, which exist.
  func perform(
    from former: [String: Database], to present: [String: Database],
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let limit = WorkLimit()
    for name in cleared.sorted() {
      guard let database = present[name] else { continue }
      try storing { () throws(LMDBError) in try transaction.clear(database) }
    }
    for move in moves {
      guard let source = former[move.source], let target = present[move.target] else { continue }
      try copy(source, target, move.owners, transaction, limit)
    }
  }

  private func copy(
    _ source: Database, _ target: Database, _ owners: Set<UInt16>?,
    _ transaction: borrowing WriteTransaction, _ limit: WorkLimit
  ) throws(StoreError) {
    let mode: PutMode = source.flags.contains(.duplicates) ? .noDuplicate : .overwrite
    let cursor = try storing { () throws(LMDBError) in try transaction.reader.cursor(source) }
    var entry = try storing { () throws(LMDBError) in try cursor.first() }
    while let found = entry {
      try limit.checkStore()
      if owners?.contains(ObjectNumber(rawValue: found.integerKey).entity) ?? true {
        // The engine lends these bytes until the next change only.
        let (key, value) = (Array(found.key), Array(found.value))
        try storing { () throws(LMDBError) in
          try transaction.put(target, key: key, value: value, mode)
        }
      }
      entry = try storing { () throws(LMDBError) in try cursor.next() }
    }
  }
}

extension StoreFormat {
  /// Whether a database is of the store as a whole or of an index, which are not moved.
  fileprivate static func isShared(_ name: String) -> Bool {
    name == arborDatabase || name == historyDatabase || name.hasPrefix("i/")
  }

  /// Whether the keys of a database are the numbers of the objects that its entries belong to.
  fileprivate static func isByOwner(_ name: String) -> Bool {
    name.hasPrefix("r/") || name.hasPrefix("o/")
  }
}
