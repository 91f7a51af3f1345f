internal import ArborLocks

/// A model compiled for one store, with inheritance resolved, properties numbered, relationships
/// paired, indexes collected and record layouts computed.
///
/// Immutable and shared by all threads that use the store.
package final class ModelSchema: Sendable {
  package let model: ManagedObjectModel
  /// The catalog, with numbers and stored names for everything that has databases.
  package let catalog: SchemaCatalog
  package let entities: [EntitySchema]
  /// The concrete entities, sorted by catalog number, which is the order of object numbers. Scans
  /// use this order, because the order in the model can change without affecting the fingerprint.
  package let concreteEntities: [EntitySchema]
  private let indexByName: [String: Int]
  /// The index in ``entities`` for each catalog number, or -1.
  private let indexByNumber: [Int]
  /// The conversion of each entity's changed properties for the history.
  private let changeNumbers: [ChangeNumbers]
  package let hasDerivations: Bool
  private let plan = Lock<DerivationPlan?>(nil)

  /// Compiles a model.
  ///
  /// - Throws: ``ArborError`` `invalidModel` if a name cannot be resolved. Never thrown for a valid
  ///   model.
  package init(_ model: ManagedObjectModel, catalog: SchemaCatalog) throws(ArborError) {
    self.model = model
    entities = try ModelSchemaBuilder(model: model, catalog: catalog).build()
    concreteEntities = entities.filter { !$0.isAbstract }.sorted { $0.number < $1.number }
    let completed = try catalog.completed(for: entities)
    self.catalog = completed
    changeNumbers = entities.map { [entities] in ChangeNumbers($0, in: entities, completed) }
    indexByName = Dictionary(
      entities.map { ($0.name, $0.index) }, uniquingKeysWith: { first, _ in first })
    var byNumber = [Int](repeating: -1, count: Int(entities.map(\.number).max() ?? 0) + 1)
    for entity in entities { byNumber[Int(entity.number)] = entity.index }
    indexByNumber = byNumber
    hasDerivations = model.entities.contains { entity in
      entity.attributes.contains { $0.derivation != nil }
    }
  }

  /// Compiles another schema's model again, with the stored names of a catalog that assigns the
  /// same numbers to entities and properties.
  ///
  /// - Throws: ``ArborError`` `limitExceeded` if no numbers are left.
  package init(_ other: ModelSchema, storedAs catalog: SchemaCatalog) throws(ArborError) {
    model = other.model
    entities = other.entities
    concreteEntities = other.concreteEntities
    let completed = try catalog.completed(for: entities)
    self.catalog = completed
    changeNumbers = entities.map { [entities] in ChangeNumbers($0, in: entities, completed) }
    indexByName = other.indexByName
    indexByNumber = other.indexByNumber
    hasDerivations = other.hasDerivations
  }

  /// Returns the plan for computing derived attributes. The first call creates it.
  ///
  /// - Throws: ``ArborError`` `invalidModel`. Never thrown for a valid model.
  package func derivationPlan() throws(ArborError) -> DerivationPlan {
    if let made = plan.withLock({ $0 }) { return made }
    let made = try DerivationPlan(self)
    plan.withLock { $0 = made }
    return made
  }

  package func entity(named name: String) -> EntitySchema? {
    indexByName[name].map { entities[$0] }
  }

  @inline(__always)
  package func entity(of number: ObjectNumber) -> EntitySchema? { entity(numbered: number.entity) }

  @inline(__always)
  package func entity(numbered number: UInt16) -> EntitySchema? {
    let number = Int(number)
    guard number < indexByNumber.count, indexByNumber[number] >= 0 else { return nil }
    return entities[indexByNumber[number]]
  }

  /// Returns the conversion of an object's changed properties for the history, or `nil` if the
  /// number doesn't belong to an entity.
  package func changeNumbers(of number: ObjectNumber) -> ChangeNumbers? {
    entity(of: number).map { changeNumbers[$0.index] }
  }

  /// Returns whether a relationship can refer to an object, that is, whether the object belongs to
  /// its destination or a subentity. Object numbers read from a file are untrusted.
  package func leads(_ relationship: RelationshipSchema, to number: ObjectNumber) -> Bool {
    entity(of: number)?.lineage.contains(relationship.destination) ?? false
  }

  // MARK: Stored names

  /// Returns the stored name of the databases of an entity's records.
  package func storedName(of entity: EntitySchema) -> String {
    catalog.entries[entity.name]?.storedName ?? ""
  }

  /// Returns the stored name of the databases of a to-many relationship.
  package func storedName(of relationship: RelationshipSchema) -> String {
    let owner = entities[relationship.declaringEntity].name
    return catalog.entries[owner]?.relationships[relationship.name]?.storedName ?? ""
  }

  /// Returns the stored name of the database of an index.
  package func storedName(of index: IndexSchema) -> String {
    let owner = entities[index.declaringEntity].name
    return catalog.entries[owner]?.indexes[index.name]?.storedName ?? ""
  }

  /// Returns the inverse of a relationship, which is hidden if the model doesn't declare one.
  package func inverse(of relationship: RelationshipSchema) -> RelationshipSchema {
    entities[relationship.destination].relationships[relationship.inverseSlot]
  }
}
