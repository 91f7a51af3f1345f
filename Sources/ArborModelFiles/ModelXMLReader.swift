internal import ArborModel
internal import Foundation

/// A reader of the XML of a model version.
///
/// Reading takes several passes. First, elements become descriptions, and parse errors are
/// recorded. Then leftovers from editors are repaired and recorded as warnings. Finally,
/// ``ModelRules`` validates the whole model. All findings are reported together, in file order.
struct ModelXMLReader {
  /// A valid model and its warnings.
  struct Result {
    let model: ManagedObjectModel
    let warnings: [ArborError]
  }

  private let text: ModelXMLText
  var model = ManagedObjectModel(entities: [])
  var nodes: [ModelSubject: ModelXMLNode] = [:]
  private var findings: [(severity: ModelFinding.Severity, node: ModelXMLNode, error: ArborError)] =
    []
  /// The parts of the model that could not be read completely. Rule violations in them are not
  /// reported, because they would only be consequences.
  var unreadable: Set<ModelSubject> = []
  /// The parts that already have a warning. Warnings of the rules for them are not reported,
  /// because they would only repeat it.
  var mended: Set<ModelSubject> = []
  private var warnedAbout: Set<String> = []

  /// Reads a model.
  ///
  /// - Parameters:
  ///   - data: The text of a `contents` file.
  ///   - source: The file's path, for error messages.
  /// - Throws: ``ArborError`` `invalidModel` with one violation per problem.
  static func read(_ data: Data, source: String?) throws(ArborError) -> Result {
    let text = ModelXMLText(data, source: source)
    let root: ModelXMLNode
    do throws(ArborError) {
      root = try ModelXMLParser.parse(data, text: text)
    } catch {
      throw .invalidModel([error], in: source)
    }
    var reader = ModelXMLReader(text: text)
    reader.read(root)
    let result = try reader.finish(root, source: source)
    var model = result.model
    model.source = ModelSource(contents: data, model: result.model)
    return Result(model: model, warnings: result.warnings)
  }

  private mutating func finish(_ root: ModelXMLNode, source: String?) throws(ArborError) -> Result {
    mendLeftovers()
    for finding in ModelRules.findings(in: model) where !unreadable.contains(finding.subject) {
      if finding.severity == .warning, mended.contains(finding.subject) { continue }
      findings.append((finding.severity, nodes[finding.subject] ?? root, finding.error))
    }
    var located = findings.map { finding in
      let location = text.start(ofTagEndingAt: finding.node.tagEnd)
      return (severity: finding.severity, error: finding.error.with(location: location))
    }
    located.sort { left, right in
      guard let left = left.error.location, let right = right.error.location else { return false }
      return (left.line, left.column) < (right.line, right.column)
    }
    guard !located.contains(where: { $0.severity == .problem }) else {
      throw .invalidModel(located.filter { $0.severity == .problem }.map(\.error), in: source)
    }
    return Result(model: model.withFittingValues(), warnings: located.map(\.error))
  }

  // MARK: Findings

  mutating func report(
    _ node: ModelXMLNode, as severity: ModelFinding.Severity = .problem, entity: String? = nil,
    property: String? = nil, _ message: String
  ) {
    let error = ArborError(.invalidModel, message).with(entity: entity, keyPath: property)
    findings.append((severity, node, error))
  }

  /// Reports a finding about the element of an entity or a property.
  mutating func report(
    _ node: ModelXMLNode, as severity: ModelFinding.Severity = .problem, of entity: String?,
    that what: String
  ) {
    let message = "\(called(node, entity)) \(what)"
    report(node, as: severity, entity: entity, property: node["name"], message)
  }

  /// Excludes a part of the model from the rules, because it could not be read.
  mutating func markUnreadable(_ subject: ModelSubject) { unreadable.insert(subject) }

  /// Reports unknown elements and attributes. Each name is reported only once, because a newer
  /// editor can add the same attribute to many elements.
  private mutating func checkVocabulary(_ node: ModelXMLNode, entity: String?) {
    let known = ModelXMLVocabulary.attributes[node.name] ?? []
    let traps = ModelXMLVocabulary.traps[node.name] ?? [:]
    for name in node.attributes.keys.sorted() where !known.contains(name) {
      if let meant = traps[name] {
        report(
          node, as: .warning, entity: entity, property: node.name == "entity" ? nil : node["name"],
          "The attribute \(name) of the element \(node.name) has no effect. Use \(meant).")
      } else if warnedAbout.insert("\(node.name).\(name)").inserted {
        report(
          node, as: .warning,
          "The attribute \(name) of the element \(node.name) is unknown. It is kept but has no "
            + "effect.\(NearestName.hint(name, in: known.sorted()))")
      }
    }
    let knownChildren = ModelXMLVocabulary.children[node.name] ?? []
    for child in node.children {
      if knownChildren.contains(child.name) {
        let owner = child.name == "entity" ? child["name"] : entity
        checkVocabulary(child, entity: owner)
      } else if warnedAbout.insert("\(node.name)/\(child.name)").inserted {
        report(
          child, as: .warning,
          "The element \(child.name) in \(node.name) is unknown. It is kept but has no effect."
            + NearestName.hint(child.name, in: knownChildren.sorted()))
      }
    }
  }

  // MARK: The model

  private mutating func read(_ root: ModelXMLNode) {
    guard root.name == "model" else {
      report(root, "Expected the root element model, but found \(root.name).")
      return
    }
    checkVocabulary(root, entity: nil)
    if let type = root["type"], type != "com.apple.IDECoreDataModeler.DataModel" {
      report(root, as: .warning, "The document has the type \(type) and is read as a data model.")
    }
    if let version = root["documentVersion"], version != "1.0" {
      report(root, as: .warning, "The document has version \(version) and is read as version 1.0.")
    }
    model.versionIdentifier = root["userDefinedModelVersionIdentifier"] ?? ""
    for node in root.children {
      switch node.name {
      case "entity":
        let entityIndex = model.entities.count
        nodes[.entity(entityIndex)] = node
        model.entities.append(entity(node, at: entityIndex))
      case "fetchRequest":
        nodes[.template(model.fetchRequestTemplates.count)] = node
        model.fetchRequestTemplates.append(template(node))
      case "configuration": readConfiguration(node)
      case "composite", "compositeAttribute":
        let compositeIndex = model.composites.count
        nodes[.composite(compositeIndex)] = node
        let parts = node.all("attribute").enumerated().map { index, part in
          nodes[.part(compositeIndex, index)] = part
          return attribute(part, of: node["name"], at: .part(compositeIndex, index))
        }
        model.composites.append(CompositeDescription(name: node["name"] ?? "", attributes: parts))
      default: break
      }
    }
  }

  private mutating func readConfiguration(_ node: ModelXMLNode) {
    let name = node["name"] ?? ""
    if model.configurations[name] != nil {
      report(node, "There are two configurations named \(name). Rename one.")
    }
    nodes[.configuration(name)] = node
    model.configurations[name, default: []] += node.all("memberEntity").map { $0["name"] ?? "" }
  }

  private mutating func entity(_ node: ModelXMLNode, at entityIndex: Int) -> EntityDescription {
    var entity = EntityDescription(name: node["name"] ?? "")
    let name = entity.name
    entity.className = ModelXMLNames.className(node["representedClassName"])
    entity.isAbstract = flag("isAbstract", of: node, entity: name) ?? false
    entity.parent = node["parentEntity"]
    entity.renamingIdentifier = node["elementID"] ?? node["renamingIdentifier"]
    entity.versionHashModifier = node["versionHashModifier"]
    entity.userInfo = userInfo(of: node)
    // Assigned to the entity only once, because each assignment searches all attributes for marks.
    var attributes: [AttributeDescription] = []
    var indexNames: Set<String> = []
    for child in node.children {
      switch child.name {
      case "attribute":
        let subject = ModelSubject.attribute(entityIndex, attributes.count)
        nodes[subject] = child
        attributes.append(attribute(child, of: name, at: subject))
      case "relationship":
        let subject = ModelSubject.relationship(entityIndex, entity.relationships.count)
        nodes[subject] = child
        entity.relationships.append(relationship(child, of: name, at: subject))
      case "fetchedProperty":
        nodes[.fetchedProperty(entityIndex, entity.fetchedProperties.count)] = child
        if let property = fetchedProperty(child, of: name) {
          entity.fetchedProperties.append(property)
        }
      case "fetchIndex":
        nodes[.index(entityIndex, entity.fetchIndexes.count)] = child
        entity.fetchIndexes.append(fetchIndex(child, of: name))
        indexNames.insert(child["name"] ?? "")
      case "compoundIndexes": addCompoundIndexes(child, to: &entity, at: entityIndex, &indexNames)
      case "uniquenessConstraints": addConstraints(child, to: &entity, at: entityIndex)
      default: break
      }
    }
    entity.attributes = attributes
    applyIndexMarks(to: &entity, at: node)
    return entity
  }

  private mutating func addCompoundIndexes(
    _ node: ModelXMLNode, to entity: inout EntityDescription, at entityIndex: Int,
    _ indexNames: inout Set<String>
  ) {
    for index in node.all("compoundIndex") {
      let columns = index.all("index").map { $0["value"] ?? "" }
      let name = columns.joined(separator: "+")
      // Old editors allowed an entity to have the same index twice.
      guard indexNames.insert(name).inserted else { continue }
      nodes[.index(entityIndex, entity.fetchIndexes.count)] = index
      entity.fetchIndexes.append(
        FetchIndexDescription(name: name, elements: columns.map { .init($0) }))
    }
  }

  private mutating func addConstraints(
    _ node: ModelXMLNode, to entity: inout EntityDescription, at entityIndex: Int
  ) {
    for constraint in node.all("uniquenessConstraint") {
      nodes[.constraint(entityIndex, entity.uniquenessConstraints.count)] = constraint
      entity.uniquenessConstraints.append(constraint.all("constraint").map { $0["value"] ?? "" })
    }
  }
}
