import ArborJSON
import ArborModel

/// What stands in an instance: its label, attributes, and relationships with their members.
extension SeedReader {
  static let id = "$id"

  /// Plans the object that an instance describes. JSON's depth bounds the recursion of instances
  /// within instances.
  mutating func source(
    ofInstance node: JSONNode, of entity: EntitySchema, at keyNode: JSONNode
  ) throws(ArborError) -> ExchangePlan.Member {
    try source(ofInstance: node, node.members ?? [], of: entity, at: keyNode)
  }

  /// Plans the object that an instance describes whose members have been read.
  mutating func source(
    ofInstance node: JSONNode, _ members: [JSONNode.Member], of entity: EntitySchema,
    at keyNode: JSONNode
  ) throws(ArborError) -> ExchangePlan.Member {
    guard !entity.isAbstract else {
      throw keyNode.error(
        "\(entity.name) is abstract and has no objects of its own; name one of its subentities."
      ).with(entity: entity.name)
    }
    try limit.check()
    try checkRoom(for: 1, at: node)
    let mapping = mapping(of: entity)
    let index = plan.items.count
    let values = plan.values.count
    for _ in mapping.attributes { plan.values.append(0) }
    plan.items.append(
      ExchangePlan.Item(
        mapping: plan.index(of: mapping), document: plan.index(of: node.document),
        node: Int32(node.tapeIndex), key: -1, isWithinParent: false, values: Int32(values),
        firstLink: 0))
    // Those of one item follow each other, and instances within it have theirs.
    var links: [ExchangePlan.Link] = []
    for member in members {
      guard let property = mapping.index(of: member.key) else {
        guard member.key == Self.id else { throw unknownProperty(member, of: entity) }
        try labels.define(member.value, as: Int32(index), of: entity)
        continue
      }
      if property < mapping.attributes.count {
        try check(member.value, for: mapping.attributes[property].coder)
        plan.values[values + property] = Int32(member.value.tapeIndex)
      } else {
        let number = property - mapping.attributes.count
        let found = try self.members(
          ofRelationship: mapping.relationships[number], member.value, of: mapping)
        var link = ExchangePlan.Link(
          relationship: Int32(number), content: .members, isDeferred: true,
          node: Int32(member.value.tapeIndex))
        link.first = Int32(plan.members.count)
        link.count = Int32(found.count)
        plan.members += found
        links.append(link)
      }
    }
    plan.items[index].firstLink = Int32(plan.links.count)
    plan.items[index].linkCount = Int32(links.count)
    plan.links += links
    return .item(Int32(index))
  }

  /// Checks a value, so that a document with a fault leaves everything as it was. It is read once
  /// more for its object: to keep a million values meanwhile would cost more.
  private func check(_ node: JSONNode, for attribute: AttributeCoder) throws(ArborError) {
    guard node.isText(Self.uniqueID) else {
      if attribute.value(node) == nil { throw attribute.problem(with: node) }
      return
    }
    guard attribute.kind.holdsUniqueNumbers else {
      throw node.error(
        "\(attribute.entityName).\(attribute.name) cannot hold a unique number; draw it for an "
          + "integer attribute."
      ).with(entity: attribute.entityName, keyPath: attribute.name)
    }
  }

  /// Checks that the seed may create further objects. A list that is too long is refused before its
  /// first element is looked at.
  func checkRoom(for count: Int, at node: JSONNode) throws(ArborError) {
    guard count > options.maximumObjects - plan.items.count else { return }
    throw node.error(
      "The seed creates more than \(options.maximumObjects) objects; split it, or raise "
        + "maximumObjects.", code: .limitExceeded)
  }

  /// The error for a key that names nothing of an entity.
  func unknownProperty(_ member: JSONNode.Member, of entity: EntitySchema) -> ArborError {
    guard !member.key.hasPrefix("$") else {
      return unknownDirective(member.key, at: member.keyNode).with(entity: entity.name)
    }
    return member.keyNode.error(
      "\(entity.name) has no property “\(member.key)”; write the name of one."
        + NearestName.hint(member.key, in: entity.propertyNames)
    ).with(entity: entity.name)
  }
}
