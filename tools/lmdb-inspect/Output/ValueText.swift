import ArborBrowser
import ArborJSON
import ArborModel
import ArborObjects
import Foundation

/// Attribute values, as text or JSON.
enum ValueText {
  /// The maximum number of characters of a string, and of digits of a binary, on a line.
  private static let maximumLength = 60

  static func json(_ value: PropertyValue) -> JSONValue { RowText.json(value) }

  static func text(_ value: PropertyValue) -> String {
    switch value {
    case .null: "nil"
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .uuid(let uuid): uuid.uuidString
    case .string(let text): quoted(text)
    case .date(let date): ISO8601Date.milliseconds(date)
    case .binary(let data): ByteText(Array(data)).hex(limit: maximumLength / 2)
    case .list(let values): "[" + values.map(text).joined(separator: ", ") + "]"
    case .composite(let parts):
      "{"
        + parts.sorted { $0.key < $1.key }.map {
          "\(TerminalText.escaped($0.key)): \(text($0.value))"
        }
        .joined(separator: ", ") + "}"
    default: TerminalText.escaped(json(value).string ?? json(value).text())
    }
  }

  private static func quoted(_ text: String) -> String {
    let shown = text.count > maximumLength ? text.prefix(maximumLength) + "…" : text[...]
    return TerminalText.escaped(JSONValue.string(String(shown)).text())
  }
}
