package import ArborJSON
internal import ArborModel

/// Bytes of a file, as text or JSON.
package struct ByteText {
  package let bytes: [UInt8]

  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = Array(bytes) }
  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The maximum number of bytes or characters shown on a line.
  package static let maximumLength = 64

  /// Returns the bytes as `0x…`, truncated to a limit.
  package func hex(limit: Int = .max) -> String {
    let digits = Array("0123456789abcdef")
    var text = "0x"
    for byte in bytes.prefix(limit) {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return bytes.count > limit ? "\(text)… (\(bytes.count) bytes)" : text
  }

  /// The bytes as text, if they are printable UTF-8. A trailing zero byte, as in C, is allowed.
  package var text: String? {
    let body = bytes.last == 0 ? bytes.dropLast() : bytes[...]
    guard !body.isEmpty, let text = String(validating: body, as: UTF8.self) else { return nil }
    let isPrintable = text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .unassigned, .privateUse, .surrogate: scalar == "\n" || scalar == "\t"
      default: true
      }
    }
    return isPrintable ? text : nil
  }

  /// The bytes in hexadecimal and as text, on one line.
  package var line: String {
    guard let text else { return hex(limit: Self.maximumLength) }
    let shown = text.count > Self.maximumLength ? text.prefix(Self.maximumLength) + "…" : text[...]
    let escaped = shown.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
      .replacing("\t", with: "\\t")
    return "\(hex(limit: Self.maximumLength / 4)) “\(escaped)”"
  }

  /// `{"hex": …, "text": …}`, without text if the bytes are not text.
  package var json: JSONValue {
    var object = JSONObject()
    object["hex"] = .string(hex())
    if let text { object["text"] = .string(text) }
    return .object(object)
  }
}

extension ByteText {
  /// Parses an argument: `0x…` is hexadecimal, anything else is text. Returns `nil` for invalid
  /// hexadecimal.
  package init?(argument: String) {
    guard argument.hasPrefix("0x") else {
      self.init(Array(argument.utf8))
      return
    }
    let digits = Array(argument.dropFirst(2))
    guard digits.count.isMultiple(of: 2), digits.allSatisfy(\.isHexDigit) else { return nil }
    self.init(
      stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(digits[$0...($0 + 1)]), radix: 16)
      })
  }
}
