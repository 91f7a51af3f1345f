internal import ArborModel
internal import Foundation

/// The XML attributes of each description. The value of an omitted attribute is `nil`.
extension ManagedObjectModel {
  var xmlAttributes: [String: String?] { ["userDefinedModelVersionIdentifier": versionIdentifier] }
}

extension EntityDescription {
  var xmlAttributes: [String: String?] {
    [
      "name": name, "representedClassName": className ?? "NSManagedObject",
      "parentEntity": parent, "isAbstract": isAbstract.xmlMark, "elementID": renamingIdentifier,
      "versionHashModifier": versionHashModifier,
    ]
  }
}

extension AttributeDescription {
  var xmlAttributes: [String: String?] {
    let isDate = type == .date
    var attributes: [String: String?] = [
      "name": name, "optional": isOptional.xmlMark, "transient": isTransient.xmlMark,
      "attributeType": type.xmlName, "indexed": isIndexed.xmlMark,
      "allowsExternalBinaryDataStorage": allowsExternalStorage.xmlMark,
      "preserveAfterDeletion": isPreservedOnDeletion.xmlMark,
      "regularExpressionString": regularExpression, "derived": (derivation != nil).xmlMark,
      "derivationExpression": derivation, "customClassName": valueClassName,
      "elementID": renamingIdentifier, "versionHashModifier": versionHashModifier,
      isDate ? "defaultDateTimeInterval" : "defaultValueString": type.xmlText(of: defaultValue),
      isDate ? "minDateTimeInterval" : "minValueString": type.xmlText(of: minimum),
      isDate ? "maxDateTimeInterval" : "maxValueString": type.xmlText(of: maximum),
    ]
    if type == .json { attributes["defaultValueString"] = .some(nil) }
    attributes["valueTransformerName"] = .some(nil)
    attributes["composite"] = .some(nil)
    switch type {
    case .transformable(let name): if !name.isEmpty { attributes["valueTransformerName"] = name }
    case .composite(let name): attributes["composite"] = name
    default: break
    }
    return attributes
  }
}

extension RelationshipDescription {
  var xmlAttributes: [String: String?] {
    let rule = ModelXMLVocabulary.deleteRules.first { $0.value == deleteRule }?.key
    return [
      "name": name, "optional": isOptional.xmlMark, "transient": isTransient.xmlMark,
      "toMany": isToMany.xmlMark, "ordered": isOrdered.xmlMark, "deletionRule": rule,
      "minCount": minimumCount == 0 ? nil : "\(minimumCount)",
      "maxCount": isToMany ? (maximumCount == 0 ? nil : "\(maximumCount)") : "1",
      "destinationEntity": destination, "inverseName": inverse,
      "inverseEntity": inverse == nil ? nil : destination, "elementID": renamingIdentifier,
      "versionHashModifier": versionHashModifier,
    ]
  }
}

extension FetchedPropertyDescription {
  var xmlAttributes: [String: String?] { ["name": name, "optional": isOptional.xmlMark] }
}

extension FetchRequestTemplate {
  var xmlAttributes: [String: String?] {
    [
      "name": name, "entity": entity, "predicateString": predicate,
      "fetchLimit": fetchLimit == 0 ? nil : "\(fetchLimit)",
      "fetchBatchSize": fetchBatchSize == 0 ? nil : "\(fetchBatchSize)",
      "resultType": resultType == .objects ? nil : "\(resultType.rawValue)",
      "includeSubentities": includesSubentities.xmlMark,
      "includesPendingChanges": includesPendingChanges ? "YES" : "NO",
      "returnDistinctResults": returnsDistinctResults.xmlMark,
    ]
  }
}

extension FetchIndexDescription {
  var xmlNode: ModelXMLNode {
    var attributes = ["name": name]
    attributes["partialIndexPredicate"] = partialIndexPredicate
    var node = ModelXMLNode("fetchIndex", attributes)
    node.children = elements.map { element in
      var attributes = [
        "type": element.kind == .rTree ? "RTree" : "Binary",
        "order": element.isAscending ? "ascending" : "descending",
      ]
      if element.kind == .folded {
        attributes["expression"] = ModelXMLIndexMarks.expression(ofFolded: element.property)
        attributes["expressionType"] = "string"
      } else {
        attributes[element.isExpression ? "expression" : "property"] = element.property
      }
      return ModelXMLNode("fetchIndexElement", attributes)
    }
    return node
  }
}

extension AttributeType {
  /// The type's name in XML, or `nil` for an attribute without a type.
  fileprivate var xmlName: String? { self == .undefined ? nil : kind.xmlName }

  func xmlText(of value: PropertyValue) -> String? {
    switch value {
    case .boolean(let flag): flag ? "YES" : "NO"
    case .integer(let number): "\(number)"
    // A float has fewer significant digits than the double that contains it.
    case .double(let number): self == .float ? "\(Float(number))" : "\(number)"
    case .decimal(let number): "\(number)"
    case .string(let text): text
    case .uuid(let uuid): uuid.uuidString
    case .uri(let url): url.absoluteString
    case .date(let date):
      Int(exactly: date.timeIntervalSinceReferenceDate).map { "\($0)" }
        ?? "\(date.timeIntervalSinceReferenceDate)"
    case .null, .binary, .objectID, .list, .composite: nil
    }
  }
}

extension Bool {
  /// The attribute's text, or `nil` for `false`, which is omitted.
  fileprivate var xmlMark: String? { self ? "YES" : nil }
}
