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
    if node.kind == .null { return .null }
    let exact = ExactForm.content(of: node)
    if let exact, let value = ExactForm.value(exact, for: attribute.type) { return value }
    if exact == nil, case .composite(let name) = attribute.type {
      return try composite(node, name, attribute, entity)
    }
    if let value = scalar(node, attribute) { return value }
    throw node.error(
      "\(entity).\(attribute.name) takes \(expectation(attribute)), and this value, \(node.kind), "
        + "is none; correct it.",
      code: node.kind == .string && isParsed(attribute) ? .unparsableValue : .invalidDocument
    ).with(entity: entity, keyPath: attribute.name, offending: node.excerpt)
  }

  /// The value of an attribute that identifies objects: a number and a text that spells it are one,
  /// in the form that the attribute keeps. Nil where that does not concern the value.
  func key(_ node: JSONNode, for attribute: ExchangeAttribute) -> Value? {
    if attribute.type.kind.isNumber {
      return node.string.flatMap { number(spelledAs: $0, for: attribute) }
    }
    guard attribute.type == .string else { return nil }
    return node.number.map { .string($0.int64.map(String.init) ?? $0.text) }
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
    return kind.value(ofDocument: node)
  }

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
