import ArborJSON
import ArborModel

/// What stands in an instance: its label, attributes, and relationships with their members.
extension SeedReader {
  static let id = "$id"

  /// Plans the object that an instance describes. JSON's depth bounds the recursion of instances
  /// within instances.
  mutating func source(
    ofInstance node: JSONNode, of entity: ExchangeEntity, at keyNode: JSONNode
  ) throws(ArborError) -> PlannedSource {
    try source(ofInstance: node, node.members ?? [], of: entity, at: keyNode)
  }

  /// Plans the object that an instance describes whose members have been read.
  mutating func source(
    ofInstance node: JSONNode, _ members: [JSONNode.Member], of entity: ExchangeEntity,
    at keyNode: JSONNode
  ) throws(ArborError) -> PlannedSource {
    guard !entity.isAbstract else {
      throw keyNode.error(
        "\(entity.name) is abstract and has no objects of its own; name one of its subentities."
      ).with(entity: entity.name)
    }
    try limit.check()
    try checkRoom(for: 1, at: node)
    let index = plan.objects.count
    plan.objects.append(PlannedObject(entity: entity, node: node))
    for member in members {
      switch entity.property(named: member.key) {
      case .attribute(let attribute):
        _ = try values.content(member.value, for: attribute, of: entity)
      case .relationship(let relationship):
        let sources = try sources(ofRelationship: relationship, member, of: entity)
        plan.link(index, relationship, to: sources, at: member.value)
      case nil where member.key == Self.id:
        try labels.define(member.value, as: UInt32(index), of: entity)
      case nil: throw unknownProperty(member, of: entity)
      }
    }
    return .object(UInt32(index))
  }

  /// Checks that the seed may create further objects. A list that is too long is refused before its
  /// first element is looked at.
  func checkRoom(for count: Int, at node: JSONNode) throws(ArborError) {
    guard count > options.maximumObjects - plan.objects.count else { return }
    throw node.error(
      "The seed creates more than \(options.maximumObjects) objects; split it, or raise "
        + "maximumObjects.", code: .limitExceeded)
  }

  /// The error for a key that names nothing of an entity.
  func unknownProperty(_ member: JSONNode.Member, of entity: ExchangeEntity) -> ArborError {
    guard !member.key.hasPrefix("$") else {
      return unknownDirective(member.key, at: member.keyNode).with(entity: entity.name)
    }
    return member.keyNode.error(
      "\(entity.name) has no property “\(member.key)”; write the name of one."
        + NearestName.hint(member.key, in: entity.propertyNames)
    ).with(entity: entity.name)
  }
}
