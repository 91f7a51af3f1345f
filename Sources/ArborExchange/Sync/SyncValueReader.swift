import ArborJSON
import ArborModel
import Foundation

/// Reads the values of a sync: of the JSON type that the mapping says, else nil or an error.
struct SyncValueReader {
  let kind: SyncSource.Kind
  let attribute: ExchangeAttribute
  let entity: String
  let isStrict: Bool
  let attributes: AttributeReader

  /// The value that the attribute will hold.
  ///
  /// - Throws: ``ArborError`` `invalidDocument` for a value that the attribute cannot hold, and
  ///   strictly for one of another type.
  func value(_ node: JSONNode) throws(ArborError) -> Value {
    if node.kind == .null { return .null }
    if case .value = kind {
      do throws(ArborError) {
        return try attributes.value(node, for: attribute, of: entity)
      } catch {
        guard isStrict else { return .null }
        throw error
      }
    }
    guard let read = converted(node) else {
      guard isStrict else { return .null }
      throw error(node, "takes \(expectation)")
    }
    guard let fitting = attribute.type.fitting(read) else {
      throw error(node, "takes \(attribute.type.expectation)")
    }
    return fitting
  }

  private func converted(_ node: JSONNode) -> Value? {
    switch kind {
    case .string: node.string.map(Value.string)
    case .bool: node.bool.map(Value.boolean)
    case .int: number(node).flatMap(Self.whole)
    case .number: number(node).flatMap(exact)
    case .double: number(node)?.double.map(Value.double)
    case .float:
      number(node)?.double.flatMap { Float($0).isFinite ? .double(Double(Float($0))) : nil }
    case .isoDate: node.string.flatMap(ISO8601Date.parseInZone).map(Value.date)
    case .value, .toOne, .toMany: nil
    }
  }

  /// A number, or a Boolean as one.
  private func number(_ node: JSONNode) -> JSONNumber? {
    node.number ?? node.bool.map { JSONNumber($0 ? 1 : 0) }
  }

  private static func whole(_ number: JSONNumber) -> Value? {
    if let whole = number.int64 { return .integer(whole) }
    return number.double.flatMap { Int64(exactly: $0.rounded(.towardZero)) }.map(Value.integer)
  }

  private func exact(_ number: JSONNumber) -> Value? {
    if let whole = number.int64 { return .integer(whole) }
    if attribute.type == .decimal, let decimal = number.decimal { return .decimal(decimal) }
    return number.double.map(Value.double)
  }

  private var expectation: String {
    switch kind {
    case .string: "a string"
    case .bool: "true or false"
    case .int, .number, .double, .float: "a number"
    case .isoDate: "a date in ISO 8601 with its zone, as \"2024-05-01T12:30:00Z\""
    case .value, .toOne, .toMany: attribute.type.expectation
    }
  }

  private func error(_ node: JSONNode, _ expectation: String) -> ArborError {
    let isParsed = if case .isoDate = kind { true } else { false }
    return node.error(
      "\(entity).\(attribute.name) \(expectation), and this value, \(node.kind), is none; correct "
        + "it.", code: isParsed && node.kind == .string ? .unparsableValue : .invalidDocument
    ).with(entity: entity, keyPath: attribute.name, offending: node.excerpt)
  }
}
