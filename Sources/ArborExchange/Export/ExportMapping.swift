import ArborModel

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
        "No entity has a property “\(key)” that could be exported; write the name of one."
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
