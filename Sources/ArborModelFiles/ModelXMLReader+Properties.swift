internal import ArborModel
internal import Foundation

extension ModelXMLReader {
  // MARK: Attributes

  mutating func attribute(
    _ node: ModelXMLNode, of entity: String?, at subject: ModelSubject
  ) -> AttributeDescription {
    let name = node["name"] ?? ""
    var attribute = AttributeDescription(name: name, type: .undefined)
    attribute.isTransient = flag("transient", of: node, entity: entity) ?? false
    attribute.isOptional = flag("optional", of: node, entity: entity) ?? false
    attribute.isIndexed = flag("indexed", of: node, entity: entity) ?? false
    attribute.allowsExternalStorage =
      flag("allowsExternalBinaryDataStorage", of: node, entity: entity) ?? false
    attribute.isPreservedOnDeletion =
      flag("preserveAfterDeletion", of: node, entity: entity)
      ?? flag(ModelXMLVocabulary.oldPreservationMark, of: node, entity: entity) ?? false
    attribute.regularExpression = node["regularExpressionString"]
    if flag("derived", of: node, entity: entity) ?? true {
      attribute.derivation = node["derivationExpression"]
    }
    attribute.renamingIdentifier = node["elementID"] ?? node["renamingIdentifier"]
    attribute.versionHashModifier = node["versionHashModifier"]
    attribute.valueClassName = node["customClassName"]
    attribute.userInfo = userInfo(of: node)
    guard let type = attributeType(node, of: entity) else {
      markUnreadable(subject)
      return attribute
    }
    attribute.type = type
    if attribute.regularExpression != nil, type != .string {
      report(
        node, as: .warning, entity: entity, property: attribute.name,
        "\(called(node, entity)) has a regular expression but is not a string. It has no effect; "
          + "remove it.")
      attribute.regularExpression = nil
    }
    readValues(node, into: &attribute, of: entity)
    applyJSONMark(to: &attribute, node, of: entity)
    return attribute
  }

  private mutating func attributeType(_ node: ModelXMLNode, of entity: String?) -> AttributeType? {
    guard let text = node["attributeType"], !text.isEmpty else { return .undefined }
    guard let type = ModelXMLVocabulary.attributeTypes[text] else {
      let known = ModelXMLVocabulary.attributeTypes.keys.sorted()
      report(
        node, of: entity,
        that: "has the unknown type “\(text)”. Use one of "
          + "“\(known.joined(separator: "”, “"))”.\(NearestName.hint(text, in: known))")
      return nil
    }
    return switch type {
    case .transformable: .transformable(node["valueTransformerName"] ?? "")
    case .composite: .composite(node["composite"] ?? "")
    default: type
    }
  }

  // MARK: Relationships

  mutating func relationship(
    _ node: ModelXMLNode, of entity: String, at subject: ModelSubject
  ) -> RelationshipDescription {
    var relationship = RelationshipDescription(
      name: node["name"] ?? "", destination: node["destinationEntity"] ?? "",
      inverse: node["inverseName"])
    relationship.isOptional = flag("optional", of: node, entity: entity) ?? false
    relationship.isOrdered = flag("ordered", of: node, entity: entity) ?? false
    relationship.isTransient = flag("transient", of: node, entity: entity) ?? false
    relationship.renamingIdentifier = node["elementID"] ?? node["renamingIdentifier"]
    relationship.versionHashModifier = node["versionHashModifier"]
    relationship.userInfo = userInfo(of: node)
    readCounts(node, into: &relationship, of: entity)
    if relationship.isOrdered, !relationship.isToMany {
      report(
        node, as: .warning, entity: entity, property: relationship.name,
        "\(called(node, entity)) is ordered but to-one. The mark has no effect; remove it.")
      relationship.isOrdered = false
    }
    if let rule = node["deletionRule"] {
      if let known = ModelXMLVocabulary.deleteRules[rule] {
        relationship.deleteRule = known
      } else {
        let names = ModelXMLVocabulary.deleteRules.keys.sorted()
        report(
          node, entity: entity, property: relationship.name,
          "\(called(node, entity)) has the unknown deletion rule “\(rule)”. Use one of "
            + "“\(names.joined(separator: "”, “"))”.\(NearestName.hint(rule, in: names))")
      }
    }
    checkInverse(of: relationship, node, of: entity)
    return relationship
  }

  private mutating func checkInverse(
    of relationship: RelationshipDescription, _ node: ModelXMLNode, of entity: String
  ) {
    guard let inverseEntity = node["inverseEntity"] else { return }
    if relationship.inverse == nil {
      report(
        node, entity: entity, property: relationship.name,
        "\(called(node, entity)) has inverseEntity without inverseName. Add the name of the "
          + "inverse."
      )
    } else if inverseEntity != relationship.destination, !relationship.destination.isEmpty {
      report(
        node, as: .warning, entity: entity, property: relationship.name,
        "\(called(node, entity)) has inverseEntity \(inverseEntity) but the destination "
          + "\(relationship.destination). Use the same entity for both.")
    }
  }

  /// Reads whether a relationship is to-many, and its minimum and maximum counts.
  ///
  /// A relationship without the attribute `toMany` is to-many if it has a `maxCount` other than 1.
  /// The counts of a to-one relationship have no further meaning.
  private mutating func readCounts(
    _ node: ModelXMLNode, into relationship: inout RelationshipDescription, of entity: String
  ) {
    let minimum = count("minCount", of: node, entity: entity) ?? 0
    let maximum = count("maxCount", of: node, entity: entity)
    let isMarked = flag("toMany", of: node, entity: entity)
    relationship.isToMany = isMarked ?? ((maximum ?? 1) != 1)
    if relationship.isToMany || minimum > 1 || maximum ?? 0 > 1 {
      relationship.minimumCount = minimum
      relationship.maximumCount = maximum ?? 0
    }
    if isMarked == nil, maximum == nil {
      report(
        node, as: .warning, entity: entity, property: relationship.name,
        "\(called(node, entity)) has neither toMany=\"YES\" nor maxCount=\"1\" and is read as "
          + "to-one.")
    }
  }

  private mutating func count(_ key: String, of node: ModelXMLNode, entity: String?) -> Int? {
    guard let text = node[key] else { return nil }
    if let count = Int(text), count >= 0 { return count }
    report(node, of: entity, that: "has \(key) “\(text)”. Use an integer of at least 0.")
    return nil
  }

  // MARK: Requests and indexes

  mutating func fetchedProperty(
    _ node: ModelXMLNode, of entity: String
  ) -> FetchedPropertyDescription? {
    guard let request = node.all("fetchRequest").first else {
      report(node, of: entity, that: "has no fetch request. Add one, or remove the property.")
      return nil
    }
    return FetchedPropertyDescription(
      name: node["name"] ?? "", isOptional: flag("optional", of: node, entity: entity) ?? false,
      request: template(request), userInfo: userInfo(of: node))
  }

  mutating func template(_ node: ModelXMLNode) -> FetchRequestTemplate {
    // A flag that is missing from a template is off, unlike in a request created in code. There is
    // one exception: fetches include the context's uncommitted changes unless the template excludes
    // them.
    var template = FetchRequestTemplate(
      name: node["name"] ?? "", entity: node["entity"] ?? "",
      includesSubentities: flag("includeSubentities", of: node, entity: nil) ?? false,
      includesPendingChanges: flag("includesPendingChanges", of: node, entity: nil) ?? true,
      returnsDistinctResults: flag("returnDistinctResults", of: node, entity: nil) ?? false)
    if let predicate = node["predicateString"], !predicate.isEmpty {
      template.predicate = predicate
    }
    template.fetchLimit = count("fetchLimit", of: node, entity: nil) ?? 0
    template.fetchBatchSize = count("fetchBatchSize", of: node, entity: nil) ?? 0
    if let text = node["resultType"] {
      if let type = Int(text).flatMap(FetchRequestTemplate.ResultType.init) {
        template.resultType = type
      } else {
        report(
          node, entity: template.entity,
          "\(called(node, nil)) has the unknown resultType “\(text)”. Use 0 for objects, 1 for IDs "
            + "or 2 for rows.")
      }
    }
    return template
  }

  mutating func fetchIndex(_ node: ModelXMLNode, of entity: String) -> FetchIndexDescription {
    let elements = node.all("fetchIndexElement").map { element in
      let expression = element["expression"]
      if let type = element["type"], !["Binary", "RTree"].contains(type) {
        report(
          element, entity: entity, property: node["name"],
          "\(called(node, entity)) has an element of the unknown type “\(type)”. Use “Binary” or "
            + "“RTree”."
        )
      }
      if let order = element["order"], !["ascending", "descending"].contains(order) {
        report(
          element, entity: entity, property: node["name"],
          "\(called(node, entity)) has the unknown order “\(order)”. Use “ascending” or "
            + "“descending”.")
      }
      let isAscending = element["order"] != "descending"
      if let folded = expression.flatMap(ModelXMLIndexMarks.foldedProperty) {
        return FetchIndexDescription.Element(folded, isAscending: isAscending, kind: .folded)
      }
      return FetchIndexDescription.Element(
        expression ?? element["property"] ?? "", isExpression: expression != nil,
        isAscending: isAscending, kind: element["type"] == "RTree" ? .rTree : .binary)
    }
    return FetchIndexDescription(
      name: node["name"] ?? "", elements: elements,
      partialIndexPredicate: node["partialIndexPredicate"])
  }

  // MARK: Common parts

  mutating func flag(_ key: String, of node: ModelXMLNode, entity: String?) -> Bool? {
    guard let text = node[key] else { return nil }
    if let flag = Bool(modelText: text) { return flag }
    report(
      node, entity: node.name == "entity" ? node["name"] : entity,
      property: node.name == "entity" ? nil : node["name"],
      "\(called(node, entity)) has \(key) “\(text)”. Use “YES” or “NO”.")
    return nil
  }

  mutating func userInfo(of node: ModelXMLNode) -> [String: String] {
    let entries = node.all("userInfo").flatMap { $0.all("entry") }
    return Dictionary(
      entries.map { ($0["key"] ?? "", $0["value"] ?? "") }, uniquingKeysWith: { _, last in last })
  }

  /// Returns the name of an element for messages: `Attribute Employee.age`.
  func called(_ node: ModelXMLNode, _ entity: String?) -> String {
    let name = node["name"] ?? "without a name"
    return switch node.name {
    case "entity": "Entity \(name)"
    case "attribute": "Attribute \(entity.map { "\($0)." } ?? "")\(name)"
    case "relationship": "Relationship \(entity.map { "\($0)." } ?? "")\(name)"
    case "fetchedProperty": "Fetched property \(entity.map { "\($0)." } ?? "")\(name)"
    case "fetchRequest": "Fetch request \(name)"
    case "fetchIndex": "Index \(name)\(entity.map { " of \($0)" } ?? "")"
    default: "Element \(node.name) \(name)"
    }
  }
}

/// Class names in model files.
enum ModelXMLNames {
  /// Returns the class that a file names, or `nil` for `ManagedObject`. A leading dot represents
  /// the application's own module.
  static func className(_ text: String?) -> String? {
    guard let text, !text.isEmpty, text != "NSManagedObject", text != "ManagedObject" else {
      return nil
    }
    return text.hasPrefix(".") ? String(text.dropFirst()) : text
  }
}
