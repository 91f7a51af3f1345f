import ArborModel
import Foundation

/// What an export writes of an entity: its attributes, and of two relationships that are each other's
/// inverse the one from which both follow.
struct ExportMapping {
  struct Link {
    enum Role {
      case written
      /// Its own inverse: each pair is written once, at the object that comes later.
      case writtenAtTheLater
      /// Written at the inverse.
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

  /// The mappings of all entities, by their indexes.
  ///
  /// - Parameter keys: The names of the properties that are exported; `nil` for all.
  /// - Throws: ``ArborError`` `unknownName` for a key that no entity has.
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
    return schema.entities.map { ExportMapping($0, in: schema, names) }
  }

  private init(_ entity: EntitySchema, in schema: ModelSchema, _ names: Set<String>?) {
    self.entity = entity
    // The store computes derived values, and transient ones are not kept.
    attributes = entity.attributes
      .filter {
        $0.description.derivation == nil && !$0.description.isTransient
          && names?.contains($0.name) != false
      }
      .map { AttributeCoder($0, of: entity, in: schema.model) }
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

  /// Whether a relationship is written although its inverse could be.
  private static func role(
    of relationship: RelationshipSchema, _ inverse: RelationshipSchema, _ schema: ModelSchema
  ) -> Link.Role {
    if inverse.slot == relationship.slot,
      inverse.declaringEntity == relationship.declaringEntity
    {
      return relationship.isOrdered ? .written : .writtenAtTheLater
    }
    // Order is written wherever there is one. Otherwise the side with one target is the shorter.
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

/// The objects of an export in the order in which they are written, and the position of each:
/// what an export keeps in memory of a store, some forty bytes an object.
struct ExportIndex {
  private struct Entry {
    let entity: UInt32
    /// The position among the objects of its entity, from 1.
    let ordinal: UInt32
    let number: UInt64
  }

  private let storeID: UUID
  private let schema: ModelSchema
  private var entries: [Entry] = []
  /// By entity, then by the object's number.
  private var positions: [[UInt64: UInt32]]
  /// Whether anything that is written leads to the object.
  private var isTarget: [Bool] = []

  init(_ schema: ModelSchema, storeID: UUID) {
    self.storeID = storeID
    self.schema = schema
    positions = Array(repeating: [:], count: schema.entities.count)
  }

  /// The index of an object's entity; `nil` if the model lacks it.
  private func entityIndex(of id: ObjectID) -> Int? { schema.entity(named: id.entityName)?.index }

  var count: Int { entries.count }

  /// Appends an object if it is not among the others.
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

  /// The position of an object; `nil` if it is not exported.
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

  /// The order of IDs that are not in the index: by the model's order of entities, then by number.
  func precedes(_ left: ObjectID, _ right: ObjectID) -> Bool {
    (entityIndex(of: left) ?? 0, left.number) < (entityIndex(of: right) ?? 0, right.number)
  }

  mutating func markTarget(_ position: Int) { isTarget[position] = true }

  /// The label by which the object at a position is reached; `nil` if nothing leads to it.
  func label(at position: Int) -> String? { isTarget[position] ? name(at: position) : nil }

  /// The label by which references name the object at a position. Entity names contain no slash.
  func name(at position: Int) -> String {
    "\(schema.entities[entityIndex(at: position)].name)/\(entries[position].ordinal)"
  }
}
