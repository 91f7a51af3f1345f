/// A builder that compiles a model into ``EntitySchema``s.
struct ModelSchemaBuilder {
  let model: ManagedObjectModel
  let catalog: SchemaCatalog
  private let indexByName: [String: Int]

  /// A relationship as declared by an entity, or the hidden inverse of one.
  private struct Declared {
    var description: RelationshipDescription
    var isHidden: Bool
    var entity: Int
  }

  /// A relationship of an entity, with both ends resolved, before the record layout is computed.
  private struct Resolved {
    let slot: Int
    let declared: Declared
    let destination: Int
    let inverseSlot: Int
    let isInverseToMany: Bool
    let isOwnInverse: Bool
    let targets: [UInt16]
  }

  /// The stored form of a property in a record.
  private struct Field {
    let property: IndexSchema.Column.Source
    let kind: FieldKind
    let isTransient: Bool
    let catalogNumber: UInt16
    let defaultValue: PropertyValue
  }

  init(model: ManagedObjectModel, catalog: SchemaCatalog) {
    self.model = model
    self.catalog = catalog
    indexByName = Dictionary(
      model.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func build() throws(ArborError) -> [EntitySchema] {
    let lineages = try lineages()
    let declared = try declaredRelationships()
    let flattened = lineages.map { lineage in lineage.reversed().flatMap { declared[$0] } }
    var families: [[Int]] = model.entities.map { _ in [] }
    for index in concreteByNumber() {
      for ancestor in lineages[index] { families[ancestor].append(index) }
    }
    var schemas: [EntitySchema] = []
    for (index, description) in model.entities.enumerated() {
      let relationships = try relationships(of: flattened[index], in: flattened, families)
      schemas.append(
        try entity(
          index, description, lineage: lineages[index], relationships: relationships,
          family: families[index]))
    }
    return schemas
  }

  /// Returns the indexes of the concrete entities, sorted by catalog number.
  private func concreteByNumber() -> [Int] {
    model.entities.indices.filter { !model.entities[$0].isAbstract }
      .map { ($0, catalog.entries[model.entities[$0].name]?.number ?? 0) }
      .sorted { $0.1 < $1.1 }.map(\.0)
  }

  private func lineages() throws(ArborError) -> [[Int]] {
    var lineages: [[Int]] = []
    for (index, entity) in model.entities.enumerated() {
      var lineage = [index]
      while let parent = model.entities[lineage[lineage.count - 1]].parent {
        guard let next = indexByName[parent], !lineage.contains(next) else {
          throw problem(
            entity.name, nil,
            "Entity \(entity.name) inherits from \(parent), which is unknown or itself inherits "
              + "from \(entity.name). Correct the parent.")
        }
        lineage.append(next)
      }
      lineages.append(lineage)
    }
    return lineages
  }

  /// Returns each entity's own relationships and hidden inverses.
  private func declaredRelationships() throws(ArborError) -> [[Declared]] {
    var declared: [[Declared]] = model.entities.enumerated().map { index, entity in
      entity.relationships.map { Declared(description: $0, isHidden: false, entity: index) }
    }
    for entity in model.entities {
      for relationship in entity.relationships where relationship.inverse == nil {
        let destination = try destination(of: relationship, in: entity.name)
        declared[destination].append(
          Declared(
            description: RelationshipDescription(
              name: Self.hiddenName(entity.name, relationship.name), destination: entity.name,
              inverse: relationship.name, isToMany: true, isTransient: relationship.isTransient),
            isHidden: true, entity: destination))
      }
    }
    return declared
  }

  /// Returns a name that cannot conflict with a property's, which never begins with `~`.
  private static func hiddenName(_ entity: String, _ relationship: String) -> String {
    "~\(entity).\(relationship)"
  }

  private func destination(
    of relationship: RelationshipDescription, in entity: String
  ) throws(ArborError) -> Int {
    guard let index = indexByName[relationship.destination] else {
      throw problem(
        entity, relationship.name,
        "Relationship \(entity).\(relationship.name) has the unknown destination "
          + "\(relationship.destination). Use an entity of the model.")
    }
    return index
  }

  private func relationships(
    of flattened: [Declared], in all: [[Declared]], _ families: [[Int]]
  ) throws(ArborError) -> [Resolved] {
    var result: [Resolved] = []
    for (slot, declared) in flattened.enumerated() {
      var declared = declared
      let description = declared.description
      let owner = model.entities[declared.entity].name
      let destination = try destination(of: description, in: owner)
      let inverseName = description.inverse ?? Self.hiddenName(owner, description.name)
      guard
        let inverseSlot = all[destination].firstIndex(where: {
          $0.description.name == inverseName
        })
      else {
        throw problem(
          owner, description.name,
          "Relationship \(owner).\(description.name) names \(inverseName) as its inverse, which "
            + "\(description.destination) doesn't have. Use a relationship of that entity.")
      }
      let inverse = all[destination][inverseSlot]
      // Links are visible from both ends, so either both ends store them or neither does.
      declared.description.isTransient =
        description.isTransient || inverse.description.isTransient
      result.append(
        Resolved(
          slot: slot, declared: declared, destination: destination, inverseSlot: inverseSlot,
          isInverseToMany: inverse.description.isToMany,
          isOwnInverse: inverseSlot == slot && inverse.entity == declared.entity,
          targets: families[destination].compactMap {
            catalog.entries[model.entities[$0].name]?.number
          }))
    }
    return result
  }

  private func entity(
    _ index: Int, _ description: EntityDescription, lineage: [Int],
    relationships: [Resolved], family: [Int]
  ) throws(ArborError) -> EntitySchema {
    guard let entry = catalog.entries[description.name] else {
      throw problem(
        description.name, nil, "Entity \(description.name) is missing from the catalog.")
    }
    let attributes = lineage.reversed().flatMap { model.entities[$0].attributes }
    let fields = try fields(
      of: description.name, entry, attributes,
      toOne: relationships.filter { !$0.declared.description.isToMany })
    var external: Set<UInt16> = []
    var derived: Set<UInt16> = []
    for attribute in attributes {
      let number = try catalogNumber(of: attribute.name, in: entry, of: description.name)
      if attribute.mayLieOutside { external.insert(number) }
      if attribute.derivation != nil { derived.insert(number) }
    }
    let layout = RecordLayout(
      entity: entry.number, number: entry.layoutNumber, seed: catalog.seed,
      fields: fields.map { ($0.kind, $0.isTransient, $0.catalogNumber, $0.defaultValue) },
      external: external, derived: derived)
    func fieldIndex(_ property: IndexSchema.Column.Source) -> Int {
      fields.firstIndex { $0.property == property } ?? 0
    }
    let numbered = relationships.map { resolved in
      let description = resolved.declared.description
      let isDerived =
        description.isToMany && !description.isOrdered && !resolved.isInverseToMany
      return RelationshipSchema(
        slot: resolved.slot, description: description, declaringEntity: resolved.declared.entity,
        destination: resolved.destination, inverseSlot: resolved.inverseSlot,
        isHidden: resolved.declared.isHidden, isInverseToMany: resolved.isInverseToMany,
        isOwnInverse: resolved.isOwnInverse,
        storage: description.isToMany
          ? isDerived ? .derived : .links : .field(fieldIndex(.toOne(resolved.slot))),
        in: layout, targets: resolved.targets)
    }
    let attributeSchemas = attributes.enumerated().map { slot, attribute in
      let fieldIndex = fieldIndex(.attribute(slot))
      return AttributeSchema(
        slot: slot, name: attribute.name, description: attribute, fieldIndex: fieldIndex,
        field: layout.fields[fieldIndex])
    }
    return EntitySchema(
      number: entry.number, index: index, description: description,
      parentIndex: lineage.dropFirst().first, concreteFamily: family, lineage: lineage,
      attributes: attributeSchemas, relationships: numbered,
      indexes: try IndexGathering(model: model, attributes: attributes, relationships: numbered)
        .indexes(lineage: lineage), layout: layout)
  }

  /// Returns the record fields of an entity's attributes and to-one relationships, sorted by
  /// catalog number, so that the layout doesn't depend on the order of declaration.
  private func fields(
    of entity: String, _ entry: SchemaCatalog.Entry, _ attributes: [AttributeDescription],
    toOne relationships: [Resolved]
  ) throws(ArborError) -> [Field] {
    var fields: [Field] = []
    for (slot, attribute) in attributes.enumerated() {
      fields.append(
        Field(
          property: .attribute(slot), kind: FieldKind(attribute.type),
          isTransient: attribute.isTransient,
          catalogNumber: try catalogNumber(of: attribute.name, in: entry, of: entity),
          defaultValue: attribute.type.fitting(attribute.defaultValue) ?? .null))
    }
    for relationship in relationships {
      fields.append(
        Field(
          property: .toOne(relationship.slot), kind: .reference,
          isTransient: relationship.declared.description.isTransient,
          catalogNumber: try catalogNumber(
            of: relationship.declared.description.name, in: entry, of: entity),
          defaultValue: .null))
    }
    return fields.sorted { $0.catalogNumber < $1.catalogNumber }
  }

  private func catalogNumber(
    of property: String, in entry: SchemaCatalog.Entry, of entity: String
  ) throws(ArborError) -> UInt16 {
    guard let number = entry.properties[property] else {
      throw problem(entity, property, "Property \(entity).\(property) is missing from the catalog.")
    }
    return number
  }

  private func problem(_ entity: String, _ property: String?, _ message: String) -> ArborError {
    ArborError(.invalidModel, message).with(entity: entity, keyPath: property)
  }
}

extension AttributeDescription {
  /// Whether large values of the attribute may be stored outside the record.
  var mayLieOutside: Bool {
    allowsExternalStorage && FieldKind(type) == .binary && !isTransient && derivation == nil
  }
}
