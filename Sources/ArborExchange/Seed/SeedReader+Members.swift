import ArborJSON
import ArborModel

/// What stands in a relationship: its members in place, links to the documents that create them,
/// and the names of objects that stand elsewhere.
extension SeedReader {
  static let ref = "$ref"
  static let find = "$find"

  /// What a relationship of an instance gets.
  mutating func sources(
    ofRelationship relationship: ExchangeRelationship, _ member: JSONNode.Member,
    of entity: ExchangeEntity
  ) throws(ArborError) -> PlannedSources {
    let node = member.value
    do throws(ArborError) {
      switch node.kind {
      case .null: return .several([])
      case .object:
        let members = node.members ?? []
        if let links = members.first(where: { $0.key == Self.seedlings }) {
          return .several(try sources(ofLinks: links.value))
        }
        return .one(try source(ofMember: node, members, of: relationship))
      case .array where relationship.isToMany:
        try relationship.check(node.count, limit: options.maximumMembers, at: node)
        var sources: [PlannedSource] = []
        sources.reserveCapacity(node.count)
        for element in node.items {
          guard let members = element.members else {
            throw element.error(
              "A member of \(relationship.name) is an object, and this is \(element.kind); write "
                + "its properties in braces.")
          }
          sources.append(try source(ofMember: element, members, of: relationship))
        }
        return .several(sources)
      default:
        let expected = relationship.isToMany ? "a list of objects" : "an object"
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
    ofMember node: JSONNode, _ members: [JSONNode.Member], of relationship: ExchangeRelationship
  ) throws(ArborError) -> PlannedSource {
    guard let destination = schema.entity(named: relationship.destination) else {
      throw node.error(
        "The model has no entity \(relationship.destination), to which \(relationship.name) leads; "
          + "correct the model.", code: .invalidModel)
    }
    if let label = members.first(where: { $0.key == Self.ref }) {
      if let other = members.first(where: { $0.key != Self.ref }) {
        throw other.keyNode.error(
          "A $ref stands alone in its object, and this has “\(other.key)” too; remove it, or write "
            + "it where the instance is.")
      }
      guard label.value.kind == .string, !label.value.isText("") else {
        throw label.value.error(
          "A $ref is a label of one character or more, and this is \(label.value.kind); write the "
            + "$id of an instance.")
      }
      return .reference(labels.note(label.value, relationship))
    }
    if let name = members.first(where: { $0.key == Self.find }) {
      let find = try find(name.value, node, members, for: relationship, destination)
      plan.finds.append(find)
      return .find(UInt32(plan.finds.count - 1))
    }
    return try source(ofInstance: node, members, of: destination, at: node)
  }

  /// What a `$find` looks for: an entity of the relationship, and the values of some attributes.
  private func find(
    _ nameNode: JSONNode, _ node: JSONNode, _ members: [JSONNode.Member],
    for relationship: ExchangeRelationship, _ destination: ExchangeEntity
  ) throws(ArborError) -> PlannedFind {
    guard let name = nameNode.string else {
      throw nameNode.error(
        "A $find names an entity, and this is \(nameNode.kind); write the name in a string.")
    }
    guard let entity = schema.entity(named: name) else {
      throw nameNode.error(
        "The model has no entity “\(name)”; write the name of one."
          + NearestName.hint(name, in: schema.entityNames))
    }
    guard entity.isKind(of: destination.name) || destination.isKind(of: entity.name) else {
      throw nameNode.error(
        "\(relationship.name) takes \(destination.name), and \(name) is none; find another entity.")
    }
    var terms = try members.filter { $0.key != Self.find }
      .map { (member) throws(ArborError) in try term(member, of: entity) }
    terms.sort { $0.attribute.name < $1.attribute.name }
    guard let key = IdentityKey(terms.map(\.value)) else {
      throw node.error(
        "A $find says by which attributes, and this names none; write {\"$find\": \"\(name)\", "
          + "\"attribute\": value}."
      ).with(entity: name)
    }
    return PlannedFind(entity: entity, attributes: terms.map(\.attribute), key: key, node: node)
  }

  private func term(
    _ member: JSONNode.Member, of entity: ExchangeEntity
  ) throws(ArborError) -> (attribute: ExchangeAttribute, value: Value) {
    switch entity.property(named: member.key) {
    case .attribute(let attribute):
      switch attribute.type {
      case .composite, .transformable:
        throw member.keyNode.error(
          "\(entity.name).\(attribute.name) holds values that cannot be searched for; find by "
            + "another attribute."
        ).with(entity: entity.name, keyPath: attribute.name)
      default: break
      }
      let value = try values.attributes.value(member.value, for: attribute, of: entity.name)
      guard !value.isNull else {
        throw member.value.error(
          "A $find goes by values, and this is null, which many objects have in common; write one."
        ).with(entity: entity.name, keyPath: attribute.name)
      }
      return (attribute, attribute.type.fitting(value) ?? value)
    case .relationship(let relationship):
      throw member.keyNode.error(
        "A $find goes by attributes, and \(entity.name).\(relationship.name) is a relationship; "
          + "remove it."
      ).with(entity: entity.name, keyPath: relationship.name)
    case nil: throw unknownProperty(member, of: entity)
    }
  }
}
