public import ArborModel
internal import ArborJSON
public import Foundation

extension ManagedObjectModel {
  /// Writes the model to a file, in the format that the file's name specifies.
  ///
  /// An unchanged model that was read from XML is written back byte for byte. Otherwise only the
  /// changed parts are updated, and content that the model doesn't represent is preserved. In an
  /// existing bundle, the current version is overwritten, and all other versions are kept. A new
  /// bundle gets a single version with the bundle's name.
  ///
  /// - Parameter url: A `.xcdatamodeld` or `.xcdatamodel` folder, or a `.model.json` file.
  /// - Throws: ``ArborError`` `invalidModel` if the model is invalid or XML cannot represent it,
  ///   `invalidArgument` for other file types, or `inputOutput` if the file cannot be written.
  public func write(to url: URL) throws(ArborError) {
    switch ModelFileKind(url) {
    case .json?: try Self.write(jsonData(.pretty) + Data("\n".utf8), to: url)
    case .contents?: try Self.write(xmlData(), to: url)
    case .version?: try Self.write(xmlData(), to: url.appending(path: "contents"))
    case .bundle?:
      let contents = try xmlData()
      if FileManager.default.fileExists(atPath: url.path) {
        let bundle = try ModelBundle(at: url)
        try Self.write(contents, to: bundle.current.url.appending(path: "contents"))
      } else {
        let version = url.deletingPathExtension().lastPathComponent + ModelFileKind.versionSuffix
        try Self.write(contents, to: url.appending(path: "\(version)/contents"))
        try Self.write(ModelBundle.mark(version), to: url.appending(path: ModelBundle.markName))
      }
    case .compiled?, .mapping?, nil:
      throw ArborError(
        .invalidArgument,
        "A model cannot be written to \(url.lastPathComponent). Use a name that ends with "
          + ".xcdatamodeld, .xcdatamodel or .model.json.")
    }
  }

  /// Returns the model in the XML of `.xcdatamodel` versions; see ``write(to:)``.
  ///
  /// - Throws: ``ArborError`` `invalidModel` if the model is invalid or XML cannot represent it.
  ///   For example, XML has no default values for binary attributes.
  public func xmlData() throws(ArborError) -> Data {
    if let source, source.model == self { return source.contents }
    try validated()
    var renderer = ModelXMLRenderer()
    renderer.write(try ModelXMLWriter(self).root())
    let data = Data(renderer.text.utf8)
    // Reading the result back is the most reliable check that nothing was lost.
    let written = try ModelXMLReader.read(data, source: nil).model
    guard written == withFittingValues() else {
      throw ArborError(
        .invalidModel,
        "The XML format cannot represent everything in this model. Write it as .model.json. What "
          + "would be lost:\n\(written.difference(to: self))")
    }
    return data
  }

  private static func write(_ data: Data, to url: URL) throws(ArborError) {
    do {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: url, options: .atomic)
    } catch {
      throw ArborError(
        .inputOutput,
        "\(url.lastPathComponent) cannot be written. Check the permissions of its folder."
      ).with(underlying: error)
    }
  }
}

/// A writer that creates the elements of a model by merging the model into the file it was read
/// from.
struct ModelXMLWriter {
  private let model: ManagedObjectModel
  private let oldModel: ManagedObjectModel?
  private let oldRoot: ModelXMLNode?

  init(_ model: ManagedObjectModel) throws(ArborError) {
    self.model = model
    oldModel = model.source?.model
    oldRoot = try model.source.map { source throws(ArborError) in
      let text = ModelXMLText(source.contents, source: nil)
      return try ModelXMLParser.parse(source.contents, text: text).withReadOrder(in: text)
    }
  }

  func root() -> ModelXMLNode {
    var root = patched("model", oldRoot, new: model.xmlAttributes, old: oldModel?.xmlAttributes)
    if oldRoot == nil {
      root.attributes["type"] = "com.apple.IDECoreDataModeler.DataModel"
      root.attributes["documentVersion"] = "1.0"
      root.attributes["minimumToolsVersion"] = "Automatic"
      root.attributes["sourceLanguage"] = "Swift"
    }
    root.children = model.entities.map(entity)
    root.children += model.fetchRequestTemplates.map { template in
      let old = oldModel?.fetchRequestTemplates.first { $0.name == template.name }
      return request(template, old, find("fetchRequest", template.name, in: oldRoot))
    }
    for (name, members) in model.configurations.sorted(by: { $0.key < $1.key }) {
      var node = patched(
        "configuration", find("configuration", name, in: oldRoot), new: ["name": name], old: nil)
      node.children = members.map { ModelXMLNode("memberEntity", ["name": $0]) }
      root.children.append(node)
    }
    root.children += model.composites.map { composite in
      let oldNode =
        find("composite", composite.name, in: oldRoot)
        ?? find("compositeAttribute", composite.name, in: oldRoot)
      let old = oldModel?.composites.first { $0.name == composite.name }
      var node = patched(
        oldNode?.name ?? "composite", oldNode, new: ["name": composite.name], old: nil)
      node.children = composite.attributes.map { attribute($0, old?.attributes, in: oldNode) }
      return node
    }
    let written: Set = [
      "entity", "fetchRequest", "configuration", "composite", "compositeAttribute",
    ]
    root.children += (oldRoot?.children ?? []).filter { !written.contains($0.name) }
    return root
  }

  /// Returns the old element with those attributes updated that have changed in the model, or a new
  /// element if there is no old one.
  ///
  /// A missing attribute, `NO` and `no` are equivalent, so the text changes only if its meaning
  /// does.
  private func patched(
    _ name: String, _ oldNode: ModelXMLNode?, new: [String: String?], old: [String: String?]?
  ) -> ModelXMLNode {
    var attributes = oldNode?.attributes ?? [:]
    for (key, value) in new where oldNode == nil || old == nil || old?[key] != .some(value) {
      attributes[key] = value
      // An alternative spelling of the same attribute.
      if key == "elementID" { attributes["renamingIdentifier"] = nil }
      if key == "preserveAfterDeletion" {
        attributes[ModelXMLVocabulary.oldPreservationMark] = nil
      }
    }
    guard var node = oldNode else { return ModelXMLNode(name, attributes) }
    node.attributes = attributes
    return node
  }

  private func find(_ kind: String, _ name: String?, in node: ModelXMLNode?) -> ModelXMLNode? {
    node?.children.first { $0.name == kind && $0["name"] == name }
  }

  // MARK: Entities

  private func entity(_ entity: EntityDescription) -> ModelXMLNode {
    let oldNode = find("entity", entity.name, in: oldRoot)
    let old = oldModel?.entity(named: entity.name)
    var node = patched("entity", oldNode, new: entity.xmlAttributes, old: old?.xmlAttributes)
    if oldNode == nil { node.attributes["syncable"] = "YES" }
    node.children = entity.attributes.map { attribute($0, old?.attributes, in: oldNode) }
    node.children += entity.relationships.map { relationship in
      let oldNode = find("relationship", relationship.name, in: oldNode)
      let old = old?.relationships.first { $0.name == relationship.name }
      var node = patched(
        "relationship", oldNode, new: relationship.xmlAttributes, old: old?.xmlAttributes)
      node.children = userInfo(relationship.userInfo, old?.userInfo, in: oldNode)
      return node
    }
    node.children += entity.fetchedProperties.map { property in
      let oldNode = find("fetchedProperty", property.name, in: oldNode)
      let old = old?.fetchedProperties.first { $0.name == property.name }
      var node = patched(
        "fetchedProperty", oldNode, new: property.xmlAttributes, old: old?.xmlAttributes)
      node.children =
        [request(property.request, old?.request, oldNode?.all("fetchRequest").first)]
        + userInfo(property.userInfo, old?.userInfo, in: oldNode)
      return node
    }
    if let oldNode, entity.fetchIndexes == old?.fetchIndexes {
      node.children += oldNode.all("fetchIndex") + oldNode.all("compoundIndexes")
    } else {
      node.children += entity.fetchIndexes.map(\.xmlNode)
    }
    if let oldNode, entity.uniquenessConstraints == old?.uniquenessConstraints {
      node.children += oldNode.all("uniquenessConstraints")
    } else if !entity.uniquenessConstraints.isEmpty {
      node.children.append(Self.constraints(entity.uniquenessConstraints))
    }
    node.children += userInfo(entity.xmlUserInfo, old?.xmlUserInfo, in: oldNode)
    let known = ModelXMLVocabulary.children["entity"] ?? []
    node.children += (oldNode?.children ?? []).filter { !known.contains($0.name) }
    return node
  }

  private static func constraints(_ constraints: [[String]]) -> ModelXMLNode {
    var node = ModelXMLNode("uniquenessConstraints", [:])
    node.children = constraints.map { columns in
      var constraint = ModelXMLNode("uniquenessConstraint", [:])
      constraint.children = columns.map { ModelXMLNode("constraint", ["value": $0]) }
      return constraint
    }
    return node
  }

  private func attribute(
    _ attribute: AttributeDescription, _ old: [AttributeDescription]?, in owner: ModelXMLNode?
  ) -> ModelXMLNode {
    let oldNode = find("attribute", attribute.name, in: owner)
    let old = old?.first { $0.name == attribute.name }
    var node = patched("attribute", oldNode, new: attribute.xmlAttributes, old: old?.xmlAttributes)
    node.children = userInfo(
      ModelXMLJSONMark.userInfo(of: attribute), old.map(ModelXMLJSONMark.userInfo), in: oldNode)
    return node
  }

  private func request(
    _ template: FetchRequestTemplate, _ old: FetchRequestTemplate?, _ oldNode: ModelXMLNode?
  ) -> ModelXMLNode {
    patched("fetchRequest", oldNode, new: template.xmlAttributes, old: old?.xmlAttributes)
  }

  private func userInfo(
    _ notes: [String: String], _ old: [String: String]?, in oldNode: ModelXMLNode?
  ) -> [ModelXMLNode] {
    if let oldNode, notes == old { return oldNode.all("userInfo") }
    guard !notes.isEmpty else { return [] }
    var node = ModelXMLNode("userInfo", [:])
    node.children = notes.sorted { $0.key < $1.key }.map {
      ModelXMLNode("entry", ["key": $0, "value": $1])
    }
    return [node]
  }
}

extension EntityDescription {
  /// The user info, including entries for features of the indexes that the format doesn't support.
  fileprivate var xmlUserInfo: [String: String] {
    userInfo.merging(ModelXMLIndexMarks.entries(of: fetchIndexes)) { _, mark in mark }
  }
}
