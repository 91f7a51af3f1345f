internal import ArborFoundation

// Parsing of single JSON scalars from their bytes, for code that finds them without a tape.

extension JSONScanner {
  /// Returns the text of a quoted string, or `nil` if the bytes are not a valid JSON string.
  package static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
    guard bytes.count >= 2, bytes[0] == UInt8(ascii: "\"") else { return nil }
    let inner = bytes[1..<(bytes.count - 1)]
    if bytes[bytes.count - 1] == UInt8(ascii: "\""), !inner.contains(UInt8(ascii: "\\")) {
      return String(validating: inner, as: UTF8.self)
    }
    var scanner = JSONScanner(bytes, limits: JSONLimits())
    guard (try? scanner.scanString()) != nil, scanner.position == bytes.count else { return nil }
    return scanner.tape.text(of: 0, in: bytes)
  }
}

extension JSONNumber {
  /// Creates a number from its bytes. Returns `nil` if they are not a valid JSON number.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard Self.form(of: bytes) != nil else { return nil }
    self.init(checked: String(decoding: bytes, as: UTF8.self))
  }

  /// Returns the bytes as a signed 64-bit integer, or `nil` if they are not one.
  package static func int64(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    guard let form = form(of: bytes) else { return nil }
    if case .plain = form, let number = JSONNumberGrammar.plainInteger(bytes) { return number }
    return JSONNumber(checked: String(decoding: bytes, as: UTF8.self)).int64
  }

  /// Returns the nearest floating-point number, or `nil` if the bytes are not a number or exceed
  /// the range of `Double`.
  package static func double(_ bytes: UnsafeRawBufferPointer) -> Double? {
    switch form(of: bytes) {
    case nil: return nil
    case .plain: if let number = JSONNumberGrammar.plainInteger(bytes) { return Double(number) }
    case .simple: if let number = JSONNumberGrammar.exactDouble(bytes) { return number }
    case .full: break
    }
    return JSONNumber(checked: String(decoding: bytes, as: UTF8.self)).double
  }

  /// Returns the form of a number, which determines how to parse it, or `nil` if the bytes are not
  /// a valid JSON number.
  static func form(of bytes: UnsafeRawBufferPointer) -> JSONTape.Form? {
    var position = 0
    var form = JSONTape.Form.plain
    guard JSONNumberGrammar.skip(bytes, &position, form: &form) == nil, position == bytes.count
    else { return nil }
    return form
  }
}
