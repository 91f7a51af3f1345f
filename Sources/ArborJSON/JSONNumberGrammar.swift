/// The grammar of RFC 8259 section 6: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
enum JSONNumberGrammar {
  enum Fault {
    case leadingZero
    case missingDigit
  }

  /// Advances `position` past the number that starts there, or returns the fault at `position`.
  ///
  /// - Parameter form: Set to the form of the number.
  @inline(__always)
  static func skip(
    _ bytes: UnsafeRawBufferPointer, _ position: inout Int, form: inout JSONTape.Form
  ) -> Fault? {
    if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
    let first = position
    guard skipDigits(bytes, &position) else { return .missingDigit }
    if bytes[first] == UInt8(ascii: "0"), position > first + 1 {
      position = first
      return .leadingZero
    }
    form = position - first <= 18 ? .plain : .full
    guard position < bytes.count else { return nil }
    if bytes[position] == UInt8(ascii: ".") {
      form = .simple
      position += 1
      guard skipDigits(bytes, &position) else { return .missingDigit }
    }
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      form = .full
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

  /// Returns the value of an integer of at most 18 digits without exponent, or `nil` for `-0`,
  /// which is not the integer 0.
  @inline(__always)
  static func plainInteger(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    let isNegative = bytes[0] == UInt8(ascii: "-")
    var position = isNegative ? 1 : 0
    var number: Int64 = 0
    while position < bytes.count {
      number = number &* 10 &+ Int64(bytes[position] &- UInt8(ascii: "0"))
      position += 1
    }
    if isNegative { return number == 0 ? nil : -number }
    return number
  }

  /// Returns the value of a number with a decimal point and no exponent, if a single division
  /// yields it exactly, otherwise `nil`.
  ///
  /// All integers up to 2⁵³ and all powers of ten up to 10²² are exact as `Double`. IEEE 754 rounds
  /// their quotient once, so the result is the nearest `Double`.
  static func exactDouble(_ bytes: UnsafeRawBufferPointer) -> Double? {
    guard bytes.count <= 18 else { return nil }
    var whole: Int64 = 0
    var decimals = 0
    var isFraction = false
    for byte in bytes {
      if byte == UInt8(ascii: ".") {
        isFraction = true
      } else if byte != UInt8(ascii: "-") {
        whole = whole &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
        decimals += isFraction ? 1 : 0
      }
    }
    guard whole <= 1 << 53 else { return nil }
    let magnitude = Double(whole) / powersOfTen[decimals]
    return bytes[0] == UInt8(ascii: "-") ? -magnitude : magnitude
  }

  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
  ]

  /// Advances past digits. Returns `false` if there are none.
  @inline(__always)
  private static func skipDigits(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
    let first = position
    while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
    return position > first
  }
}
