import ArborFoundation
import ArborModel

/// The exported properties of an entity: its attributes, and one of each pair of inverse
/// relationships.
struct ExportMapping {
  struct Link {
    enum Role {
      case written
      /// Its own inverse: each pair is written once, with the later object.
      case writtenAtTheLater
      /// Written with the inverse.
      case followed
    }

    let name: String
    let isToMany: Bool
    let isOrdered: Bool
    let role: Role
  }

  let entity: EntitySchema
  let attributes: [AttributeCoder]
  let links: [Link]

  /// Returns the mappings of all entities, by index.
  ///
  /// - Parameter keys: The names of the properties to export, or `nil` for all.
  /// - Throws: ``ArborError`` `unknownName` if no entity has one of the properties.
  static func all(
    _ schema: ModelSchema, keys: [String]?
  ) throws(ArborError) -> [ExportMapping] {
    let known = Set(schema.entities.flatMap(\.propertyNames))
    for key in keys ?? [] where !known.contains(key) {
      throw ArborError(
        .unknownName,
        "No entity has a property “\(key)” that can be exported. Correct the name."
          + NearestName.hint(key, in: known.sorted()))
    }
    let names = keys.map(Set.init)
    return try schema.entities.map { (entity) throws(ArborError) in
      try ExportMapping(entity, in: schema, names)
    }
  }

  private init(_ entity: EntitySchema, in schema: ModelSchema, _ names: Set<String>?)
    throws(ArborError)
  {
    self.entity = entity
    // Derived values are computed by the store, and transient ones are not stored.
    attributes = try entity.attributes
      .filter {
        $0.description.derivation == nil && !$0.description.isTransient
          && names?.contains($0.name) != false
      }
      .map { (attribute) throws(ArborError) in
        try AttributeCoder(attribute, of: entity, in: schema.model)
      }
    func isExported(_ relationship: RelationshipSchema) -> Bool {
      !relationship.isHidden && !relationship.description.isTransient
        && names?.contains(relationship.name) != false
    }
    links = entity.relationships.filter(isExported).map { relationship in
      let inverse = schema.inverse(of: relationship)
      return Link(
        name: relationship.name, isToMany: relationship.isToMany,
        isOrdered: relationship.isOrdered,
        role: isExported(inverse) ? Self.role(of: relationship, inverse, schema) : .written)
    }
  }

  /// Returns whether a relationship or its inverse is written.
  private static func role(
    of relationship: RelationshipSchema, _ inverse: RelationshipSchema, _ schema: ModelSchema
  ) -> Link.Role {
    if inverse.slot == relationship.slot,
      inverse.declaringEntity == relationship.declaringEntity
    {
      return relationship.isOrdered ? .written : .writtenAtTheLater
    }
    // An ordered side is always written. Otherwise, the side with a single target is shorter.
    if relationship.isOrdered || inverse.isOrdered {
      return relationship.isOrdered ? .written : .followed
    }
    if relationship.isToMany != inverse.isToMany {
      return relationship.isToMany ? .followed : .written
    }
    let name = (schema.entities[relationship.declaringEntity].name, relationship.name)
    return name < (schema.entities[inverse.declaringEntity].name, inverse.name)
      ? .written : .followed
  }
}

/// The objects of an export in the order in which they are written, with their positions. An export
/// keeps about 40 bytes per object in memory.
struct ExportIndex {
  private struct Entry {
    let entity: UInt32
    /// The position among the objects of its entity, starting at 1.
    let ordinal: UInt32
    let number: UInt64
  }

  private let storeID: UUID
  private let schema: ModelSchema
  private var entries: [Entry] = []
  /// The positions by entity index and object number.
  private var positions: [[UInt64: UInt32]]
  /// For each position, whether the object is the target of a written relationship.
  private var isTarget: [Bool] = []

  init(_ schema: ModelSchema, storeID: UUID) {
    self.storeID = storeID
    self.schema = schema
    positions = Array(repeating: [:], count: schema.entities.count)
  }

  /// Returns the index of an object's entity, or `nil` if it isn't in the model.
  private func entityIndex(of id: ObjectID) -> Int? { schema.entity(named: id.entityName)?.index }

  var count: Int { entries.count }

  /// Appends an object unless it is already included.
  mutating func add(_ id: ObjectID) throws(ArborError) {
    guard let entity = entityIndex(of: id) else {
      throw ArborError(.unknownName, "The model has no entity \(id.entityName).").with(objectID: id)
    }
    guard positions[entity][id.number] == nil else { return }
    guard let position = UInt32(exactly: entries.count) else {
      throw ArborError(.limitExceeded, "An export is limited to 2³² objects. Export in parts.")
    }
    positions[entity][id.number] = position
    let ordinal = UInt32(truncatingIfNeeded: positions[entity].count)
    entries.append(Entry(entity: UInt32(entity), ordinal: ordinal, number: id.number))
    isTarget.append(false)
  }

  /// Returns the position of an object, or `nil` if it isn't exported.
  func position(of id: ObjectID) -> Int? {
    entityIndex(of: id).flatMap { positions[$0][id.number].map(Int.init) }
  }

  func ids(_ positions: Range<Int>) -> [ObjectID] {
    entries[positions].map {
      ObjectID(
        storeID: storeID, entityName: schema.entities[Int($0.entity)].name, number: $0.number)
    }
  }

  func entityIndex(at position: Int) -> Int { Int(entries[position].entity) }

  /// Returns whether an ID that isn't in the index precedes another, by the model's order of
  /// entities and then by number.
  func precedes(_ left: ObjectID, _ right: ObjectID) -> Bool {
    (entityIndex(of: left) ?? 0, left.number) < (entityIndex(of: right) ?? 0, right.number)
  }

  mutating func markTarget(_ position: Int) { isTarget[position] = true }

  /// Returns the label of the object at a position, or `nil` if nothing refers to it.
  func label(at position: Int) -> String? { isTarget[position] ? name(at: position) : nil }

  /// Returns the label that references use for the object at a position. Entity names contain no
  /// slash.
  func name(at position: Int) -> String {
    "\(schema.entities[entityIndex(at: position)].name)/\(entries[position].ordinal)"
  }
}
