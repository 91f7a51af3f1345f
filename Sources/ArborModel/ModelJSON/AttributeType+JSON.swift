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
    let seconds = date.timeIntervalSinceReferenceDate
    if seconds == seconds.rounded(), let text = ISO8601Date.text(date) { return .string(text) }
    return JSONNumber(seconds).map(JSONValue.number) ?? .null
  }

  /// The value of this type that JSON stands for, or nil where it stands for none.
  func value(ofJSON node: JSONNode) -> Value? {
    switch node.kind {
    case .null: .null
    case .bool: node.bool.flatMap { fitting(.boolean($0)) }
    case .number: node.number.flatMap { kind.value(ofJSON: $0) }
    case .string: node.string.flatMap { kind.value(ofJSON: $0) }
    case .array, .object: nil
    }
  }
}
