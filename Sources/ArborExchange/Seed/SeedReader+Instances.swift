import ArborFoundation
import ArborJSON
import ArborModel

/// Instances: their labels, attributes, and relationships with their members.
extension SeedReader {
  static let id = "$id"

  /// Plans the object of an instance. The depth limit of JSON bounds the recursion.
  mutating func planInstance(
    _ node: JSONNode, of entity: EntitySchema, at keyNode: JSONNode
  ) throws(ArborError) -> ExchangePlan.Member {
    try planInstance(node, node.members ?? [], of: entity, at: keyNode)
  }

  /// Plans the object of an instance whose members have been read.
  mutating func planInstance(
    _ node: JSONNode, _ members: [JSONNode.Member], of entity: EntitySchema,
    at keyNode: JSONNode
  ) throws(ArborError) -> ExchangePlan.Member {
    guard !entity.isAbstract else {
      throw keyNode.error(
        "\(entity.name) is abstract. Use one of its subentities."
      ).with(entity: entity.name)
    }
    try plan.limit.check()
    try checkRoom(for: 1, at: node)
    let mapping = try mapping(of: entity)
    let index = plan.items.count
    let values = plan.values.count
    for _ in mapping.attributes { plan.values.append(0) }
    plan.items.append(
      ExchangePlan.Item(
        mapping: plan.enterMapping(mapping), document: plan.enterDocument(node.document),
        node: Int32(node.tapeIndex), key: -1, isWithinParent: false, values: Int32(values),
        firstLink: 0))
    // The links of an item are contiguous, and nested instances have their own.
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

  /// Validates a value, so that a document with an error changes nothing. The value is read again
  /// when its object is created, because keeping a million values would be more expensive.
  private func check(_ node: JSONNode, for attribute: AttributeCoder) throws(ArborError) {
    guard node.isText(Self.uniqueID) else {
      if attribute.value(node) == nil { throw attribute.problem(with: node) }
      return
    }
    guard attribute.kind.holdsUniqueNumbers else {
      throw node.error(
        "\(attribute.entityName).\(attribute.name) cannot store a unique number. Use an integer "
          + "attribute."
      ).with(entity: attribute.entityName, keyPath: attribute.name)
    }
  }

  /// Checks that the seed may create more objects. A list that is too long is rejected before its
  /// elements are read.
  func checkRoom(for count: Int, at node: JSONNode) throws(ArborError) {
    guard count > options.maximumObjects - plan.items.count else { return }
    throw node.error(
      "The seed creates more than \(options.maximumObjects) objects. Split the seed, or raise "
        + "maximumObjects.", code: .limitExceeded)
  }

  /// Returns the error for a key that isn't a property of an entity.
  func unknownProperty(_ member: JSONNode.Member, of entity: EntitySchema) -> ArborError {
    guard !member.key.hasPrefix("$") else {
      return unknownDirective(member.key, at: member.keyNode).with(entity: entity.name)
    }
    return member.keyNode.error(
      "\(entity.name) has no property “\(member.key)”. Correct the name."
        + NearestName.hint(member.key, in: entity.propertyNames)
    ).with(entity: entity.name)
  }
}

/// Relationships: nested members, links to documents that create them, and references to objects
/// described elsewhere.
extension SeedReader {
  static let ref = "$ref"
  static let find = "$find"

  /// Plans the members of an instance's relationship.
  mutating func members(
    ofRelationship relationship: MappedRelationship, _ node: JSONNode, of mapping: ExchangeMapping
  ) throws(ArborError) -> [ExchangePlan.Member] {
    do throws(ArborError) {
      switch node.kind {
      case .null: return []
      case .object:
        let members = node.members ?? []
        if let links = members.first(where: { $0.key == Self.seedlings }) {
          return try planLinks(links.value)
        }
        return [try planMember(node, members, of: relationship)]
      case .array where relationship.isToMany:
        try relationship.check(node.count, limit: options.maximumMembers, at: node)
        var found: [ExchangePlan.Member] = []
        found.reserveCapacity(node.count)
        for element in node.items {
          guard let members = element.members else {
            throw element.error(
              "Expected an object for a member of \(relationship.entityName).\(relationship.name), "
                + "but found \(element.kind).")
          }
          found.append(try planMember(element, members, of: relationship))
        }
        return found
      default:
        let expected = relationship.isToMany ? "a list of objects" : "an object"
        throw node.error(
          "Expected \(expected), null or seedlings for \(mapping.entity.name).\(relationship.name), "
            + "but found \(node.kind).")
      }
    } catch {
      // Errors in nested instances contain their own entity.
      guard error.entity == nil else { throw error }
      throw error.with(entity: mapping.entity.name, keyPath: relationship.name)
    }
  }

  private mutating func planMember(
    _ node: JSONNode, _ members: [JSONNode.Member], of relationship: MappedRelationship
  ) throws(ArborError) -> ExchangePlan.Member {
    if let label = members.first(where: { $0.key == Self.ref }) {
      if let other = members.first(where: { $0.key != Self.ref }) {
        throw other.keyNode.error(
          "A $ref must be alone in its object, but this one also has “\(other.key)”. Remove "
            + "“\(other.key)”, or move it to the instance.")
      }
      guard label.value.kind == .string, !label.value.isText("") else {
        throw label.value.error(
          "Expected a non-empty string for $ref, but found \(label.value.kind). Use the $id of an "
            + "instance.")
      }
      return .labelled(labels.note(label.value, relationship))
    }
    if let name = members.first(where: { $0.key == Self.find }) {
      return .named(try find(name.value, node, members, for: relationship))
    }
    return try planInstance(node, members, of: relationship.destination, at: node)
  }

  /// Plans the lookup of a `$find`: an entity that is valid for the relationship, and the values of
  /// identifying attributes.
  private mutating func find(
    _ nameNode: JSONNode, _ node: JSONNode, _ members: [JSONNode.Member],
    for relationship: MappedRelationship
  ) throws(ArborError) -> Int32 {
    let destination = relationship.destination
    guard let name = nameNode.string else {
      throw nameNode.error(
        "Expected the name of an entity for $find, but found \(nameNode.kind).")
    }
    guard let entity = schema.entity(named: name) else {
      throw nameNode.error(
        "The model has no entity “\(name)”. Correct the name."
          + NearestName.hint(name, in: schema.entityNames))
    }
    guard entity.isKind(of: destination) || destination.isKind(of: entity) else {
      throw nameNode.error(
        "\(relationship.entityName).\(relationship.name) refers to \(destination.name), not "
          + "\(name). Use another entity.")
    }
    let mapping = try mapping(of: entity)
    var terms = try members.filter { $0.key != Self.find }
      .map { (member) throws(ArborError) in try term(member, of: mapping) }
    terms.sort { $0.attribute.name < $1.attribute.name }
    guard let key = IdentityKey(terms.map(\.value)) else {
      throw node.error(
        "The $find lists no attributes. Write {\"$find\": \"\(name)\", \"attribute\": value}."
      ).with(entity: name)
    }
    let table = plan.table(for: entity, by: terms.map(\.attribute))
    return plan.enterName(CollectionOfOne(key), in: table, at: node)
  }

  private func term(
    _ member: JSONNode.Member, of mapping: ExchangeMapping
  ) throws(ArborError) -> (attribute: AttributeCoder, value: PropertyValue) {
    let entity = mapping.entity
    guard let index = mapping.index(of: member.key) else {
      throw unknownProperty(member, of: entity)
    }
    guard index < mapping.attributes.count else {
      throw member.keyNode.error(
        "A $find can only use attributes, but \(entity.name).\(member.key) is a relationship. "
          + "Remove “\(member.key)”."
      ).with(entity: entity.name, keyPath: member.key)
    }
    let attribute = mapping.attributes[index].coder
    switch attribute.type {
    case .composite, .transformable:
      throw member.keyNode.error(
        "\(entity.name).\(attribute.name) has values that cannot be searched for. Use another "
          + "attribute."
      ).with(entity: entity.name, keyPath: attribute.name)
    default: break
    }
    let value = try attribute.read(member.value)
    guard !value.isNull else {
      throw member.value.error(
        "A $find requires a value other than null. Set a value."
      ).with(entity: entity.name, keyPath: attribute.name)
    }
    return (attribute, attribute.type.fitting(value) ?? value)
  }
}

/// The labels of a seed. `$id` labels an instance, and `$ref` refers to it from anywhere, including
/// earlier instances and other documents.
struct SeedLabels {
  /// The index in the plan of each labeled instance, and the location of its label.
  private var instances: [StoredText: (item: Int32, node: JSONNode)] = [:]
  /// Each `$ref` with a nonempty label, and its relationship.
  private var references: [(node: JSONNode, relationship: MappedRelationship)] = []

  mutating func define(
    _ node: JSONNode, as item: Int32, of entity: EntitySchema
  ) throws(ArborError) {
    guard let label = node.string, !label.isEmpty else {
      throw node.error(
        "Expected a non-empty string for $id, but found \(node.kind)."
      ).with(entity: entity.name)
    }
    if let first = instances.updateValue((item, node), forKey: StoredText(label)) {
      throw node.error(
        "The label “\(label)” already belongs to the instance at \(first.node.location). Use "
          + "another label for this one."
      ).with(entity: entity.name)
    }
  }

  /// Records a reference, and returns its number in the plan.
  mutating func note(_ node: JSONNode, _ relationship: MappedRelationship) -> Int32 {
    references.append((node, relationship))
    return Int32(references.count - 1)
  }

  /// Returns the indexes of the instances that the references refer to. Called after all documents
  /// have been read.
  ///
  /// - Throws: ``ArborError`` `invalidDocument` if a label is unknown, or its instance isn't valid
  ///   for the relationship.
  func resolve(in plan: ExchangePlan) throws(ArborError) -> [Int32] {
    var items: [Int32] = []
    items.reserveCapacity(references.count)
    for reference in references {
      let label = reference.node.string ?? ""
      let relationship = reference.relationship
      guard let instance = instances[StoredText(label)] else {
        throw reference.node.error(
          "No instance of the seed has the label “\(label)”. Set the label as the $id of an "
            + "instance."
            + hint(label)
        ).with(entity: relationship.entityName, keyPath: relationship.name)
      }
      let entity = plan.mapping(of: plan.items[Int(instance.item)]).entity
      guard entity.isKind(of: relationship.destination) else {
        throw reference.node.error(
          "\(relationship.entityName).\(relationship.name) refers to "
            + "\(relationship.destination.name), but “\(label)”, at \(instance.node.location), is of "
            + "entity \(entity.name). Use another instance."
        ).with(entity: relationship.entityName, keyPath: relationship.name)
      }
      items.append(instance.item)
    }
    return items
  }

  /// Returns a suggestion of a similar label, or an empty string. Skipped for many or long labels,
  /// so that a malicious document cannot cause expensive comparisons.
  private func hint(_ label: String) -> String {
    guard instances.count <= 1_000, label.utf8.count <= 64 else { return "" }
    return NearestName.hint(label, in: instances.keys.map(\.text).sorted())
  }
}
