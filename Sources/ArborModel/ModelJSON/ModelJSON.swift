internal import ArborFoundation
internal import ArborJSON

/// The JSON form of models.
///
/// The form is a compact equivalent of model files. Entities, attributes and relationships are
/// members keyed by name. An attribute that has only a type is written as the type, followed by `?`
/// if it is optional. Default values are omitted.
///
/// ```json
/// {
///   "entities": {
///     "Company": {
///       "unique": ["companyID"],
///       "attributes": {"companyID": "integer64", "companyName": "string?"},
///       "relationships": {
///         "employees": {
///           "to": "Employee", "inverse": "company", "toMany": true, "deleteRule": "cascade"
///         }
///       }
///     },
///     "Employee": {
///       "attributes": {"age": {"type": "integer16", "default": 18, "min": 0, "indexed": true}},
///       "relationships": {"company": {"to": "Company", "inverse": "employees"}}
///     }
///   },
///   "requests": {"adults": {"entity": "Employee", "predicate": "age >= 18"}}
/// }
/// ```
///
/// Attributes are mandatory and relationships optional by default. Dates are ISO 8601 strings or
/// seconds since 2001-01-01 UTC. Binary values are base64 strings. The `shape` of a `json` attribute is
/// written as described at ``JSONShape/json``.
enum ModelJSON {
  static let modelKeys = ["version", "entities", "composites", "requests", "configurations"]
  static let entityKeys = [
    "class", "abstract", "parent", "attributes", "relationships", "fetchedProperties", "unique",
    "indexes", "renamedFrom", "versionHashModifier", "userInfo",
  ]
  static let attributeKeys = [
    "type", "optional", "default", "min", "max", "pattern", "indexed", "transient",
    "externalStorage", "derivation", "shape", "valueClass", "preservedOnDeletion", "renamedFrom",
    "versionHashModifier", "userInfo",
  ]
  static let relationshipKeys = [
    "to", "inverse", "toMany", "ordered", "min", "max", "deleteRule", "optional", "transient",
    "renamedFrom", "versionHashModifier", "userInfo",
  ]
  static let fetchedPropertyKeys = ["optional", "request", "userInfo"]
  static let requestKeys = [
    "name", "entity", "predicate", "limit", "batchSize", "includesSubentities",
    "includesPendingChanges", "distinct", "results",
  ]
  static let indexKeys = ["elements", "where", "unique"]
  static let elementKeys = ["property", "expression", "descending", "kind"]

  static let typeNames = AttributeType.kinds.map { $0.jsonName }
  static let resultNames: [(name: String, type: FetchRequestTemplate.ResultType)] = [
    ("objects", .objects), ("ids", .objectIDs), ("rows", .rows),
  ]

  /// Returns the text of a type: `string`, `transformable(Name)`, `composite(Name)`.
  static func text(of type: AttributeType) -> String {
    switch type {
    case .transformable(let name): name.isEmpty ? "transformable" : "transformable(\(name))"
    case .composite(let name): "composite(\(name))"
    default: type.kind.jsonName
    }
  }

  static func type(of text: some StringProtocol) -> AttributeType? {
    let kind = AttributeType.kinds.first { $0.jsonName == text }
    // A composite type requires a name.
    if let type = kind?.type, type != .composite("") { return type }
    guard text.hasSuffix(")") else { return nil }
    if text.hasPrefix("transformable(") {
      return .transformable(String(text.dropFirst("transformable(".count).dropLast()))
    }
    if text.hasPrefix("composite(") {
      return .composite(String(text.dropFirst("composite(".count).dropLast()))
    }
    return nil
  }
}

extension AttributeType {
  /// Returns a default value or bound of this type in the JSON form.
  func json(of value: PropertyValue) -> JSONValue {
    if self == .json { return value.json ?? .null }
    return switch value {
    case .boolean(let flag): .bool(flag)
    case .integer(let number): .number(JSONNumber(number))
    case .double(let number): JSONNumber(number).map(JSONValue.number) ?? .string("\(number)")
    case .decimal(let number): JSONNumber(number).map(JSONValue.number) ?? .null
    case .string(let text): .string(text)
    case .date(let date): Self.json(of: date)
    case .binary(let data): .string(data.base64EncodedString())
    case .uuid(let uuid): .string(uuid.uuidString)
    case .uri(let url): .string(url.absoluteString)
    case .null, .objectID, .list, .composite: .null
    }
  }

  /// Returns whole seconds as an ISO 8601 string, which is more readable, and any other date
  /// exactly, as a number.
  private static func json(of date: Date) -> JSONValue {
    let seconds = date.timeIntervalSinceReferenceDate
    if seconds == seconds.rounded(), let text = ISO8601Date.text(date) { return .string(text) }
    return JSONNumber(seconds).map(JSONValue.number) ?? .null
  }

  /// Returns the value of this type that JSON represents, or `nil` if it doesn't represent one.
  func value(ofJSON node: JSONNode) -> PropertyValue? {
    if self == .json { return PropertyValue(json: node.value) }
    return switch node.kind {
    case .null: .null
    case .bool: node.bool.flatMap { fitting(.boolean($0)) }
    case .number: node.number.flatMap { kind.value(ofJSON: $0) }
    case .string: node.string.flatMap { kind.value(ofJSON: $0) }
    case .array, .object: nil
    }
  }
}
