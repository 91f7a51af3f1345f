import ArborModel
import ArborSource
import Foundation

/// Values as Swift expressions.
enum ValueSource {
  /// Returns a literal of the attribute's Swift type, or `nil` if such a literal cannot represent
  /// the value exactly.
  static func typed(_ value: PropertyValue, as type: AttributeType) -> String? {
    guard ![.tagged, .json].contains(FieldKind(type)), !value.isNull, type.fitting(value) == value
    else {
      return nil
    }
    if type == .float, case .double(let number) = value, number.isFinite {
      return "\(Float(number))"
    }
    return argument(value)
  }

  /// Returns an expression of the value's own type, for parameters that accept several types.
  static func argument(_ value: PropertyValue) -> String {
    switch value {
    case .boolean(let flag): "\(flag)"
    case .integer(let number): "\(number)"
    case .double(let number): double(number)
    case .decimal(let number): "Decimal(string: \"\(number)\")!"
    case .string(let text): SourceText.literal(text)
    case .date(let date): "Date(timeIntervalSinceReferenceDate: \(double(of: date)))"
    case .binary(let data): "Data(base64Encoded: \"\(data.base64EncodedString())\")!"
    case .uuid(let uuid): "UUID(uuidString: \"\(uuid)\")!"
    case .uri(let url):
      "URL(string: \(SourceText.literal(url.absoluteString)))!"
    case .null, .objectID, .list, .composite: dynamic(value)
    }
  }

  /// Returns an expression of the type ``PropertyValue``.
  static func dynamic(_ value: PropertyValue) -> String {
    switch value {
    case .null, .objectID: ".null"
    case .boolean: ".boolean(\(argument(value)))"
    case .integer: ".integer(\(argument(value)))"
    case .double: ".double(\(argument(value)))"
    case .decimal: ".decimal(\(argument(value)))"
    case .string: ".string(\(argument(value)))"
    case .date: ".date(\(argument(value)))"
    case .binary: ".binary(\(argument(value)))"
    case .uuid: ".uuid(\(argument(value)))"
    case .uri: ".uri(\(argument(value)))"
    case .list(let values): ".list([\(values.map(dynamic).joined(separator: ", "))])"
    case .composite(let parts):
      ".composite([\(members(parts.map { ($0, dynamic($1)) }))])"
    }
  }

  /// Returns the options for the minimum and maximum.
  static func bounds(_ minimum: PropertyValue, _ maximum: PropertyValue) -> [String] {
    let least = minimum.isNull ? nil : operand(minimum)
    let greatest = maximum.isNull ? nil : operand(maximum)
    switch (least, greatest) {
    case (nil, nil): return []
    case (let least?, nil): return [".bounds(\(least)...)"]
    case (nil, let greatest?): return [".bounds(...\(greatest))"]
    case (let least?, let greatest?):
      // Both bounds of a range have the same type.
      guard minimum.caseName == maximum.caseName else {
        return [".bounds(\(least)...)", ".bounds(...\(greatest))"]
      }
      return [".bounds(\(least)...\(greatest))"]
    }
  }

  /// Returns user info as a dictionary literal, or `nil` if there is none.
  static func notes(_ notes: [String: String]) -> String? {
    notes.isEmpty ? nil : "[\(members(notes.map { ($0, SourceText.literal($1)) }))]"
  }

  /// Returns names as an array literal.
  static func names(_ names: [String]) -> String {
    "[\(names.map(SourceText.literal).joined(separator: ", "))]"
  }

  private static func members(_ pairs: [(String, String)]) -> String {
    if pairs.isEmpty { return ":" }
    return pairs.sorted { $0.0 < $1.0 }.map { "\(SourceText.literal($0)): \($1)" }
      .joined(separator: ", ")
  }

  /// Returns an operand of a range operator.
  private static func operand(_ value: PropertyValue) -> String {
    let text = argument(value)
    // `!...` would be parsed as a single operator.
    return text.hasSuffix("!") ? "(\(text))" : text
  }

  private static func double(_ number: Double) -> String {
    switch number {
    case .infinity: ".infinity"
    case -.infinity: "-.infinity"
    default: "\(number)"
    }
  }

  private static func double(of date: Date) -> String {
    double(date.timeIntervalSinceReferenceDate)
  }
}

extension PropertyValue {
  /// The name of the case without its associated value.
  fileprivate var caseName: Substring { debugDescription.prefix { $0 != "(" } }
}
