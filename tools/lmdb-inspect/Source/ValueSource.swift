import ArborModel
import ArborSource
import Foundation

/// Values as Swift expressions.
enum ValueSource {
  /// A value as the Swift type of its attribute, or nil where that type's literals do not say
  /// exactly it.
  static func typed(_ value: PropertyValue, as type: AttributeType) -> String? {
    guard FieldKind(type) != .tagged, !value.isNull, type.fitting(value) == value else {
      return nil
    }
    if type == .float, case .double(let number) = value, number.isFinite {
      return "\(Float(number))"
    }
    return argument(value)
  }

  /// A value as an expression of its own type, for parameters that take several.
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

  /// A value as a ``PropertyValue``.
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

  /// The least and the greatest value as options.
  static func bounds(_ minimum: PropertyValue, _ maximum: PropertyValue) -> [String] {
    let least = minimum.isNull ? nil : operand(minimum)
    let greatest = maximum.isNull ? nil : operand(maximum)
    switch (least, greatest) {
    case (nil, nil): return []
    case (let least?, nil): return [".bounds(\(least)...)"]
    case (nil, let greatest?): return [".bounds(...\(greatest))"]
    case (let least?, let greatest?):
      // A range has one type.
      guard minimum.caseName == maximum.caseName else {
        return [".bounds(\(least)...)", ".bounds(...\(greatest))"]
      }
      return [".bounds(\(least)...\(greatest))"]
    }
  }

  /// Notes as a dictionary; nil where none exist.
  static func notes(_ notes: [String: String]) -> String? {
    notes.isEmpty ? nil : "[\(members(notes.map { ($0, SourceText.literal($1)) }))]"
  }

  /// Names as a list.
  static func names(_ names: [String]) -> String {
    "[\(names.map(SourceText.literal).joined(separator: ", "))]"
  }

  private static func members(_ pairs: [(String, String)]) -> String {
    if pairs.isEmpty { return ":" }
    return pairs.sorted { $0.0 < $1.0 }.map { "\(SourceText.literal($0)): \($1)" }
      .joined(separator: ", ")
  }

  /// Beside an operator.
  private static func operand(_ value: PropertyValue) -> String {
    let text = argument(value)
    // `!...` would be one operator.
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
  /// The case's name, without what it holds.
  fileprivate var caseName: Substring { debugDescription.prefix { $0 != "(" } }
}
