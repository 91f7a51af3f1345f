import ArborModel

/// What stands in an instance: attributes, and relationships with their members in place or linked.
extension SeedReader {
  static let uniqueID = "<uniqueID>"

  /// Plans the object that an instance describes. JSON's depth bounds the recursion of instances
  /// within instances.
  mutating func source(
    ofInstance node: JSONNode, of entity: ExchangeEntity, at keyNode: JSONNode
  ) throws(ArborError) -> PlannedSource {
    guard !entity.isAbstract else {
      throw keyNode.error(
        "\(entity.name) is abstract and has no objects of its own; name one of its subentities."
      ).with(entity: entity.name)
    }
    guard plan.objects.count < options.maximumObjects else {
      throw node.error(
        "The seed creates more than \(options.maximumObjects) objects; split it, or raise "
          + "maximumObjects.", code: .limitExceeded)
    }
    let place = plan.objects.count
    plan.objects.append(PlannedObject(entity: entity, node: node))
    for member in node.members ?? [] {
      switch entity.property(named: member.key) {
      case .attribute(let attribute):
        let value = try value(member.value, for: attribute, of: entity)
        plan.objects[place].values.append(value)
      case .relationship(let relationship):
        let sources = try sources(ofRelationship: relationship, member, of: entity)
        plan.objects[place].links.append(
          PlannedLink(relationship: relationship, sources: sources, node: member.value))
      case nil:
        guard !member.key.hasPrefix("$") else {
          throw unknownDirective(member.key, at: member.keyNode).with(entity: entity.name)
        }
        throw member.keyNode.error(
          "\(entity.name) has no property “\(member.key)”; write the name of one."
            + NearestName.hint(member.key, in: entity.propertyNames)
        ).with(entity: entity.name)
      }
    }
    return .object(place)
  }

  private func value(
    _ node: JSONNode, for attribute: ExchangeAttribute, of entity: ExchangeEntity
  ) throws(ArborError) -> PlannedValue {
    if node.string == Self.uniqueID {
      switch attribute.type {
      case .integer16, .integer32, .integer64, .double, .decimal, .string, .undefined:
        return PlannedValue(attribute: attribute, content: .uniqueID, node: node)
      default:
        throw node.error(
          "\(entity.name).\(attribute.name) cannot hold a unique number; draw it for an integer "
            + "attribute."
        ).with(entity: entity.name, keyPath: attribute.name)
      }
    }
    let value = try attributes.value(node, for: attribute, of: entity.name)
    return PlannedValue(attribute: attribute, content: .value(value), node: node)
  }

  private mutating func sources(
    ofRelationship relationship: ExchangeRelationship, _ member: JSONNode.Member,
    of entity: ExchangeEntity
  ) throws(ArborError) -> [PlannedSource] {
    let node = member.value
    do throws(ArborError) {
      switch node.kind {
      case .null: return []
      case .object:
        if let links = node.members?.first(where: { $0.key == Self.seedlings }) {
          return try sources(ofLinks: links.value)
        }
        return [try source(ofMember: node, of: relationship)]
      case .array where relationship.isToMany:
        var sources: [PlannedSource] = []
        for element in node.elements ?? [] {
          sources.append(try source(ofMember: element, of: relationship))
        }
        return sources
      default:
        let expected =
          relationship.isToMany ? "a list of objects" : "an object"
        throw node.error(
          "\(entity.name).\(relationship.name) takes \(expected), null or seedlings, and this is "
            + "\(node.kind); write \(expected).")
      }
    } catch {
      // What lies deeper has named its own entity.
      guard error.entity == nil else { throw error }
      throw error.with(entity: entity.name, keyPath: relationship.name)
    }
  }

  private mutating func source(
    ofMember node: JSONNode, of relationship: ExchangeRelationship
  ) throws(ArborError) -> PlannedSource {
    guard node.kind == .object else {
      throw node.error(
        "A member of \(relationship.name) is an object, and this is \(node.kind); write its "
          + "properties in braces.")
    }
    guard let destination = schema.entity(named: relationship.destination) else {
      throw node.error(
        "The model has no entity \(relationship.destination), to which \(relationship.name) leads; "
          + "correct the model.", code: .invalidModel)
    }
    return try source(ofInstance: node, of: destination, at: node)
  }
}
