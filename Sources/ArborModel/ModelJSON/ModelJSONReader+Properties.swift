internal import ArborFoundation
internal import ArborJSON

extension ModelJSONReader {
  // MARK: Attributes

  mutating func attributes(
    _ node: JSONNode, subject: (Int) -> ModelSubject
  ) -> [AttributeDescription] {
    parts(node, of: entityName, subject) { $0.attribute($1) }
  }

  private mutating func attribute(_ member: JSONNode.Member) -> AttributeDescription {
    var attribute = AttributeDescription(name: member.key, type: .undefined)
    guard member.value.kind != .string else {
      readType(member.value, into: &attribute)
      return attribute
    }
    // Values are read last, because their interpretation depends on the type.
    var values: [JSONNode.Member] = []
    for member in members(member.value) {
      let value = member.value
      switch member.key {
      case "type": readType(value, into: &attribute)
      case "default", "min", "max": values.append(member)
      case "optional": attribute.isOptional = flag(value)
      case "pattern": attribute.regularExpression = text(value)
      case "indexed": attribute.isIndexed = flag(value)
      case "transient": attribute.isTransient = flag(value)
      case "externalStorage": attribute.allowsExternalStorage = flag(value)
      case "derivation": attribute.derivation = text(value)
      case "shape": attribute.shape = shape(value)
      case "valueClass": attribute.valueClassName = text(value)
      case "preservedOnDeletion": attribute.isPreservedOnDeletion = flag(value)
      case "renamedFrom": attribute.renamingIdentifier = text(value)
      case "versionHashModifier": attribute.versionHashModifier = text(value)
      case "userInfo": attribute.userInfo = notes(value)
      default: reportUnknown(member, known: ModelJSON.attributeKeys)
      }
    }
    for member in values { readValue(member, into: &attribute) }
    return attribute
  }

  private mutating func shape(_ node: JSONNode) -> JSONShape? {
    switch JSONShape.read(node) {
    case .success(let shape): return shape
    case .failure(let part):
      report(
        part.node,
        "This isn't the structure of JSON. Write a type such as “string”, “integer64” or “date?”, an "
          + "object with such members, or [“list”, type], [“map”, type], [“cases”, values…] or "
          + "[“optional”, type].")
      return nil
    }
  }

  private mutating func readType(_ node: JSONNode, into attribute: inout AttributeDescription) {
    let text = text(node)
    let isOptional = text.hasSuffix("?")
    let name = isOptional ? text.dropLast() : text[...]
    if isOptional { attribute.isOptional = true }
    if let type = ModelJSON.type(of: name) {
      attribute.type = type
    } else if node.kind == .string {
      report(
        node,
        "“\(name)” is not an attribute type. Use one of "
          + "“\(ModelJSON.typeNames.joined(separator: "”, “"))”."
          + NearestName.hint(String(name), in: ModelJSON.typeNames))
    }
  }

  private mutating func readValue(
    _ member: JSONNode.Member, into attribute: inout AttributeDescription
  ) {
    let type = attribute.type
    let isBound = member.key != "default"
    guard let wanted = isBound ? type.boundType : type else {
      report(member.keyNode, "Attributes of this type cannot have bounds. Remove the bounds.")
      return
    }
    guard let value = wanted.value(ofJSON: member.value) else {
      report(member.value, "This value doesn't fit the attribute. Expected \(wanted.expectation).")
      return
    }
    switch member.key {
    case "min": attribute.minimum = value
    case "max": attribute.maximum = value
    default: attribute.defaultValue = value
    }
  }

  // MARK: Relationships

  mutating func relationship(_ member: JSONNode.Member) -> RelationshipDescription {
    var relationship = RelationshipDescription(name: member.key, destination: "")
    for member in members(member.value) {
      let value = member.value
      switch member.key {
      case "to": relationship.destination = text(value)
      case "inverse": relationship.inverse = text(value)
      case "toMany": relationship.isToMany = flag(value)
      case "ordered": relationship.isOrdered = flag(value)
      case "min": relationship.minimumCount = count(value)
      case "max": relationship.maximumCount = count(value)
      case "optional": relationship.isOptional = flag(value)
      case "transient": relationship.isTransient = flag(value)
      case "renamedFrom": relationship.renamingIdentifier = text(value)
      case "versionHashModifier": relationship.versionHashModifier = text(value)
      case "userInfo": relationship.userInfo = notes(value)
      case "deleteRule":
        let name = text(value)
        if let rule = RelationshipDescription.DeleteRule(rawValue: name) {
          relationship.deleteRule = rule
        } else if value.kind == .string {
          let known = RelationshipDescription.DeleteRule.allCases.map(\.rawValue)
          report(
            value,
            "“\(name)” is not a delete rule. Use one of “\(known.joined(separator: "”, “"))”."
              + NearestName.hint(name, in: known))
        }
      default: reportUnknown(member, known: ModelJSON.relationshipKeys)
      }
    }
    return relationship
  }

  // MARK: Requests and indexes

  mutating func fetchedProperty(_ member: JSONNode.Member) -> FetchedPropertyDescription {
    var property = FetchedPropertyDescription(
      name: member.key, request: FetchRequestTemplate(name: member.key, entity: ""))
    for member in members(member.value) {
      switch member.key {
      case "optional": property.isOptional = flag(member.value)
      case "request": property.request = template(member.value, name: property.name)
      case "userInfo": property.userInfo = notes(member.value)
      default: reportUnknown(member, known: ModelJSON.fetchedPropertyKeys)
      }
    }
    return property
  }

  mutating func template(_ node: JSONNode, name: String) -> FetchRequestTemplate {
    var template = FetchRequestTemplate(name: name, entity: "")
    for member in members(node) {
      let value = member.value
      switch member.key {
      case "name": template.name = text(value)
      case "entity": template.entity = text(value)
      case "predicate": template.predicate = text(value)
      case "limit": template.fetchLimit = count(value)
      case "batchSize": template.fetchBatchSize = count(value)
      case "includesSubentities": template.includesSubentities = flag(value)
      case "includesPendingChanges": template.includesPendingChanges = flag(value)
      case "distinct": template.returnsDistinctResults = flag(value)
      case "results":
        let name = text(value)
        if let result = ModelJSON.resultNames.first(where: { $0.name == name }) {
          template.resultType = result.type
        } else if value.kind == .string {
          report(value, "“\(name)” is not a result type. Use “objects”, “ids” or “rows”.")
        }
      default: reportUnknown(member, known: ModelJSON.requestKeys)
      }
    }
    return template
  }

  mutating func fetchIndex(_ member: JSONNode.Member) -> FetchIndexDescription {
    var index = FetchIndexDescription(name: member.key, elements: [])
    guard member.value.kind == .object else {
      index.elements = elements(member.value).map { indexElement($0) }
      return index
    }
    for member in members(member.value) {
      switch member.key {
      case "elements": index.elements = elements(member.value).map { indexElement($0) }
      case "where": index.partialIndexPredicate = text(member.value)
      case "unique": index.isUnique = flag(member.value)
      default: reportUnknown(member, known: ModelJSON.indexKeys)
      }
    }
    return index
  }

  /// Reads `"age"`, `"-age"`, or an object with further properties.
  private mutating func indexElement(_ node: JSONNode) -> FetchIndexDescription.Element {
    guard node.kind == .object else {
      let name = text(node)
      let isDescending = name.hasPrefix("-")
      return .init(isDescending ? String(name.dropFirst()) : name, isAscending: !isDescending)
    }
    var element = FetchIndexDescription.Element("")
    for member in members(node) {
      switch member.key {
      case "property": element.property = text(member.value)
      case "expression":
        element.property = text(member.value)
        element.isExpression = true
      case "descending": element.isAscending = !flag(member.value)
      case "kind":
        let name = text(member.value)
        if let kind = FetchIndexDescription.Element.Kind(rawValue: name) {
          element.kind = kind
        } else if member.value.kind == .string {
          report(
            member.value,
            "“\(name)” is not an index type. Use “binary”, “rTree”, “folded” or “text”.")
        }
      default: reportUnknown(member, known: ModelJSON.elementKeys)
      }
    }
    return element
  }
}
