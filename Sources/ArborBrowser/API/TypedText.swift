internal import ArborJSON
internal import ArborModel
internal import Foundation

/// Parses values of one attribute from form input.
struct TypedText {
  let entity: String
  let attribute: AttributeDescription
  /// The composite types of the model.
  var composites: [CompositeDescription] = []
  /// The key path of the composite that the attribute is a part of, or `nil`.
  var owner: String?
  /// The current value. Its parts are kept unless the input changes them.
  var current = PropertyValue.null

  private var keyPath: String { (owner.map { "\($0)." } ?? "") + attribute.name }

  /// Parses form input: a string, number or Boolean, `null`, `{"base64": …}` for binary data,
  /// `{"json": …}` for the text of JSON, or `{"parts": {…}}` for a composite.
  ///
  /// - Throws: `ArborError` `unparsableValue` if the input is not a value of the attribute's type,
  ///   with a violation for each invalid part of a composite.
  func value(of json: JSONValue) throws(ArborError) -> PropertyValue {
    switch json {
    case .null: return .null
    case .bool(let flag) where attribute.type == .boolean: return .boolean(flag)
    case .number(let number): return try value(of: number.text)
    case .string(let text): return try value(of: text)
    case .object(let object):
      if case .composite(let name) = attribute.type, let parts = object["parts"]?.object {
        return try composite(name, parts)
      }
      if attribute.type == .json, let text = object["json"]?.string { return try document(text) }
      guard attribute.type == .binary else { throw unparsable }
      guard let text = object["base64"]?.string, let data = Data(base64Encoded: text) else {
        throw unparsable
      }
      return .binary(data)
    default: throw unparsable
    }
  }

  /// Parses the changed parts of a composite. Parts that are `null` are removed.
  private func composite(_ name: String, _ parts: JSONObject) throws(ArborError) -> PropertyValue {
    guard let type = composites.first(where: { $0.name == name }) else { throw unparsable }
    var values: [String: PropertyValue] = [:]
    if case .composite(let former) = current { values = former }
    var violations: [ArborError] = []
    for (name, json) in parts {
      guard let part = type.attributes.first(where: { $0.name == name }) else {
        violations.append(invalid("The attribute has no part \(name)."))
        continue
      }
      let typed = TypedText(
        entity: entity, attribute: part, composites: composites, owner: keyPath,
        current: values[name] ?? .null)
      do throws(ArborError) {
        let value = try typed.value(of: json)
        values[name] = value.isNull ? nil : value
      } catch {
        violations += error.violations.isEmpty ? [error] : error.violations
      }
    }
    guard let first = violations.first else { return .composite(values) }
    guard violations.count > 1 else { throw first }
    var error = invalid("Correct the \(violations.count) invalid parts.")
    error.violations = violations
    throw error
  }

  /// Returns the value of a JSON text.
  private func document(_ text: String) throws(ArborError) -> PropertyValue {
    let json: JSONValue
    do throws(ArborError) { json = try JSONValue.parse(Data(text.utf8)) } catch {
      throw invalid("Enter JSON. \(error.message)")
    }
    guard let value = PropertyValue(json: json) else { throw unparsable }
    return value
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
      case .binary, .json, .transformable, .composite, .undefined: nil
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
      case .date: "Enter a date, such as 2026-01-31T12:00:00Z."
      case .uuid: "Enter 32 hexadecimal digits with hyphens."
      case .uri: "Enter a URI, such as https://example.com."
      case .binary: "Choose a file."
      case .json: "Enter JSON."
      case .string, .transformable, .composite, .undefined:
        "This attribute can only be changed by a program."
      }
    return invalid(expected)
  }

  private func invalid(_ advice: String) -> ArborError {
    ArborError(.unparsableValue, "The value is not valid for \(entity).\(keyPath). \(advice)")
      .with(entity: entity, keyPath: keyPath)
  }
}
