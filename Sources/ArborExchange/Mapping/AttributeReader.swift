import ArborJSON
import ArborModel
import Foundation

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
    switch attribute.type {
    case .integer16, .integer32, .integer64, .float, .double, .decimal:
      return node.string.flatMap { number(spelledAs: $0, for: attribute) }
    case .string:
      return node.number.map { .string($0.int64.map(String.init) ?? $0.text) }
    default: return nil
    }
  }

  /// The value of an attribute that identifies objects, from a text that spells it.
  func key(spelledAs text: String, for attribute: ExchangeAttribute) -> Value? {
    switch attribute.type {
    case .string: .string(text)
    case .uuid, .uri: attribute.type.fitting(.string(text))
    default: number(spelledAs: text, for: attribute)
    }
  }

  private func number(spelledAs text: String, for attribute: ExchangeAttribute) -> Value? {
    guard let number = JSONNumber(text: text) else { return nil }
    let value = number.int64.map(Value.integer) ?? number.decimal.map(Value.decimal)
    return value.flatMap { attribute.type.fitting($0) }
  }

  private func scalar(_ node: JSONNode, _ attribute: ExchangeAttribute) -> Value? {
    if attribute.type.isNumber, let text = node.string {
      return attribute.numbers?.number(text).flatMap { value(of: $0, attribute) }
    }
    return switch attribute.type {
    case .integer16: integer(node, Int64(Int16.min)...Int64(Int16.max))
    case .integer32: integer(node, Int64(Int32.min)...Int64(Int32.max))
    case .integer64: integer(node, .min ... .max)
    case .boolean: node.bool.map(Value.boolean)
    case .float:
      node.number?.double.flatMap { Float($0).isFinite ? .double(Double(Float($0))) : nil }
    case .double: node.number?.double.map(Value.double)
    case .decimal: node.number?.decimal.map(Value.decimal)
    case .string: node.string.map(Value.string)
    case .date: attribute.dates.date(node).map(Value.date)
    case .binary, .transformable: node.string.flatMap { Data(base64Encoded: $0) }.map(Value.binary)
    case .uuid: node.string.flatMap(UUID.init(uuidString:)).map(Value.uuid)
    case .uri:
      node.string.flatMap { URL(string: $0, encodingInvalidCharacters: false) }.map(Value.uri)
    case .undefined: undefined(node)
    case .composite: nil
    }
  }

  /// The value of a number that a text spells.
  private func value(of number: JSONNumber, _ attribute: ExchangeAttribute) -> Value? {
    switch attribute.type {
    case .float: number.double.flatMap { Float($0).isFinite ? .double(Double(Float($0))) : nil }
    case .double: number.double.map(Value.double)
    case .decimal: number.decimal.map(Value.decimal)
    default: number.int64.flatMap { attribute.type.fitting(.integer($0)) }
    }
  }

  private func integer(_ node: JSONNode, _ range: ClosedRange<Int64>) -> Value? {
    node.number?.int64.flatMap { range.contains($0) ? .integer($0) : nil }
  }

  private func undefined(_ node: JSONNode) -> Value? {
    if let number = node.number {
      return number.int64.map(Value.integer) ?? number.double.map(Value.double)
    }
    return node.bool.map(Value.boolean) ?? node.string.map(Value.string)
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
    switch attribute.type {
    case .date: attribute.dates.readsTexts
    case .binary, .transformable, .uuid, .uri: true
    default: attribute.type.isNumber && attribute.numbers != nil
    }
  }

  private func expectation(_ attribute: ExchangeAttribute) -> String {
    switch attribute.type {
    case .integer16: "a whole number of 16 bits"
    case .integer32: "a whole number of 32 bits"
    case .integer64: "a whole number of 64 bits"
    case .boolean: "true or false"
    case .float: "a number of 32-bit floating-point range"
    case .double: "a number of 64-bit floating-point range"
    case .decimal: "a number of at most 38 digits"
    case .string: "a string"
    case .date: attribute.dates.expectation
    case .binary, .transformable: "bytes as a base64 string"
    case .uuid: "a UUID as a string"
    case .uri: "a URI as a string"
    case .composite: "an object of its parts"
    case .undefined: "a Boolean, a number or a string"
    }
  }
}

extension AttributeType {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .float, .double, .decimal: true
    default: false
    }
  }
}
