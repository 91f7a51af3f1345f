import ArborJSON
import ArborModel

/// The structure of a document: an object that contains a list of links, a list of documents, or
/// the instances of one entity, depending on its keys.
extension SeedReader {
  static let seedlings = "seedlings"
  static let seeds = "seeds"

  /// Plans the objects of a document. The depth limit of JSON bounds the recursion.
  mutating func planDocument(_ node: JSONNode) throws(ArborError) -> [ExchangePlan.Member] {
    guard let members = node.members else {
      throw node.error(
        "Expected an object for a seed document, but found \(node.kind). Write {\"Entity\": [ … ]} "
          + "or {\"seedlings\": [ … ]}.")
    }
    if let links = members.first(where: { $0.key == Self.seedlings }) {
      return try planLinks(links.value)
    }
    guard let member = members.first else {
      throw node.error("The seed document is empty. Add an entity, seedlings or seeds.")
    }
    guard members.count == 1 else {
      throw members[1].keyNode.error(
        "A seed document has one key, but this one has \(members.count). Split it, or put the "
          + "parts in {\"seeds\": [ … ]}.")
    }
    if member.key == Self.seeds { return try planDocuments(member.value) }
    return try planInstances(member.value, named: member.key, at: member.keyNode)
  }

  private mutating func planDocuments(
    _ node: JSONNode
  ) throws(ArborError) -> [ExchangePlan.Member] {
    guard node.kind == .array else {
      throw node.error("Expected a list of documents for seeds, but found \(node.kind).")
    }
    var found: [ExchangePlan.Member] = []
    for document in node.items { found += try planDocument(document) }
    return found
  }

  private mutating func planInstances(
    _ node: JSONNode, named name: String, at keyNode: JSONNode
  ) throws(ArborError) -> [ExchangePlan.Member] {
    guard !name.hasPrefix("$") else { throw unknownDirective(name, at: keyNode) }
    guard let entity = schema.entity(named: name) else {
      let known = schema.entityNames + [Self.seedlings, Self.seeds]
      throw keyNode.error(
        "The model has no entity “\(name)”. Correct the name."
          + NearestName.hint(name, in: known))
    }
    guard node.kind == .array else {
      guard node.kind == .object else {
        throw node.error(
          "Expected an object or a list of objects for \(name), but found \(node.kind)."
        ).with(entity: name)
      }
      return [try planInstance(node, of: entity, at: keyNode)]
    }
    var found: [ExchangePlan.Member] = []
    try checkRoom(for: node.count, at: node)
    found.reserveCapacity(node.count)
    plan.reserve(node.count)
    for instance in node.items {
      guard instance.kind == .object else {
        throw instance.error(
          "Expected an object in the list of \(name), but found \(instance.kind)."
        ).with(entity: name)
      }
      found.append(try planInstance(instance, of: entity, at: keyNode))
    }
    return found
  }

  /// Plans the objects of the documents in a list of links.
  mutating func planLinks(_ node: JSONNode) throws(ArborError) -> [ExchangePlan.Member] {
    guard node.kind == .array else {
      throw node.error("Expected a list of links for seedlings, but found \(node.kind).")
    }
    return try node.items.map { (link) throws(ArborError) in try planLink(link) }
  }

  private mutating func planLink(_ node: JSONNode) throws(ArborError) -> ExchangePlan.Member {
    guard let members = node.members else {
      throw node.error(
        "Expected an object for a link, but found \(node.kind). Write {\"seedFile\": "
          + "\"name.json\"}.")
    }
    let known = ["seedFile", "seedUrl"]
    for member in members where !known.contains(member.key) {
      throw member.keyNode.error(
        "“\(member.key)” is not a key of a link. Use seedFile."
          + NearestName.hint(member.key, in: known))
    }
    // If a link contains both keys, the URL is used.
    if let url = members.first(where: { $0.key == "seedUrl" })?.value {
      guard let text = url.string else {
        throw url.error("Expected a string for seedUrl, but found \(url.kind).")
      }
      return try follow(url, toURL: text)
    }
    guard let file = members.first?.value else {
      throw node.error(
        "The link contains no document. Add a seedFile or a seedUrl.")
    }
    guard let name = file.string else {
      throw file.error(
        "Expected a string for seedFile, but found \(file.kind).")
    }
    return try follow(file, toFile: name)
  }

  func unknownDirective(_ name: String, at keyNode: JSONNode) -> ArborError {
    keyNode.error(
      "“\(name)” is a reserved key that is not valid here. Remove it.")
  }
}
