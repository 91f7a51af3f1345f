internal import ArborModel

/// The words of a model's XML, and what becomes of other words.
enum ModelXMLVocabulary {
  /// The attributes each element may have. Those without effect here are kept in the file.
  static let attributes: [String: Set<String>] = [
    "model": [
      "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
      "sourceLanguage", "userDefinedModelVersionIdentifier", "macOSVersion", "iOSVersion", "name",
      "usedWithCloudKit", "usedWithSwiftData",
    ],
    "entity": [
      "name", "representedClassName", "parentEntity", "isAbstract", "syncable",
      "codeGenerationType", "elementID", "renamingIdentifier", "versionHashModifier",
      "coreSpotlightDisplayNameExpression",
    ],
    "attribute": [
      "name", "attributeType", "optional", "transient", "defaultValueString",
      "defaultDateTimeInterval", "minValueString", "maxValueString", "minDateTimeInterval",
      "maxDateTimeInterval", "regularExpressionString", "usesScalarValueType",
      "valueTransformerName", "customClassName", "allowsExternalBinaryDataStorage", "indexed",
      "derived", "derivationExpression", "composite", "preserveAfterDeletion",
      oldPreservationMark,
      "allowsCloudEncryption", "spotlightIndexingEnabled", "storedInTruthFile", "elementID",
      "renamingIdentifier", "versionHashModifier", "syncable",
    ],
    "relationship": [
      "name", "destinationEntity", "toMany", "minCount", "maxCount", "optional", "ordered",
      "deletionRule", "inverseName", "inverseEntity", "transient", "indexed", "elementID",
      "renamingIdentifier", "versionHashModifier", "syncable", "spotlightIndexingEnabled",
      "storedInTruthFile",
    ],
    "fetchedProperty": [
      "name", "optional", "syncable", "transient", "elementID", "versionHashModifier",
    ],
    "fetchRequest": [
      "name", "entity", "predicateString", "fetchLimit", "fetchBatchSize", "resultType",
      "includeSubentities", "includePropertyValues", "includesPendingChanges",
      "returnObjectsAsFaults", "returnDistinctResults",
    ],
    "fetchIndex": ["name", "partialIndexPredicate"],
    "fetchIndexElement": ["property", "expression", "expressionType", "type", "order"],
    "compoundIndexes": [], "compoundIndex": [], "index": ["value"],
    "uniquenessConstraints": [], "uniquenessConstraint": [], "constraint": ["value"],
    "composite": ["name", "elementID"], "compositeAttribute": ["name", "elementID"],
    "configuration": ["name", "usedWithCloudKit"], "memberEntity": ["name"],
    "userInfo": [], "entry": ["key", "value"],
    "elements": [],
    "element": ["name", "positionX", "positionY", "width", "height"],
  ]

  /// Another spelling of `preserveAfterDeletion`, the API's name for it; read, not written.
  static let oldPreservationMark = "preservesValueInHistoryOnDeletion"

  /// The elements each element may hold.
  static let children: [String: Set<String>] = [
    "model": [
      "entity", "fetchRequest", "configuration", "composite", "compositeAttribute", "elements",
    ],
    "entity": [
      "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes",
      "uniquenessConstraints", "userInfo",
    ],
    "attribute": ["userInfo"], "relationship": ["userInfo"],
    "fetchedProperty": ["fetchRequest", "userInfo"],
    "fetchIndex": ["fetchIndexElement"],
    "compoundIndexes": ["compoundIndex"], "compoundIndex": ["index"],
    "uniquenessConstraints": ["uniquenessConstraint"], "uniquenessConstraint": ["constraint"],
    "composite": ["attribute", "userInfo"], "compositeAttribute": ["attribute", "userInfo"],
    "configuration": ["memberEntity"], "userInfo": ["entry"], "elements": ["element"],
  ]

  /// Attributes that read like ones of the format but are none: what they say is lost.
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
    uniqueKeysWithValues: AttributeType.kinds.map { ($0.xmlName, $0.type) }
      + [("ObjectID", .undefined)])

  static let deleteRules: [String: RelationshipDescription.DeleteRule] = [
    "Nullify": .nullify, "Cascade": .cascade, "Deny": .deny, "No Action": .noAction,
  ]
}
