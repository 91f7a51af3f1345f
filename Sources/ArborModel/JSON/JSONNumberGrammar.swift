/// The grammar of RFC 8259 section 6: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
enum JSONNumberGrammar {
  /// Why some bytes are no number.
  enum Fault {
    case leadingZero
    case missingDigit
  }

  /// Moves `position` behind the number that starts there, or gives the fault found at it.
  @inline(__always)
  static func skip(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Fault? {
    if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
    let first = position
    guard skipDigits(bytes, &position) else { return .missingDigit }
    if bytes[first] == UInt8(ascii: "0"), position > first + 1 {
      position = first
      return .leadingZero
    }
    guard position < bytes.count else { return nil }
    if bytes[position] == UInt8(ascii: ".") {
      position += 1
      guard skipDigits(bytes, &position) else { return .missingDigit }
    }
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < bytes.count,
        bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
      {
        position += 1
      }
      guard skipDigits(bytes, &position) else { return .missingDigit }
    }
    return nil
  }

  /// Moves over digits; false where there is none.
  @inline(__always)
  private static func skipDigits(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
    let first = position
    while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
    return position > first
  }
}
