internal import Foundation

// Single values of JSON from their own bytes, for code that has found them without a tape.

extension JSONScanner {
  /// The text of a string with its quotation marks; nil where the bytes are no such string.
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
  /// A number from its bytes; nil where they are no JSON number.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard Self.form(of: bytes) != nil else { return nil }
    self.init(checked: String(decoding: bytes, as: UTF8.self))
  }

  /// The whole number of 64 bits that bytes denote; nil where they denote none.
  package static func int64(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    guard let form = form(of: bytes) else { return nil }
    if case .plain = form, let number = JSONNumberGrammar.plainInteger(bytes) { return number }
    return JSONNumber(checked: String(decoding: bytes, as: UTF8.self)).int64
  }

  /// The floating-point number nearest to the one that bytes denote; nil where they denote none,
  /// or one beyond all of them.
  package static func double(_ bytes: UnsafeRawBufferPointer) -> Double? {
    switch form(of: bytes) {
    case nil: return nil
    case .plain: if let number = JSONNumberGrammar.plainInteger(bytes) { return Double(number) }
    case .simple: if let number = JSONNumberGrammar.exactDouble(bytes) { return number }
    case .full: break
    }
    return JSONNumber(checked: String(decoding: bytes, as: UTF8.self)).double
  }

  /// How much work it is to read the number that bytes are; nil where they are no JSON number.
  static func form(of bytes: UnsafeRawBufferPointer) -> JSONTape.Form? {
    var position = 0
    var form = JSONTape.Form.plain
    guard JSONNumberGrammar.skip(bytes, &position, form: &form) == nil, position == bytes.count
    else { return nil }
    return form
  }
}
