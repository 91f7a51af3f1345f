import ArborJSON
import ArborModel

/// The structure of a document: an object that contains a list of links, a list of documents, or
/// the instances of one entity, depending on its keys.
extension SeedReader {
  static let seedlings = "seedlings"
  static let seeds = "seeds"

  /// Plans the objects of a document. The depth limit of JSON bounds the recursion.
  mutating func sources(ofDocument node: JSONNode) throws(ArborError) -> [ExchangePlan.Member] {
    guard let members = node.members else {
      throw node.error(
        "A seed document is one object, and this is \(node.kind); write "
          + "{\"Entity\": [ … ]} or {\"seedlings\": [ … ]}.")
    }
    if let links = members.first(where: { $0.key == Self.seedlings }) {
      return try sources(ofLinks: links.value)
    }
    guard let member = members.first else {
      throw node.error("The seed document is empty; name an entity, seedlings or seeds.")
    }
    guard members.count == 1 else {
      throw members[1].keyNode.error(
        "A seed document has one key, and this has \(members.count); write a document for each, "
          + "or put them into {\"seeds\": [ … ]}.")
    }
    if member.key == Self.seeds { return try sources(ofDocuments: member.value) }
    return try sources(ofInstances: member.value, named: member.key, at: member.keyNode)
  }

  private mutating func sources(ofDocuments node: JSONNode) throws(ArborError) -> [ExchangePlan
    .Member]
  {
    guard node.kind == .array else {
      throw node.error("seeds takes a list of documents, and this is \(node.kind); write a list.")
    }
    var sources: [ExchangePlan.Member] = []
    for document in node.items { sources += try self.sources(ofDocument: document) }
    return sources
  }

  private mutating func sources(
    ofInstances node: JSONNode, named name: String, at keyNode: JSONNode
  ) throws(ArborError) -> [ExchangePlan.Member] {
    guard !name.hasPrefix("$") else { throw unknownDirective(name, at: keyNode) }
    guard let entity = schema.entity(named: name) else {
      let known = schema.entityNames + [Self.seedlings, Self.seeds]
      throw keyNode.error(
        "The model has no entity “\(name)”; write the name of one."
          + NearestName.hint(name, in: known))
    }
    guard node.kind == .array else {
      guard node.kind == .object else {
        throw node.error(
          "\(name) takes an object or a list of objects, and this is \(node.kind); write one."
        ).with(entity: name)
      }
      return [try source(ofInstance: node, of: entity, at: keyNode)]
    }
    var sources: [ExchangePlan.Member] = []
    try checkRoom(for: node.count, at: node)
    sources.reserveCapacity(node.count)
    plan.reserve(node.count)
    for instance in node.items {
      guard instance.kind == .object else {
        throw instance.error(
          "A list of \(name) holds objects only, and this is \(instance.kind); remove it."
        ).with(entity: name)
      }
      sources.append(try source(ofInstance: instance, of: entity, at: keyNode))
    }
    return sources
  }

  /// Plans the objects of the documents in a list of links.
  mutating func sources(ofLinks node: JSONNode) throws(ArborError) -> [ExchangePlan.Member] {
    guard node.kind == .array else {
      throw node.error("seedlings takes a list of links, and this is \(node.kind); write a list.")
    }
    return try node.items.map { (link) throws(ArborError) in try source(ofLink: link) }
  }

  private mutating func source(ofLink node: JSONNode) throws(ArborError) -> ExchangePlan.Member {
    guard let members = node.members else {
      throw node.error(
        "A link is an object, and this is \(node.kind); write {\"seedFile\": \"name.json\"}.")
    }
    let known = ["seedFile", "seedUrl"]
    for member in members where !known.contains(member.key) {
      throw member.keyNode.error(
        "A link has no key “\(member.key)”; write seedFile."
          + NearestName.hint(member.key, in: known))
    }
    // If a link contains both, the URL is used.
    if let url = members.first(where: { $0.key == "seedUrl" })?.value {
      guard let text = url.string else {
        throw url.error("A seedUrl is a URL in a string, and this is \(url.kind); write a string.")
      }
      return try follow(url, toURL: text)
    }
    guard let file = members.first?.value else {
      throw node.error(
        "A link names a document, and this names none; write a seedFile or a seedUrl.")
    }
    guard let name = file.string else {
      throw file.error(
        "A seedFile is a path in a string, and this is \(file.kind); write a string.")
    }
    return try follow(file, toFile: name)
  }

  func unknownDirective(_ name: String, at keyNode: JSONNode) -> ArborError {
    keyNode.error(
      "“\(name)” is a key of the format itself, and there is none of that name here; remove it.")
  }
}
