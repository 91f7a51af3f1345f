public import ArborFoundation

/// The layout of JSON text.
public enum JSONStyle: Sendable, Hashable {
  /// On one line, without spaces.
  case compact
  /// One member or element per line, indented by two spaces.
  case pretty
}

extension JSONValue {
  /// Returns the value as JSON text.
  ///
  /// The output is deterministic: keys keep their order, and numbers their spelling.
  ///
  /// - Complexity: Linear in the size of the value.
  public func text(_ style: JSONStyle = .compact) -> String {
    String(decoding: bytes(style), as: UTF8.self)
  }

  /// Returns the value as JSON in UTF-8, formatted like ``text(_:)-method``.
  public func data(_ style: JSONStyle = .compact) -> Data { Data(bytes(style)) }

  private func bytes(_ style: JSONStyle) -> [UInt8] {
    var writer = JSONWriter(style)
    writer.write(self)
    return writer.bytes
  }
}

/// Serializes values into a byte buffer, one after the other.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []
  private let isPretty: Bool
  private var depth = 0

  package init(_ style: JSONStyle) { isPretty = style == .pretty }

  package mutating func write(_ value: JSONValue) {
    switch value {
    case .null: write("null")
    case .bool(let bool): write(bool ? "true" : "false")
    case .number(let number): write(number.text)
    case .string(let string): write(quoted: string)
    case .array(let elements):
      write(parts: elements, between: ("[", "]")) { writer, element in writer.write(element) }
    case .object(let object):
      write(parts: object, between: ("{", "}")) { writer, member in
        writer.write(quoted: member.key)
        writer.write(writer.isPretty ? ": " : ":")
        writer.write(member.value)
      }
    }
  }

  /// Ends a line, for example between the documents of a stream.
  package mutating func endLine() { bytes.append(UInt8(ascii: "\n")) }

  private mutating func write<Parts: Collection>(
    parts: Parts, between brackets: (String, String),
    _ body: (inout JSONWriter, Parts.Element) -> Void
  ) {
    write(brackets.0)
    depth += 1
    var isFirst = true
    for part in parts {
      if !isFirst { write(",") }
      isFirst = false
      breakLine()
      body(&self, part)
    }
    depth -= 1
    if !isFirst { breakLine() }
    write(brackets.1)
  }

  private mutating func breakLine() {
    guard isPretty else { return }
    endLine()
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
  }

  private mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Writes a quoted string, copying runs that need no escaping in one piece.
  private mutating func write(quoted text: String) {
    var text = text
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { text in
      var written = 0
      for index in text.indices where Self.needsEscape(text[index]) {
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[written..<index]))
        escape(text[index])
        written = index + 1
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[written...]))
    }
    bytes.append(UInt8(ascii: "\""))
  }

  @inline(__always)
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): write("\\\"")
    case UInt8(ascii: "\\"): write("\\\\")
    case 0x08: write("\\b")
    case 0x0C: write("\\f")
    case 0x0A: write("\\n")
    case 0x0D: write("\\r")
    case 0x09: write("\\t")
    default:
      write(byte < 0x10 ? "\\u000" : "\\u00")
      write(String(byte, radix: 16))
    }
  }
}
