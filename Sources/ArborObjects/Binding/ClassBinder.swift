internal import ArborFoundation
internal import ArborModel
internal import ArborSource

/// Determines which class represents each entity of a store, and the locations of its properties.
struct ClassBinder {
  let schema: ModelSchema
  let storeID: UUID

  /// Returns the bindings of all entities, by index, for the classes known at opening.
  ///
  /// An entity without a class of its own is represented by the class of its nearest ancestor, so
  /// that fetching that class returns instances of it. The fallback is ``ManagedObject``.
  func bindings(for classes: [ManagedObject.Type]) throws(ArborError) -> [EntityBinding] {
    var classOf = [ManagedObject.Type?](repeating: nil, count: schema.entities.count)
    for objectClass in classes {
      let entity = try entity(of: objectClass)
      if let other = classOf[entity.index], other != objectClass {
        throw ArborError(
          .invalidArgument,
          "Both \(other) and \(objectClass) describe the entity \(entity.name). Pass only one of "
            + "them."
        ).with(entity: entity.name)
      }
      classOf[entity.index] = objectClass
    }
    return try schema.entities.map { (entity) throws(ArborError) in
      try bind(entity.lineage.lazy.compactMap { classOf[$0] }.first, to: entity)
    }
  }

  func entity(of objectClass: ManagedObject.Type) throws(ArborError) -> EntitySchema {
    let name = objectClass.entityDescription.name
    if let entity = schema.entity(named: name) { return entity }
    guard !name.isEmpty else {
      throw ArborError(
        .invalidArgument,
        "\(objectClass) doesn't describe an entity. Mark it with @Entity, or pass the entity's "
          + "name.")
    }
    throw ArborError(
      .unknownName,
      "The model has no entity \(name), which the class \(objectClass) describes. Open the store "
        + "with a model that contains the "
        + "entity." + NearestName.hint(name, in: schema.entities.map(\.name))
    ).with(entity: name)
  }

  func bind(
    _ objectClass: ManagedObject.Type?, to entity: EntitySchema
  ) throws(ArborError) -> EntityBinding {
    guard let objectClass, objectClass != ManagedObject.self else {
      return EntityBinding(
        entity, in: schema, storeID: storeID, objectClass: ManagedObject.self,
        attributeSlots: Array(entity.attributes.indices),
        relationshipSlots: Array(entity.relationships.indices))
    }
    var (attributes, relationships): ([Int], [Int]) = ([], [])
    for description in objectClass.describedLineage {
      for attribute in description.attributes {
        attributes.append(try slot(of: attribute, in: entity, objectClass))
      }
      for relationship in description.relationships {
        relationships.append(try slot(of: relationship, in: entity, objectClass))
      }
    }
    return EntityBinding(
      entity, in: schema, storeID: storeID, objectClass: objectClass, attributeSlots: attributes,
      relationshipSlots: relationships)
  }

  private func slot(
    of attribute: AttributeDescription, in entity: EntitySchema, _ objectClass: ManagedObject.Type
  ) throws(ArborError) -> Int {
    try objectClass.refuseReserved(attribute.name, entity.name)
    guard case .attribute(let stored) = entity.property(named: attribute.name) else {
      throw mismatch(attribute.name, entity, objectClass, "an attribute \(attribute.name)")
    }
    guard stored.field.kind == FieldKind(attribute.type) else {
      throw mismatch(
        attribute.name, entity, objectClass,
        "an attribute \(attribute.name) of type \(attribute.type) instead of "
          + "\(stored.description.type)")
    }
    return stored.slot
  }

  private func slot(
    of relationship: RelationshipDescription, in entity: EntitySchema,
    _ objectClass: ManagedObject.Type
  ) throws(ArborError) -> Int {
    try objectClass.refuseReserved(relationship.name, entity.name)
    guard case .relationship(let stored) = entity.property(named: relationship.name),
      stored.isToMany == relationship.isToMany, stored.isOrdered == relationship.isOrdered
    else {
      let kind =
        relationship.isToMany
        ? relationship.isOrdered ? "an ordered to-many" : "a to-many" : "a to-one"
      throw mismatch(
        relationship.name, entity, objectClass, "\(kind) relationship \(relationship.name)")
    }
    return stored.slot
  }

  private func mismatch(
    _ property: String, _ entity: EntitySchema, _ objectClass: ManagedObject.Type,
    _ expected: String
  ) -> ArborError {
    ArborError(
      .modelMismatch,
      "\(objectClass) expects \(expected) in the entity \(entity.name), but the store's model "
        + "doesn't have it. Make the class and the model agree."
    ).with(entity: entity.name, keyPath: property)
  }
}

extension ManagedObject {
  /// Throws if a property of the class has the same name as a member of ``ManagedObject``, which it
  /// would hide.
  static func refuseReserved(_ name: String, _ entity: String) throws(ArborError) {
    guard reservedPropertyNames.contains(name) else { return }
    throw ArborError(
      .invalidModel,
      "The property \(name) of \(self) has the name of a member of ManagedObject. Rename the "
        + "property."
    ).with(entity: entity, keyPath: name)
  }

  /// The descriptions of the class and those of its superclasses that describe entities, root
  /// first.
  class var describedLineage: [EntityDescription] {
    var lineage: [EntityDescription] = []
    for objectClass in lineageOfClasses {
      let description = objectClass.entityDescription
      // A class that doesn't override the description inherits that of its superclass.
      if description.name != lineage.last?.name { lineage.append(description) }
    }
    return lineage.reversed()
  }

  /// The first class that doesn't describe an entity, among this class and its superclasses below
  /// `ManagedObject`, or `nil` if all of them do.
  class var undescribedClass: ManagedObject.Type? {
    lineageOfClasses.first { $0.entityDescription.name.isEmpty }
  }

  /// The class and its superclasses below `ManagedObject`, the class first.
  private class var lineageOfClasses: [ManagedObject.Type] {
    var classes: [ManagedObject.Type] = []
    var next: ManagedObject.Type? = self
    while let objectClass = next, objectClass != ManagedObject.self {
      classes.append(objectClass)
      next = _getSuperclass(objectClass) as? ManagedObject.Type
    }
    return classes
  }
}
