package import ArborJSON
package import ArborModel
internal import Foundation

/// Rows of values as JSON or CSV, for other programs.
package enum RowText {
  /// Returns a row as an object with a member for each column.
  package static func json(_ values: [PropertyValue], _ names: [String]) -> JSONValue {
    var object = JSONObject()
    for (name, value) in zip(names, values) { object[name] = json(value) }
    return .object(object)
  }

  /// Returns a value in plain JSON. Numbers that JSON cannot represent are strings.
  package static func json(_ value: PropertyValue) -> JSONValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .bool(flag)
    case .integer(let number): .number(JSONNumber(number))
    case .double(let number): JSONNumber(number).map(JSONValue.number) ?? .string("\(number)")
    case .decimal(let number):
      JSONNumber(text: "\(number)").map(JSONValue.number) ?? .string("\(number)")
    case .string(let text): .string(text)
    case .date(let date): .string(exact(date))
    case .binary(let data): .string(data.base64EncodedString())
    case .uuid(let uuid): .string(uuid.uuidString)
    case .uri(let url): .string(url.absoluteString)
    case .objectID(let id): .string(ValueJSON.name(id))
    case .list(let values): .array(values.map(json))
    case .composite(let parts): ValueJSON.object(parts.mapValues(json))
    }
  }

  /// Returns a date with milliseconds, or with more digits if it is more precise.
  private static func exact(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    let text = ISO8601Date.milliseconds(date)
    return (seconds * 1000).rounded() / 1000 == seconds ? text : ISO8601Date.text(date) ?? text
  }

  /// Returns a value as readable text. `nil` is an empty string.
  static func text(_ value: PropertyValue) -> String {
    switch json(value) {
    case .null: ""
    case .string(let text): text
    case let other: other.text(.compact)
    }
  }

  /// Returns a CSV field. `nil` is an empty field; an empty string is a pair of quotes.
  static func csv(_ value: PropertyValue) -> String { DelimitedRows.csv.line([json(value)]) }
}
