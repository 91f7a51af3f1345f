internal import ArborJSON
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// The store and its schema.
extension BrowserInterface {
  func schemaAnswer() throws(ArborError) -> JSONValue {
    // Read first, so that the counts are not older.
    let sequence = try newest()
    let context = makeContext()
    var sizes: [String: Int] = [:]
    for (entity, bytes) in try store.recordBytes() { sizes[entity] = bytes }
    var entities: [JSONValue] = []
    for entity in schema.entities {
      var request = FetchRequest<ManagedObject>(entity: entity.name)
      var fields = json(of: entity)
      fields["count"] = JSONValue(try context.count(request))
      request.includesSubentities = false
      let ownCount = entity.description.isAbstract ? 0 : try context.count(request)
      fields["ownCount"] = JSONValue(ownCount)
      fields["bytes"] = JSONValue(sizes[entity.name] ?? 0)
      entities.append(.object(fields))
    }
    return [
      "name": .string(store.url?.lastPathComponent ?? "in memory"),
      "id": .string(store.id.uuidString.lowercased()),
      "version": .string(store.model.versionIdentifier), "canWrite": .bool(allowsWriting),
      "keepsQueries": .bool(shelf != nil),
      "against": compared.map { .string($0.name) } ?? .null,
      "sequence": sequence,
      "entities": .array(entities),
    ]
  }

  /// Returns the differences between the store's model and the one to compare it with.
  func difference() throws(ArborError) -> SchemaDifference {
    guard let compared else {
      throw ArborError(.notAllowed, "No model was given to compare with the store's model.")
    }
    return SchemaDifference(from: store.model, to: compared.model)
  }

  /// Returns the model as a class diagram in Mermaid. Parameters: `entity` for each entity of the
  /// diagram, or none for all; `difference` for the differences from the model to compare with.
  func mermaid(_ request: HTTPRequest) throws(ArborError) -> JSONValue {
    var drawing = SchemaDifference(store.model)
    if request.parameter("difference") == "true" { drawing = try difference() }
    let names = request.parameters("entity")
    if !names.isEmpty { drawing = drawing.only(Set(names)) }
    return ["text": .string(MermaidDiagram(drawing).text + "\n")]
  }

  private func json(of entity: BrowsedSchema.Entity) -> JSONObject {
    let description = entity.description
    return [
      "name": .string(entity.name), "parent": description.parent.map(JSONValue.string) ?? .null,
      "isAbstract": .bool(description.isAbstract),
      "title": entity.title.map(JSONValue.string) ?? .null,
      "attributes": .array(
        entity.attributes.map { json(of: $0, isOwn: description.attributes.contains($0)) }),
      "relationships": .array(
        entity.relationships.map {
          Self.json(of: $0, isOwn: description.relationships.contains($0))
        }),
      "indexes": .array(
        description.fetchIndexes.map { index in
          ["name": .string(index.name), "summary": .string(index.summary)]
        }),
      "unique": .array(description.uniquenessConstraints.map { .array($0.map(JSONValue.string)) }),
    ]
  }

  private func json(of attribute: AttributeDescription, isOwn: Bool) -> JSONValue {
    let type = store.model.composites.first { .composite($0.name) == attribute.type }
    return [
      "name": .string(attribute.name),
      "written": .string(PredicatePrinter.name(attribute.name)),
      "type": .string("\(attribute.type)"),
      "isOptional": .bool(attribute.isOptional), "isIndexed": .bool(attribute.isIndexed),
      "derivation": attribute.derivation.map(JSONValue.string) ?? .null,
      "default": attribute.type == .json
        ? ValueJSON.document(attribute.defaultValue) : ValueJSON.json(attribute.defaultValue),
      "isOwn": .bool(isOwn),
      "parts": type.map { .array($0.attributes.map { json(of: $0, isOwn: true) }) } ?? .null,
    ]
  }

  private static func json(of relationship: RelationshipDescription, isOwn: Bool) -> JSONValue {
    [
      "name": .string(relationship.name),
      "written": .string(PredicatePrinter.name(relationship.name)),
      "destination": .string(relationship.destination),
      "inverse": relationship.inverse.map(JSONValue.string) ?? .null,
      "isToMany": .bool(relationship.isToMany), "isOrdered": .bool(relationship.isOrdered),
      "isOptional": .bool(relationship.isOptional),
      "deleteRule": .string(relationship.deleteRule.rawValue), "isOwn": .bool(isOwn),
    ]
  }
}
