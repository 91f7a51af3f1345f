internal import ArborLocks

/// A model compiled for one store: entities with their inheritance resolved, properties numbered,
/// relationships paired, indexes gathered and records laid out.
///
/// Immutable and shared by every thread that uses the store.
package final class ModelSchema: Sendable {
  package let model: ManagedObjectModel
  /// With numbers and stored names for everything that has databases.
  package let catalog: SchemaCatalog
  /// In the order of the model.
  package let entities: [EntitySchema]
  /// The entities that objects can be of, in the order of their catalogue numbers, which is the
  /// order of object numbers. Scans use this order: the model's own may change without a new
  /// fingerprint.
  package let concreteEntities: [EntitySchema]
  private let indexByName: [String: Int]
  /// The index in ``entities`` of each catalogue number, or -1.
  private let indexByNumber: [Int]
  /// Of each entity what the history calls its properties.
  private let changeNumbers: [ChangeNumbers]
  package let hasDerivations: Bool
  private let plan = Lock<DerivationPlan?>(nil)

  /// Compiles a model.
  ///
  /// - Throws: ``ArborError`` `invalidModel` where a name leads nowhere. A model that passed the
  ///   rules for models never throws.
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

  /// Compiles another schema's model with stored names of another catalogue, whose numbers of
  /// entities and properties are the same.
  ///
  /// - Throws: ``ArborError`` `limitExceeded` where numbers run out.
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

  /// How the derived attributes are computed, bound at the first call.
  ///
  /// - Throws: ``ArborError`` `invalidModel`; never for a model that passed the rules for models.
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

  /// The entity with a catalogue number.
  @inline(__always)
  package func entity(numbered number: UInt16) -> EntitySchema? {
    let number = Int(number)
    guard number < indexByNumber.count, indexByNumber[number] >= 0 else { return nil }
    return entities[indexByNumber[number]]
  }

  /// What the history calls the properties of an object; nil where the number is of no entity.
  package func changeNumbers(of number: ObjectNumber) -> ChangeNumbers? {
    entity(of: number).map { changeNumbers[$0.index] }
  }

  /// Whether a relationship may lead to an object: the number is of its destination or of an entity
  /// that inherits from that. A number that was read from a file may be of any entity, or of none.
  package func leads(_ relationship: RelationshipSchema, to number: ObjectNumber) -> Bool {
    entity(of: number)?.lineage.contains(relationship.destination) ?? false
  }

  // MARK: Stored names

  /// What the databases of an entity's records are called in the file.
  package func storedName(of entity: EntitySchema) -> String {
    catalog.entries[entity.name]?.storedName ?? ""
  }

  /// What the databases of a to-many relationship are called in the file.
  package func storedName(of relationship: RelationshipSchema) -> String {
    let owner = entities[relationship.declaringEntity].name
    return catalog.entries[owner]?.relationships[relationship.name]?.storedName ?? ""
  }

  /// What the database of an index is called in the file.
  package func storedName(of index: IndexSchema) -> String {
    let owner = entities[index.declaringEntity].name
    return catalog.entries[owner]?.indexes[index.name]?.storedName ?? ""
  }

  /// The inverse of a relationship; a hidden one where the model names none.
  package func inverse(of relationship: RelationshipSchema) -> RelationshipSchema {
    entities[relationship.destination].relationships[relationship.inverseSlot]
  }
}
