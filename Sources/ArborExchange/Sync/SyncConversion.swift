import ArborJSON
import ArborModel
import Foundation

/// How a sync converts a value of JSON for an attribute: the mapping states its JSON type, and any
/// other one is `nil`, or an error with ``SyncSerializer/strictTypes``.
struct SyncConversion: Sendable {
  let kind: SyncSource.Kind
  let isStrict: Bool

  /// The value that the attribute will hold; `nil` for one that it cannot hold, and strictly for one
  /// of another type.
  func value(_ node: JSONNode, for attribute: AttributeCoder) -> PropertyValue? {
    if node.kind == .null { return .null }
    if case .value = kind { return attribute.ownValue(node) ?? mismatch }
    guard let value = converted(node, attribute.type) else { return mismatch }
    return attribute.type.fitting(value)
  }

  func problem(with node: JSONNode, for attribute: AttributeCoder) -> ArborError {
    if case .value = kind { return attribute.ownProblem(with: node) }
    let isConverted = converted(node, attribute.type) != nil
    let isParsed = if case .isoDate = kind { true } else { false }
    return attribute.error(
      node, "takes \(isConverted ? attribute.type.expectation : expectation)",
      code: isParsed && node.kind == .string ? .unparsableValue : .invalidDocument)
  }

  private var mismatch: PropertyValue? { isStrict ? nil : .null }

  private func converted(_ node: JSONNode, _ type: AttributeType) -> PropertyValue? {
    switch kind {
    case .string: node.string.map(PropertyValue.string)
    case .bool: node.bool.map(PropertyValue.boolean)
    case .int: number(node).flatMap(Self.whole)
    case .number: number(node).flatMap { Self.exact($0, type) }
    case .double: number(node)?.double.map(PropertyValue.double)
    case .float:
      number(node)?.double.flatMap { Float($0).isFinite ? .double(Double(Float($0))) : nil }
    case .isoDate: node.string.flatMap(ISO8601Date.parseInZone).map(PropertyValue.date)
    case .value, .toOne, .toMany: nil
    }
  }

  /// A number, or a Boolean as one.
  private func number(_ node: JSONNode) -> JSONNumber? {
    node.number ?? node.bool.map { JSONNumber($0 ? 1 : 0) }
  }

  private static func whole(_ number: JSONNumber) -> PropertyValue? {
    if let whole = number.int64 { return .integer(whole) }
    return number.double.flatMap { Int64(exactly: $0.rounded(.towardZero)) }.map(
      PropertyValue.integer)
  }

  private static func exact(_ number: JSONNumber, _ type: AttributeType) -> PropertyValue? {
    if let whole = number.int64 { return .integer(whole) }
    if type == .decimal, let decimal = number.decimal { return .decimal(decimal) }
    return number.double.map(PropertyValue.double)
  }

  private var expectation: String {
    switch kind {
    case .string: "a string"
    case .bool: "true or false"
    case .int, .number, .double, .float: "a number"
    case .isoDate: "a date in ISO 8601 with its zone, as \"2024-05-01T12:30:00Z\""
    case .value, .toOne, .toMany: ""
    }
  }
}
