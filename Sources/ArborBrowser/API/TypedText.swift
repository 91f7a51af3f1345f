internal import ArborJSON
internal import ArborModel
internal import Foundation

/// Parses values of one attribute from form input.
struct TypedText {
  let entity: String
  let attribute: AttributeDescription

  /// Parses form input: a string, number or Boolean, `null`, or `{"base64": …}` for binary data.
  ///
  /// - Throws: `ArborError` `unparsableValue` if the input is not a value of the attribute's type.
  func value(of json: JSONValue) throws(ArborError) -> PropertyValue {
    switch json {
    case .null: return .null
    case .bool(let flag) where attribute.type == .boolean: return .boolean(flag)
    case .number(let number): return try value(of: number.text)
    case .string(let text): return try value(of: text)
    case .object(let object):
      guard attribute.type == .binary, let text = object["base64"]?.string,
        let data = Data(base64Encoded: text)
      else { throw unparsable }
      return .binary(data)
    default: throw unparsable
    }
  }

  private func value(of text: String) throws(ArborError) -> PropertyValue {
    let value: PropertyValue? =
      switch attribute.type {
      case .string: .string(text)
      case .integer16, .integer32, .integer64: Int64(text).map(PropertyValue.integer)
      case .float, .double: Double(text).flatMap { $0.isNaN ? PropertyValue?.none : .double($0) }
      case .decimal: JSONNumber(text: text)?.decimal.map(PropertyValue.decimal)
      case .boolean: ["true": true, "false": false][text.lowercased()].map(PropertyValue.boolean)
      case .date: ISO8601Date.parse(text).map(PropertyValue.date)
      case .uuid: UUID(uuidString: text).map(PropertyValue.uuid)
      case .uri: URL(string: text).map(PropertyValue.uri)
      case .binary, .transformable, .composite, .undefined: nil
      }
    guard let value else { throw unparsable }
    return value
  }

  private var unparsable: ArborError {
    let expected =
      switch attribute.type {
      case .integer16, .integer32, .integer64: "Enter an integer, such as 42."
      case .float, .double, .decimal: "Enter a number, such as 1.5."
      case .boolean: "Enter true or false."
      case .date: "Enter a date such as 2026-01-31T12:00:00Z."
      case .uuid: "Enter 32 hexadecimal digits with hyphens."
      case .uri: "Enter a URI, such as https://example.com."
      case .binary: "Choose a file."
      case .string, .transformable, .composite, .undefined: "It can only be changed by a program."
      }
    return ArborError(
      .unparsableValue, "The value is not valid for \(entity).\(attribute.name). \(expected)"
    ).with(entity: entity, keyPath: attribute.name)
  }
}
