import ArborJSON
import ArborModel

/// Turns JSON into attribute values, exactly or not at all: a value of another type is an error and
/// never converted.
///
/// | attribute | JSON |
/// |---|---|
/// | integers | a whole number in range; `1.0` is whole |
/// | any number | a text that spells it, where the attribute or the import has a number format |
/// | float, double | a number that a finite one is near |
/// | decimal | a number of up to 38 digits |
/// | boolean | `true`, `false` |
/// | string | a string |
/// | date | as ``DateReader`` says |
/// | binary, transformable | base64; of a transformable its archived form |
/// | UUID, URI | their text |
/// | composite | an object of its parts |
/// | undefined | a Boolean, number or string |
/// | any | `null` clears |
/// | string, date, float, double | also as ``ExactForm`` says |
/// | any | what the import's ``ImportConversions`` make of it |
final class AttributeReader {
  private let schema: ExchangeSchema

  init(_ schema: ExchangeSchema) { self.schema = schema }

  /// The value of an attribute.
  ///
  /// - Throws: ``ArborError`` with the value's place: `unparsableValue` for a text that the value
  ///   cannot be read from, `invalidDocument` for a value of another kind.
  func value(
    _ node: JSONNode, for attribute: ExchangeAttribute, of entity: String
  ) throws(ArborError) -> Value {
    if isComposite(node, attribute), case .composite(let name) = attribute.type {
      return try composite(node, name, attribute, entity)
    }
    if let value = plainValue(node, for: attribute) { return value }
    throw problem(node, with: attribute, of: entity)
  }

  /// The error for a value that is none of an attribute's.
  func problem(
    _ node: JSONNode, with attribute: ExchangeAttribute, of entity: String
  ) -> ArborError {
    node.error(
      "\(entity).\(attribute.name) takes \(expectation(attribute)), and this value, \(node.kind), "
        + "is none; correct it.",
      code: node.kind == .string && isParsed(attribute) ? .unparsableValue : .invalidDocument
    ).with(entity: entity, keyPath: attribute.name, offending: node.excerpt)
  }

  /// The value of an attribute, or nil where there is none; what lies in a composite is an error of
  /// its own.
  func plainValue(_ node: JSONNode, for attribute: ExchangeAttribute) -> Value? {
    if node.kind == .null { return .null }
    if attribute.conversions.contains(.emptyTextIsNull), node.isText("") { return .null }
    if let exact = ExactForm.content(of: node),
      let value = ExactForm.value(exact, for: attribute.type)
    {
      return value
    }
    return scalar(node, attribute)
  }

  /// Whether a value is read part by part.
  func isComposite(_ node: JSONNode, _ attribute: ExchangeAttribute) -> Bool {
    guard case .composite = attribute.type, node.kind != .null else { return false }
    if attribute.conversions.contains(.emptyTextIsNull), node.isText("") { return false }
    return ExactForm.content(of: node) == nil
  }

  /// The value of a number attribute that identifies objects, from a text that spells it, in the
  /// form that the attribute keeps; nil for anything else. A number is not the identity of objects
  /// that texts identify.
  func key(_ node: JSONNode, for attribute: ExchangeAttribute) -> Value? {
    guard attribute.type.kind.isNumber else {
      return node.kind == .number ? plainValue(node, for: attribute) : nil
    }
    if let number = node.number { return self.number(spelledAs: number.text, for: attribute) }
    return node.string.flatMap { number(spelledAs: $0, for: attribute) }
  }

  /// The value of an attribute that identifies objects, from a text that spells it.
  func key(spelledAs text: String, for attribute: ExchangeAttribute) -> Value? {
    // Where no type tells them apart, only a number is one.
    if attribute.type != .undefined, let value = attribute.type.fitting(.string(text)) {
      return value
    }
    return number(spelledAs: text, for: attribute)
  }

  private func number(spelledAs text: String, for attribute: ExchangeAttribute) -> Value? {
    guard let number = JSONNumber(text: text) else { return nil }
    let value = number.int64.map(Value.integer) ?? number.decimal.map(Value.decimal)
    return value.flatMap { attribute.type.fitting($0) }
  }

  private func scalar(_ node: JSONNode, _ attribute: ExchangeAttribute) -> Value? {
    let kind = attribute.type.kind
    if kind.isNumber, let text = node.string {
      return attribute.numbers?.number(text).flatMap { kind.value(ofDocument: $0) }
    }
    if attribute.type == .date { return attribute.dates.date(node).map(Value.date) }
    return kind.value(ofDocument: node) ?? converted(node, attribute)
  }

  /// The value that a conversion of the import makes.
  private func converted(_ node: JSONNode, _ attribute: ExchangeAttribute) -> Value? {
    if attribute.type == .boolean, attribute.conversions.contains(.booleans) {
      return (node.string ?? node.number?.text).flatMap { Self.booleans[$0.lowercased()] }
        .map(Value.boolean)
    }
    if attribute.type == .string, attribute.conversions.contains(.textsFromNumbers) {
      return node.number.map { .string($0.text) }
    }
    return nil
  }

  private static let booleans = [
    "1": true, "yes": true, "true": true, "0": false, "no": false, "false": false,
  ]

  private func composite(
    _ node: JSONNode, _ name: String, _ attribute: ExchangeAttribute, _ entity: String
  ) throws(ArborError) -> Value {
    guard let members = node.members else {
      throw node.error(
        "\(entity).\(attribute.name) takes an object of its parts, and this is \(node.kind); "
          + "write an object."
      ).with(entity: entity, keyPath: attribute.name, offending: node.excerpt)
    }
    let parts = schema.parts(ofComposite: name)
    var values: [String: Value] = [:]
    for member in members {
      guard let part = parts.first(where: { $0.name == member.key }) else {
        throw member.keyNode.error(
          "\(name) has no part “\(member.key)”; remove it or write one of its parts."
            + NearestName.hint(member.key, in: parts.map(\.name))
        ).with(entity: entity, keyPath: attribute.name)
      }
      values[part.name] = try value(member.value, for: part, of: "\(entity).\(attribute.name)")
    }
    return .composite(values)
  }

  /// Whether an attribute's values are read from texts that spell them.
  private func isParsed(_ attribute: ExchangeAttribute) -> Bool {
    if attribute.type == .date { return true }
    let kind = attribute.type.kind
    return kind.isDocumentText || (kind.isNumber && attribute.numbers != nil)
  }

  private func expectation(_ attribute: ExchangeAttribute) -> String {
    attribute.type == .date ? attribute.dates.expectation : attribute.type.kind.documentExpectation
  }
}
