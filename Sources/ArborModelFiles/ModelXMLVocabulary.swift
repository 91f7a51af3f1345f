internal import ArborModel

/// The elements and attributes of a model's XML.
enum ModelXMLVocabulary {
  /// The order in which Xcode writes the attributes of elements. Other attributes follow, sorted by
  /// name.
  static let order: [String: [String]] = [
    "model": [
      "name", "type", "documentVersion", "lastSavedToolsVersion", "systemVersion",
      "minimumToolsVersion", "macOSVersion", "iOSVersion", "sourceLanguage", "usedWithCloudKit",
      "usedWithSwiftData", "userDefinedModelVersionIdentifier",
    ],
    "entity": [
      "name", "representedClassName", "parentEntity", "isAbstract", "elementID",
      "versionHashModifier", "syncable", "codeGenerationType",
    ],
    "attribute": [
      "name", "optional", "transient", "attributeType", "composite", "minValueString",
      "maxValueString", "minDateTimeInterval", "maxDateTimeInterval", "defaultDateTimeInterval",
      "defaultValueString", "regularExpressionString", "derived", "derivationExpression",
      "valueTransformerName", "customClassName", "usesScalarValueType",
      "allowsExternalBinaryDataStorage", "preserveAfterDeletion", "indexed",
      "elementID", "versionHashModifier", "syncable",
    ],
    "relationship": [
      "name", "optional", "transient", "toMany", "minCount", "maxCount", "deletionRule",
      "ordered", "destinationEntity", "inverseName", "inverseEntity", "indexed", "elementID",
      "versionHashModifier", "syncable",
    ],
    "fetchRequest": [
      "name", "entity", "predicateString", "fetchLimit", "fetchBatchSize", "resultType",
      "includeSubentities", "includePropertyValues", "includesPendingChanges",
      "returnObjectsAsFaults", "returnDistinctResults",
    ], "fetchIndexElement": ["property", "expression", "expressionType", "type", "order"],
    "element": ["name", "positionX", "positionY", "width", "height"],
  ]

  /// The valid attributes of each element. Those without an effect are preserved in the file.
  static let attributes = order.mapValues(Set.init).merging(otherAttributes) { $0.union($1) }

  private static let otherAttributes: [String: Set<String>] = [
    "entity": ["renamingIdentifier", "coreSpotlightDisplayNameExpression"],
    "attribute": [
      oldPreservationMark, "allowsCloudEncryption", "spotlightIndexingEnabled", "storedInTruthFile",
      "renamingIdentifier",
    ], "relationship": ["renamingIdentifier", "spotlightIndexingEnabled", "storedInTruthFile"],
    "fetchedProperty": [
      "name", "optional", "syncable", "transient", "elementID", "versionHashModifier",
    ],
    "fetchIndex": ["name", "partialIndexPredicate"],
    "compoundIndexes": [], "compoundIndex": [], "index": ["value"],
    "uniquenessConstraints": [], "uniquenessConstraint": [], "constraint": ["value"],
    "composite": ["name", "elementID"], "compositeAttribute": ["name", "elementID"],
    "configuration": ["name", "usedWithCloudKit"], "memberEntity": ["name"],
    "userInfo": [], "entry": ["key", "value"],
    "elements": [],
  ]

  /// The name of the corresponding property in Core Data's API, which some files contain instead of
  /// `preserveAfterDeletion`. It is read but not written.
  static let oldPreservationMark = "preservesValueInHistoryOnDeletion"

  static let children: [String: Set<String>] = [
    "model": [
      "entity", "fetchRequest", "configuration", "composite", "compositeAttribute", "elements",
    ],
    "entity": [
      "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes",
      "uniquenessConstraints", "userInfo",
    ], "attribute": ["userInfo"], "relationship": ["userInfo"],
    "fetchedProperty": ["fetchRequest", "userInfo"], "fetchIndex": ["fetchIndexElement"],
    "compoundIndexes": ["compoundIndex"], "compoundIndex": ["index"],
    "uniquenessConstraints": ["uniquenessConstraint"], "uniquenessConstraint": ["constraint"],
    "composite": ["attribute", "userInfo"], "compositeAttribute": ["attribute", "userInfo"],
    "configuration": ["memberEntity"], "userInfo": ["entry"], "elements": ["element"],
  ]

  /// Invalid attributes that are easily mistaken for valid ones, with the valid names, by element.
  /// They have no effect.
  static let traps: [String: [String: String]] = [
    "entity": [
      "abstract": "isAbstract", "parent": "parentEntity", "className": "representedClassName",
    ],
    "attribute": [
      "defaultValue": "defaultValueString", "type": "attributeType", "isOptional": "optional",
      "isTransient": "transient", "isIndexed": "indexed", "minValue": "minValueString",
      "maxValue": "maxValueString",
    ],
    "relationship": [
      "destination": "destinationEntity", "deleteRule": "deletionRule", "inverse": "inverseName",
      "isOptional": "optional", "isOrdered": "ordered",
    ],
    "fetchRequest": [
      "predicate": "predicateString", "includesSubentities": "includeSubentities",
      "includePendingChanges": "includesPendingChanges",
    ],
  ]

  static let attributeTypes = Dictionary(
    uniqueKeysWithValues: AttributeType.kinds.filter { $0 != JSONKind.self }.map {
      ($0.xmlName, $0.type)
    } + [("ObjectID", .undefined)])

  static let deleteRules: [String: RelationshipDescription.DeleteRule] = [
    "Nullify": .nullify, "Cascade": .cascade, "Deny": .deny, "No Action": .noAction,
  ]
}
