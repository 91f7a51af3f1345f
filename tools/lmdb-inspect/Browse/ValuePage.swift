import ArborBrowser
import ArborJSON
import ArborModel
import Foundation

/// A form in which a value is shown.
enum ValueForm {
  case text, hex, json
}

/// A page that shows one whole value: as text, as hexadecimal bytes, or as JSON.
struct ValuePage: BrowsePage {
  enum Content {
    case value(PropertyValue)
    case bytes([UInt8])
  }

  /// The maximum number of characters of a line of text. The arrow keys scroll the line.
  private static let maximumLength = 1 << 20

  private let subject: String
  private let content: Content
  private let form: ValueForm
  private let lines: [String]

  init(_ subject: String, _ content: Content, as form: ValueForm = .text) {
    self.subject = subject
    self.content = content
    self.form = form
    lines =
      switch form {
      case .text: Self.split(Self.text(content))
      case .hex: HexDump.lines(Self.bytes(content))
      case .json: Self.split(Self.json(content).text(.pretty))
      }
  }

  var title: String {
    let name =
      switch form {
      case .text: "text"
      case .hex: "hex"
      case .json: "JSON"
      }
    return "\(subject) · \(name)"
  }

  var count: Int { lines.count }

  /// Returns a range of lines. Each shift omits eight characters, because lines have no columns.
  func rows(_ range: Range<Int>, shift: Int) -> (header: String?, rows: [String]) {
    (nil, lines[range].map { String($0.dropFirst(8 * shift)) })
  }

  func page(at row: Int, answers: [String]) -> (any BrowsePage)? { nil }

  func copy(of row: Int) -> String {
    form == .text ? Self.text(content) : lines.joined(separator: "\n")
  }

  func shown(as form: ValueForm) -> (any BrowsePage)? {
    ValuePage(subject, content, as: form == self.form ? .text : form)
  }

  func reloaded() -> any BrowsePage { self }

  /// Returns the whole value as text for the clipboard.
  static func plainText(_ value: PropertyValue) -> String { text(.value(value)) }

  private static func text(_ content: Content) -> String {
    switch content {
    case .value(.string(let text)): text
    case .value(.binary(let data)): text(.bytes(Array(data)))
    case .value(let value): json(.value(value)).string ?? ValueText.json(value).text(.compact)
    case .bytes(let bytes): ByteText(bytes).text ?? ByteText(bytes).hex()
    }
  }

  private static func bytes(_ content: Content) -> [UInt8] {
    switch content {
    case .value(.binary(let data)): Array(data)
    case .bytes(let bytes): bytes
    case .value: Array(text(content).utf8)
    }
  }

  /// Returns the value as JSON. Text that is a JSON document is returned as that document.
  private static func json(_ content: Content) -> JSONValue {
    switch content {
    case .value(.string(let text)): (try? JSONValue.parse(Data(text.utf8))) ?? .string(text)
    case .value(let value): ValueText.json(value)
    case .bytes(let bytes): (try? JSONValue.parse(Data(bytes))) ?? ByteText(bytes).json
    }
  }

  private static func split(_ text: String) -> [String] {
    text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
      .map { String(String($0).prefix(maximumLength)) }
  }
}
