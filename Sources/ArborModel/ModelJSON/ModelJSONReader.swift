public import ArborFoundation
internal import ArborJSON

extension ManagedObjectModel {
  /// Creates a model from its JSON form; see ``jsonData(_:)``.
  ///
  /// ```swift
  /// let model = try ManagedObjectModel(json: Data(#"{"entities": {"Tag": {}}}"#.utf8))
  /// ```
  ///
  /// - Parameters:
  ///   - json: The text in UTF-8.
  ///   - source: The path or URL of the document, for error messages.
  /// - Throws: ``ArborError`` `invalidModel` with one violation per problem, each with its line.
  public init(json: Data, source: String? = nil) throws(ArborError) {
    let document: JSONDocument
    do throws(ArborError) {
      document = try JSONDocument(json, source: source)
    } catch {
      throw .invalidModel([error], in: source)
    }
    self = try ModelJSONReader.read(document)
  }
}

/// A reader of the JSON form of a model, which reports all problems at once.
struct ModelJSONReader {
  private(set) var model = ManagedObjectModel(entities: [])
  private var nodes: [ModelSubject: JSONNode] = [:]
  private var problems: [(node: JSONNode, error: ArborError)] = []
  /// The parts that could not be read. Rule violations in them are not reported, because they would
  /// only be consequences.
  private var unreadable: Set<ModelSubject> = []
  /// The part of the model that is currently being read, to which problems are attributed.
  private var subject = ModelSubject.model
  private(set) var entityName: String?
  private var propertyName: String?

  /// The maximum number of listed problems. It is limited, because locating each one requires
  /// reading the document up to it.
  static let maximumListed = 1_000

  static func read(_ document: JSONDocument) throws(ArborError) -> ManagedObjectModel {
    var reader = ModelJSONReader()
    reader.read(document.root)
    for finding in ModelRules.findings(in: reader.model)
    where finding.severity == .problem && !reader.unreadable.contains(finding.subject) {
      reader.problems.append((reader.nodes[finding.subject] ?? document.root, finding.error))
    }
    guard reader.problems.isEmpty else {
      let sorted = reader.problems.sorted { $0.node.tapeIndex < $1.node.tapeIndex }
      let located = sorted.prefix(maximumListed).map { $0.error.with(location: $0.node.location) }
      throw .invalidModel(located, of: sorted.count, in: document.source)
    }
    return reader.model.withFittingValues()
  }

  // MARK: Problems

  mutating func report(_ node: JSONNode, _ message: String) {
    unreadable.insert(subject)
    let error = ArborError(.invalidModel, message)
      .with(entity: entityName, keyPath: propertyName)
    problems.append((node, error))
  }

  mutating func reportUnknown(_ member: JSONNode.Member, known: [String]) {
    report(
      member.keyNode,
      "“\(member.key)” is not a valid key here. Use one of “\(known.joined(separator: "”, “"))”."
        + NearestName.hint(member.key, in: known))
  }

  // MARK: Plain values

  mutating func members(_ node: JSONNode) -> [JSONNode.Member] {
    if let members = node.members { return members }
    report(node, "Expected an object in braces, but found \(node.kind).")
    return []
  }

  mutating func elements(_ node: JSONNode) -> [JSONNode] {
    if let elements = node.elements { return elements }
    report(node, "Expected an array, but found \(node.kind).")
    return []
  }

  mutating func flag(_ node: JSONNode) -> Bool {
    if let flag = node.bool { return flag }
    report(node, "Expected true or false, but found \(node.kind).")
    return false
  }

  mutating func text(_ node: JSONNode) -> String {
    if let text = node.string { return text }
    report(node, "Expected a string in quotation marks, but found \(node.kind).")
    return ""
  }

  mutating func count(_ node: JSONNode) -> Int {
    if let count = node.number?.int64, count >= 0 { return Int(count) }
    report(node, "Expected an integer of at least 0.")
    return 0
  }

  mutating func notes(_ node: JSONNode) -> [String: String] {
    var notes: [String: String] = [:]
    for member in members(node) { notes[member.key] = text(member.value) }
    return notes
  }

  /// Reads one part of the model, and attributes problems to it.
  mutating func reading<Part>(
    _ subject: ModelSubject, at member: JSONNode.Member, entity: String?, property: String? = nil,
    _ body: (inout Self) -> Part
  ) -> Part {
    nodes[subject] = member.keyNode
    let outer = (self.subject, entityName, propertyName)
    (self.subject, entityName, propertyName) = (subject, entity, property)
    defer { (self.subject, entityName, propertyName) = outer }
    return body(&self)
  }

  // MARK: The model

  private mutating func read(_ root: JSONNode) {
    for member in members(root) {
      switch member.key {
      case "version": model.versionIdentifier = text(member.value)
      case "entities":
        for (entityIndex, entity) in members(member.value).enumerated() {
          let description = reading(.entity(entityIndex), at: entity, entity: entity.key) {
            $0.entity(entity, at: entityIndex)
          }
          model.entities.append(description)
        }
      case "composites":
        for (compositeIndex, composite) in members(member.value).enumerated() {
          let parts = reading(.composite(compositeIndex), at: composite, entity: composite.key) {
            reader in
            reader.attributes(composite.value) { .part(compositeIndex, $0) }
          }
          model.composites.append(CompositeDescription(name: composite.key, attributes: parts))
        }
      case "requests":
        for (requestIndex, request) in members(member.value).enumerated() {
          let template = reading(.template(requestIndex), at: request, entity: nil) {
            $0.template(request.value, name: request.key)
          }
          model.fetchRequestTemplates.append(template)
        }
      case "configurations":
        for configuration in members(member.value) {
          let name = configuration.key
          model.configurations[name] = reading(
            .configuration(name), at: configuration, entity: nil
          ) { reader in
            reader.elements(configuration.value).map { reader.text($0) }
          }
        }
      default: reportUnknown(member, known: ModelJSON.modelKeys)
      }
    }
  }

  private mutating func entity(_ member: JSONNode.Member, at entityIndex: Int) -> EntityDescription
  {
    var entity = EntityDescription(name: member.key)
    for member in members(member.value) {
      switch member.key {
      case "class": entity.className = text(member.value)
      case "abstract": entity.isAbstract = flag(member.value)
      case "parent": entity.parent = text(member.value)
      case "renamedFrom": entity.renamingIdentifier = text(member.value)
      case "versionHashModifier": entity.versionHashModifier = text(member.value)
      case "userInfo": entity.userInfo = notes(member.value)
      case "attributes":
        entity.attributes = attributes(member.value) { .attribute(entityIndex, $0) }
      case "relationships":
        entity.relationships += parts(
          member.value, of: entity.name, { .relationship(entityIndex, $0) }
        ) { $0.relationship($1) }
      case "fetchedProperties":
        entity.fetchedProperties += parts(
          member.value, of: entity.name, { .fetchedProperty(entityIndex, $0) }
        ) { $0.fetchedProperty($1) }
      case "unique":
        for (index, node) in elements(member.value).enumerated() {
          let columns = node.kind == .array ? elements(node).map { text($0) } : [text(node)]
          nodes[.constraint(entityIndex, index)] = node
          entity.uniquenessConstraints.append(columns)
        }
      case "indexes":
        entity.fetchIndexes += parts(
          member.value, of: entity.name, { .index(entityIndex, $0) }
        ) { $0.fetchIndex($1) }
      default: reportUnknown(member, known: ModelJSON.entityKeys)
      }
    }
    return entity
  }

  /// Reads the named parts of an entity or of a composite type.
  mutating func parts<Part>(
    _ node: JSONNode, of entity: String?, _ subject: (Int) -> ModelSubject,
    _ read: (inout Self, JSONNode.Member) -> Part
  ) -> [Part] {
    var parts: [Part] = []
    for (index, member) in members(node).enumerated() {
      parts.append(
        reading(subject(index), at: member, entity: entity, property: member.key) {
          read(&$0, member)
        })
    }
    return parts
  }
}
