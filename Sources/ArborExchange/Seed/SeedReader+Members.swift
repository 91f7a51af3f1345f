import ArborJSON
import ArborModel

/// What stands in a relationship: its members in place, links to the documents that create them,
/// and the names of objects that stand elsewhere.
extension SeedReader {
  static let ref = "$ref"
  static let find = "$find"

  /// What a relationship of an instance gets.
  mutating func members(
    ofRelationship relationship: MappedRelationship, _ node: JSONNode, of mapping: ExchangeMapping
  ) throws(ArborError) -> [ExchangePlan.Member] {
    do throws(ArborError) {
      switch node.kind {
      case .null: return []
      case .object:
        let members = node.members ?? []
        if let links = members.first(where: { $0.key == Self.seedlings }) {
          return try sources(ofLinks: links.value)
        }
        return [try source(ofMember: node, members, of: relationship)]
      case .array where relationship.isToMany:
        try relationship.check(node.count, limit: options.maximumMembers, at: node)
        var sources: [ExchangePlan.Member] = []
        sources.reserveCapacity(node.count)
        for element in node.items {
          guard let members = element.members else {
            throw element.error(
              "A member of \(relationship.name) is an object, and this is \(element.kind); write "
                + "its properties in braces.")
          }
          sources.append(try source(ofMember: element, members, of: relationship))
        }
        return sources
      default:
        let expected = relationship.isToMany ? "a list of objects" : "an object"
        throw node.error(
          "\(mapping.entity.name).\(relationship.name) takes \(expected), null or seedlings, and "
            + "this is \(node.kind); write \(expected).")
      }
    } catch {
      // What lies deeper has named its own entity.
      guard error.entity == nil else { throw error }
      throw error.with(entity: mapping.entity.name, keyPath: relationship.name)
    }
  }

  private mutating func source(
    ofMember node: JSONNode, _ members: [JSONNode.Member], of relationship: MappedRelationship
  ) throws(ArborError) -> ExchangePlan.Member {
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
      return .labelled(labels.note(label.value, relationship))
    }
    if let name = members.first(where: { $0.key == Self.find }) {
      return .named(try find(name.value, node, members, for: relationship))
    }
    return try source(ofInstance: node, members, of: relationship.destination, at: node)
  }

  /// Enters what a `$find` looks for: an entity of the relationship, and the values of some
  /// attributes.
  private mutating func find(
    _ nameNode: JSONNode, _ node: JSONNode, _ members: [JSONNode.Member],
    for relationship: MappedRelationship
  ) throws(ArborError) -> Int32 {
    let destination = relationship.destination
    guard let name = nameNode.string else {
      throw nameNode.error(
        "A $find names an entity, and this is \(nameNode.kind); write the name in a string.")
    }
    guard let entity = schema.entity(named: name) else {
      throw nameNode.error(
        "The model has no entity “\(name)”; write the name of one."
          + NearestName.hint(name, in: schema.entityNames))
    }
    guard entity.isKind(of: destination) || destination.isKind(of: entity) else {
      throw nameNode.error(
        "\(relationship.name) takes \(destination.name), and \(name) is none; find another entity.")
    }
    let mapping = mapping(of: entity)
    var terms = try members.filter { $0.key != Self.find }
      .map { (member) throws(ArborError) in try term(member, of: mapping) }
    terms.sort { $0.attribute.name < $1.attribute.name }
    guard let key = IdentityKey(terms.map(\.value)) else {
      throw node.error(
        "A $find says by which attributes, and this names none; write {\"$find\": \"\(name)\", "
          + "\"attribute\": value}."
      ).with(entity: name)
    }
    let table = plan.identities.table(for: entity, by: terms.map(\.attribute))
    return plan.name(CollectionOfOne(key), in: table, at: node)
  }

  private func term(
    _ member: JSONNode.Member, of mapping: ExchangeMapping
  ) throws(ArborError) -> (attribute: AttributeCoder, value: Value) {
    let entity = mapping.entity
    guard let index = mapping.index(of: member.key) else {
      throw unknownProperty(member, of: entity)
    }
    guard index < mapping.attributes.count else {
      throw member.keyNode.error(
        "A $find goes by attributes, and \(entity.name).\(member.key) is a relationship; remove it."
      ).with(entity: entity.name, keyPath: member.key)
    }
    let attribute = mapping.attributes[index].coder
    switch attribute.type {
    case .composite, .transformable:
      throw member.keyNode.error(
        "\(entity.name).\(attribute.name) holds values that cannot be searched for; find by "
          + "another attribute."
      ).with(entity: entity.name, keyPath: attribute.name)
    default: break
    }
    let value = try attribute.read(member.value)
    guard !value.isNull else {
      throw member.value.error(
        "A $find goes by values, and this is null, which many objects have in common; write one."
      ).with(entity: entity.name, keyPath: attribute.name)
    }
    return (attribute, attribute.type.fitting(value) ?? value)
  }
}
