internal import ArborJSON
internal import ArborModel
internal import Foundation

/// The type of a variable's values.
package struct VariableType {
  enum Element {
    case attribute(AttributeType)
    case object
    /// Not compared with a property, so that the type is derived from the text.
    case unknown
  }

  var element = Element.unknown
  var isList = false

  /// Returns the type of the first property that a predicate compares a variable with.
  static func of(
    _ variable: String, in predicate: FetchPredicate, _ entity: EntitySchema, _ schema: ModelSchema
  ) -> VariableType {
    guard case .success(let node) = predicate.resolved else { return VariableType() }
    return comparisons(in: node).lazy
      .compactMap { type(of: variable, in: $0, entity, schema) }.first ?? VariableType()
  }

  private static func comparisons(in node: PredicateNode) -> [PredicateComparison] {
    switch node {
    case .constant: []
    case .and(let nodes), .or(let nodes): nodes.flatMap(comparisons)
    case .not(let node): comparisons(in: node)
    case .comparison(let comparison): [comparison]
    }
  }

  private static func type(
    of variable: String, in comparison: PredicateComparison, _ entity: EntitySchema,
    _ schema: ModelSchema
  ) -> VariableType? {
    func isVariable(_ side: ExpressionNode) -> Bool {
      if case .variable(variable, _) = side { return true }
      return false
    }
    for (side, other) in [
      (comparison.left, comparison.right), (comparison.right, comparison.left),
    ] {
      guard case .path(let path) = other, let element = element(at: path, of: entity, schema)
      else { continue }
      if isVariable(side) {
        let takesList = comparison.comparison == .in || comparison.comparison == .between
        return VariableType(element: element, isList: takesList)
      }
      if case .list(let elements) = side, elements.contains(where: isVariable) {
        return VariableType(element: element)
      }
    }
    return nil
  }

  private static func element(
    at path: KeyPathNode, of entity: EntitySchema, _ schema: ModelSchema
  ) -> Element? {
    if path.names.last == "@count" { return .attribute(.integer64) }
    var entity = entity
    var element = Element.object
    for name in path.names where !name.hasPrefix("@") {
      switch entity.property(named: name) {
      case .attribute(let attribute): element = .attribute(attribute.description.type)
      case .relationship(let relationship):
        element = .object
        entity = schema.entities[relationship.destination]
      case nil: return nil
      }
    }
    return element
  }
}

extension VariableType {
  /// Returns the value of text, or `nil` if it isn't one of this type.
  func value(_ text: String, in schema: ModelSchema, of store: UUID) -> PropertyValue? {
    guard isList else { return single(text, in: schema, of: store) }
    var values: [PropertyValue] = []
    for part in CommaList.parts(of: [text]) {
      guard let value = single(part, in: schema, of: store) else { return nil }
      values.append(value)
    }
    return .list(values)
  }

  private func single(
    _ text: String, in schema: ModelSchema, of store: UUID
  ) -> PropertyValue? {
    switch element {
    case .object: (try? ObjectName(text).id(in: schema, of: store)).map { .objectID($0) }
    case .unknown:
      Int64(text).map { .integer($0) } ?? Self.number(text).map { .double($0) }
        ?? Self.boolean(text) ?? .string(text)
    case .attribute(let type): Self.value(text, of: type)
    }
  }

  private static func value(_ text: String, of type: AttributeType) -> PropertyValue? {
    switch type {
    case .integer16, .integer32, .integer64: Int64(text).map { .integer($0) }
    case .float, .double: number(text).map { .double($0) }
    case .decimal: JSONNumber(text: text)?.decimal.map { .decimal($0) }
    case .boolean: boolean(text)
    case .date: ISO8601Date.parse(text).map { .date($0) }
    case .uuid: UUID(uuidString: text).map { .uuid($0) }
    case .uri: URL(string: text).map { .uri($0) }
    case .binary where text.hasPrefix("0x"):
      ByteText(argument: text).map { .binary(Data($0.bytes)) }
    case .binary: nil
    // A text that isn't JSON is itself the value.
    case .json:
      (try? JSONValue.parse(Data(text.utf8))).flatMap(PropertyValue.init(json:)) ?? .string(text)
    case .string, .transformable, .composite, .undefined: .string(text)
    }
  }

  private static func number(_ text: String) -> Double? {
    Double(text).flatMap { $0.isFinite ? $0 : nil }
  }

  private static func boolean(_ text: String) -> PropertyValue? {
    ["true": true, "false": false][text.lowercased()].map { .boolean($0) }
  }

  /// The name of the type with an article.
  package var name: String {
    let name =
      switch element {
      case .object: "an object"
      case .unknown: "a string"
      case .attribute(let type):
        switch type {
        case .integer16, .integer32, .integer64: "an integer"
        case .float, .double, .decimal: "a number"
        case .boolean: "a Boolean"
        case .date: "a date"
        case .uuid: "a UUID"
        case .uri: "a URI"
        case .binary: "binary data"
        case .json: "JSON"
        case .string, .transformable, .composite, .undefined: "a string"
        }
      }
    return isList ? "a list in which each element is \(name)" : name
  }

  /// An example of a value.
  package var sample: String { isList ? "\(sampleOfElement),…" : sampleOfElement }

  private var sampleOfElement: String {
    switch element {
    case .object: "Entity/number"
    case .unknown: "text"
    case .attribute(let type):
      switch type {
      case .integer16, .integer32, .integer64: "42"
      case .float, .double, .decimal: "1.5"
      case .boolean: "true"
      case .date: "2026-01-31T12:00:00Z"
      case .uuid: "8f14e45f-ceea-467f-9575-6c1f8d1b6c5a"
      case .uri: "https://example.com"
      case .binary: "0xCAFE"
      case .json: #"{"key": 42}"#
      case .string, .transformable, .composite, .undefined: "text"
      }
    }
  }
}
