internal import ArborJSON
internal import Foundation

extension AttributeType {
  /// A default value or bound of this type in the JSON form.
  func json(of value: Value) -> JSONValue {
    switch value {
    case .boolean(let flag): .bool(flag)
    case .integer(let number): .number(JSONNumber(number))
    case .double(let number): JSONNumber(number).map(JSONValue.number) ?? .string("\(number)")
    case .decimal(let number): JSONNumber(number).map(JSONValue.number) ?? .null
    case .string(let text): .string(text)
    case .date(let date): Self.json(of: date)
    case .binary(let data): .string(data.base64EncodedString())
    case .uuid(let uuid): .string(uuid.uuidString)
    case .uri(let url): .string(url.absoluteString)
    case .null, .objectID, .list, .composite: .null
    }
  }

  /// Whole seconds read well; any other date is kept exactly as a number.
  private static func json(of date: Date) -> JSONValue {
    let text = date.formatted(.iso8601)
    if (try? Date(text, strategy: .iso8601)) == date { return .string(text) }
    let seconds = date.timeIntervalSinceReferenceDate
    return JSONNumber(seconds).map(JSONValue.number) ?? .null
  }

  /// The value of this type that JSON stands for, or nil where it stands for none.
  func value(ofJSON node: JSONNode) -> Value? {
    switch node.kind {
    case .null: .null
    case .bool: node.bool.flatMap { fitting(.boolean($0)) }
    case .number: node.number.flatMap(value(ofNumber:))
    case .string: node.string.flatMap(value(ofString:))
    case .array, .object: nil
    }
  }

  private func value(ofNumber number: JSONNumber) -> Value? {
    switch self {
    case .integer16, .integer32, .integer64: number.int64.flatMap { fitting(.integer($0)) }
    case .float, .double: number.double.flatMap { fitting(.double($0)) }
    case .decimal: number.decimal.map(Value.decimal)
    case .date: number.double.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .undefined:
      // Without a type the spelling decides.
      Int64(number.text).map(Value.integer) ?? number.double.map(Value.double)
    default: nil
    }
  }

  private func value(ofString text: String) -> Value? {
    switch self {
    case .string, .undefined, .uuid, .uri: fitting(.string(text))
    case .date: (try? Date(text, strategy: .iso8601)).map(Value.date)
    case .binary, .transformable: Data(base64Encoded: text).map(Value.binary)
    case .float, .double:
      text.hasSuffix("inf") ? Double(text).flatMap { fitting(.double($0)) } : nil
    default: nil
    }
  }
}
