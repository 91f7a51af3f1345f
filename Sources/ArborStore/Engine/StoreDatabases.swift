package import ArborModel
package import LMDB

/// The open databases of a store, by entity, index and relationship.
package final class StoreDatabases: Sendable {
  /// An index, shared by all entities it covers.
  package struct Index: Sendable {
    package let schema: IndexSchema
    package let database: Database
  }

  /// The databases of a to-many relationship, shared by all entities that inherit it.
  package struct Relationship: Sendable {
    /// The relationship in the declaring entity. Inheriting entities use the same slot.
    package let schema: RelationshipSchema
    /// The database that maps owners to members.
    package let members: Database
    /// The database that maps owners to members in order, or `nil` for an unordered relationship.
    package let order: Database?
  }

  package let arbor: Database
  package let history: Database
  /// All indexes. The position of an index is its store-wide number.
  package let indexes: [Index]
  /// All to-many relationships. The position of a relationship is its store-wide number.
  package let relationships: [Relationship]
  private let recordDatabases: [Database?]
  private let blobDatabases: [Database?]
  /// The numbers of the indexes that cover each entity, one entity after the other.
  private let indexNumbers: [Int]
  /// The range of each entity's numbers in ``indexNumbers``.
  private let indexRanges: [Range<Int>]
  private let relationshipIndexes: [[Int]]

  /// Returns the database of a concrete entity's records, by the entity's index in the schema.
  ///
  /// - Precondition: The entity is not abstract.
  @inline(__always)
  package func records(_ entity: Int) -> Database {
    guard let database = recordDatabases[entity] else {
      stopProgram("An abstract entity has no records. Use its concrete subentities.")
    }
    return database
  }

  /// Returns the database of a concrete entity's large binaries, by the entity's index in the
  /// schema, or `nil` if none of its attributes has external storage.
  package func blobs(_ entity: Int) -> Database? { blobDatabases[entity] }

  package func index(_ declaringEntity: Int, _ name: String) -> Database? {
    indexes.first { $0.schema.declaringEntity == declaringEntity && $0.schema.name == name }?
      .database
  }

  package func relationship(_ declaringEntity: Int, _ name: String) -> Database? {
    relationships.first {
      $0.schema.declaringEntity == declaringEntity && $0.schema.name == name
    }?.members
  }

  /// Returns the numbers of the indexes that cover an entity, in the order of its schema.
  package func indexNumbers(of entity: Int) -> ArraySlice<Int> { indexNumbers[indexRanges[entity]] }

  /// Returns the number of an index, by its position among those that cover an entity.
  @inline(__always)
  func indexNumber(_ position: Int, of entity: Int) -> Int {
    assert(position < indexRanges[entity].count)
    return indexNumbers[indexRanges[entity].lowerBound + position]
  }

  /// Returns the number of a relationship, or `nil` if it is to-one.
  @inline(__always)
  package func relationshipIndex(entity: Int, slot: Int) -> Int? {
    let relationshipIndex = relationshipIndexes[entity][slot]
    return relationshipIndex < 0 ? nil : relationshipIndex
  }

  /// All databases, each with the size of its values if that is fixed.
  var valueSizes: [(database: Database, size: Int?)] {
    var all: [(database: Database, size: Int?)] = [(arbor, nil), (history, nil)]
    all += recordDatabases.compactMap { $0.map { ($0, nil) } }
    all += indexes.map { ($0.database, $0.database.numbers.size) }
    for relationship in relationships {
      guard let order = relationship.order else {
        all.append((relationship.members, relationship.members.numbers.size))
        continue
      }
      all.append((relationship.members, OrderedMembers.valueSize))
      all.append((order, OrderedMembers.valueSize))
    }
    return all + blobDatabases.compactMap { $0.map { ($0, nil) } }
  }

  // MARK: Creating

  /// Returns the names and flags of a schema's databases.
  package static func list(_ schema: ModelSchema) -> [(name: String, flags: DatabaseFlags)] {
    let plan = Plan(schema)
    var list = [
      (name: StoreFormat.arborDatabase, flags: StoreFormat.arborFlags),
      (name: StoreFormat.historyDatabase, flags: StoreFormat.historyFlags),
    ]
    for entity in schema.entities where !entity.isAbstract {
      list.append(
        (StoreFormat.recordDatabase(schema.storedName(of: entity)), StoreFormat.recordFlags))
    }
    for index in plan.indexes {
      list.append((StoreFormat.indexDatabase(schema.storedName(of: index)), StoreFormat.indexFlags))
    }
    for relationship in plan.relationships {
      let stored = schema.storedName(of: relationship)
      list.append(
        (StoreFormat.relationshipDatabase(stored), StoreFormat.relationshipFlags))
      guard relationship.isOrdered else { continue }
      list.append((StoreFormat.orderDatabase(stored), StoreFormat.relationshipFlags))
    }
    return list
      + schema.entities.filter(\.keepsBlobs).map {
        (name: StoreFormat.blobDatabase(schema.storedName(of: $0)), flags: StoreFormat.blobFlags)
      }
  }

  /// Returns the names that databases would have if they were created under the model's current
  /// names, keyed by their actual names. Contains only databases for which the two differ.
  ///
  /// - Throws: The same errors as compiling the model.
  package static func presentNames(_ schema: ModelSchema) throws(ArborError) -> [String: String] {
    let anew = try ModelSchema(schema.model, catalog: SchemaCatalog(numbering: schema.model))
    let pairs = zip(list(schema), list(anew)).lazy.map { ($0.name, $1.name) }
    return Dictionary(pairs.filter { $0.0 != $0.1 }, uniquingKeysWith: { first, _ in first })
  }

  /// - Parameter opened: The databases of ``list(_:)``, in its order.
  package init(_ schema: ModelSchema, opened: [Database]) {
    let plan = Plan(schema)
    arbor = opened[0]
    history = opened[1]
    var next = 2
    func take() -> Database {
      defer { next += 1 }
      return opened[next]
    }
    recordDatabases = schema.entities.map { $0.isAbstract ? nil : take() }
    indexes = plan.indexes.map {
      Index(schema: $0, database: take().storing(schema.numberForm(of: $0)))
    }
    relationships = plan.relationships.map { relationship in
      Relationship(
        schema: relationship, members: take(), order: relationship.isOrdered ? take() : nil)
    }
    blobDatabases = schema.entities.map { entity in
      entity.keepsBlobs ? take() : nil
    }
    indexNumbers = plan.indexNumbers.flatMap { $0 }
    var end = 0
    indexRanges = plan.indexNumbers.map { numbers in
      defer { end += numbers.count }
      return end..<end + numbers.count
    }
    relationshipIndexes = plan.relationshipIndexes
  }

  /// The indexes and relationships of a schema, and the entities that share them.
  private struct Plan {
    var indexes: [IndexSchema] = []
    var relationships: [RelationshipSchema] = []
    var indexNumbers: [[Int]] = []
    var relationshipIndexes: [[Int]] = []

    init(_ schema: ModelSchema) {
      // Keyed by database name: the first use of a dictionary with another key type costs a runtime
      // lookup, which is noticeable when a store is opened.
      var knownNumbers: [String: Int] = [:]
      for entity in schema.entities {
        indexNumbers.append(
          entity.indexes.map { index in
            let name = StoreFormat.indexDatabase(schema.storedName(of: index))
            if let relationshipIndex = knownNumbers[name] { return relationshipIndex }
            knownNumbers[name] = indexes.count
            indexes.append(index)
            return indexes.count - 1
          })
        relationshipIndexes.append(
          entity.relationships.map { relationship in
            guard relationship.isToMany else { return -1 }
            let name = StoreFormat.relationshipDatabase(schema.storedName(of: relationship))
            if let relationshipIndex = knownNumbers[name] { return relationshipIndex }
            knownNumbers[name] = relationships.count
            relationships.append(relationship)
            return relationships.count - 1
          })
      }
    }
  }
}

extension ModelSchema {
  /// Returns the form of the object numbers in an index, which may be shared by several entities. All
  /// relationships have the wide form: a subentity that is added to their destination must not
  /// require rewriting them, as it does indexes.
  func numberForm(of index: IndexSchema) -> NumberForm {
    let family = entities[index.declaringEntity].concreteFamily
    return family.count == 1 ? .narrow(prefix: entities[family[0]].number) : .wide
  }
}

extension EntitySchema {
  /// Whether binary values of the entity may be stored outside its records.
  package var keepsBlobs: Bool { !isAbstract && !layout.externalFields.isEmpty }
}

extension TransactionReader {
  /// Returns an entry of the `arbor` database.
  ///
  /// - Throws: `corrupted` if the entry doesn't exist.
  func entry(_ key: String, in arbor: Database) throws(StoreError) -> UnsafeRawBufferPointer {
    guard let bytes = try entryIfPresent(key, in: arbor) else {
      throw .corrupted(what: "The entry \"\(key)\" is missing.")
    }
    return bytes
  }

  /// Returns an entry of the `arbor` database, or `nil` if it doesn't exist.
  func entryIfPresent(
    _ key: String, in arbor: Database
  ) throws(StoreError) -> UnsafeRawBufferPointer? {
    try storing(get(arbor, key: Array(key.utf8)))
  }
}
