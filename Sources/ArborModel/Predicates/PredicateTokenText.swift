internal import ArborFoundation

/// Values of tokens.
extension PredicateLexer {
  /// Returns the name of an identifier or a variable, without its mark and with escapes resolved.
  func name(of token: PredicateToken) throws(PredicateFailure) -> String {
    let mark = bytes[token.start]
    let isMarked = mark == UInt8(ascii: "#") || mark == UInt8(ascii: "$")
    return try unescaped(token.start + (isMarked ? 1 : 0)..<token.end)
  }

  /// Returns the text of a string literal, with escapes resolved.
  func string(of token: PredicateToken) throws(PredicateFailure) -> String {
    try unescaped(token.start + 1..<token.end - 1)
  }

  func spelling(of token: PredicateToken) -> String {
    String(decoding: bytes[token.start..<token.end], as: UTF8.self)
  }

  private func unescaped(_ range: Range<Int>) throws(PredicateFailure) -> String {
    guard bytes[range].contains(UInt8(ascii: "\\")) else {
      return String(decoding: bytes[range], as: UTF8.self)
    }
    var scalars = String.UnicodeScalarView()
    var pieceStart = range.lowerBound
    var position = range.lowerBound
    while position < range.upperBound {
      guard bytes[position] == UInt8(ascii: "\\") else {
        position += 1
        continue
      }
      scalars.append(
        contentsOf: String(decoding: bytes[pieceStart..<position], as: UTF8.self).unicodeScalars)
      let (scalar, end) = try escape(position, range.upperBound)
      if let scalar { scalars.append(scalar) }
      pieceStart = end
      // An escaped character that represents itself belongs to the next piece.
      position = scalar == nil ? end + 1 : end
    }
    scalars.append(
      contentsOf: String(decoding: bytes[pieceStart..<range.upperBound], as: UTF8.self)
        .unicodeScalars)
    return String(scalars)
  }

  private static let controls: [UInt8: Unicode.Scalar] = [
    UInt8(ascii: "a"): "\u{07}", UInt8(ascii: "b"): "\u{08}", UInt8(ascii: "f"): "\u{0C}",
    UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
    UInt8(ascii: "v"): "\u{0B}",
  ]

  /// Returns the scalar that an escape represents, and the end of the escape. The scalar is `nil`
  /// if the character after the backslash represents itself.
  private func escape(
    _ start: Int, _ limit: Int
  ) throws(PredicateFailure) -> (scalar: Unicode.Scalar?, end: Int) {
    let letter = bytes[start + 1]
    if let control = Self.controls[letter] { return (control, start + 2) }
    switch letter {
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      guard let code = code(start + 1..<start + 4, limit, radix: 8),
        let scalar = Unicode.Scalar(code)
      else { return (nil, start + 1) }
      return (scalar, start + 4)
    case UInt8(ascii: "x"):
      guard let code = code(start + 2..<start + 4, limit, radix: 16),
        let scalar = Unicode.Scalar(code)
      else { throw error("Expected two hexadecimal digits after \\x.", at: start) }
      return (scalar, start + 4)
    case UInt8(ascii: "u"):
      guard let code = code(start + 2..<start + 6, limit, radix: 16) else {
        throw error("Expected four hexadecimal digits after \\u.", at: start)
      }
      if let scalar = Unicode.Scalar(code) { return (scalar, start + 6) }
      return try surrogatePair(code, start, limit)
    default: return (nil, start + 1)
    }
  }

  /// Returns the scalar for a surrogate pair of two `\u` escapes.
  private func surrogatePair(
    _ high: UInt32, _ start: Int, _ limit: Int
  ) throws(PredicateFailure) -> (scalar: Unicode.Scalar?, end: Int) {
    let second = start + 6
    if high < 0xDC00, second + 6 <= limit, bytes[second] == UInt8(ascii: "\\"),
      bytes[second + 1] == UInt8(ascii: "u"),
      let low = code(second + 2..<second + 6, limit, radix: 16), (0xDC00...0xDFFF).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
    {
      return (scalar, second + 6)
    }
    throw error("This \\u is half of a surrogate pair. Write both halves.", at: start)
  }

  private func code(_ range: Range<Int>, _ limit: Int, radix: Int) -> UInt32? {
    guard range.upperBound <= limit else { return nil }
    var code: UInt32 = 0
    for byte in bytes[range] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, digit < radix else {
        return nil
      }
      code = code * UInt32(radix) + UInt32(digit)
    }
    return code
  }

  /// Returns the value of a number literal.
  ///
  /// Integers that exceed 64 bits, and numbers that would lose digits as floating point, are
  /// decimals. Beyond 38 digits, they are floating-point numbers.
  func number(of token: PredicateToken, isNegative: Bool) throws(PredicateFailure) -> PropertyValue
  {
    if let number = shortNumber(token) { return .integer(isNegative ? -number : number) }
    let text = spelling(of: token)
    let sign = isNegative ? "-" : ""
    if token.end - token.start > 1, let radix = Self.radixes[text.prefix(2).lowercased()] {
      guard let number = Int64(sign + text.dropFirst(2), radix: radix) else {
        throw error("This integer exceeds 64 bits. Write it in decimal.", at: token.start)
      }
      return .integer(number)
    }
    if let number = Int64(sign + text) { return .integer(number) }
    guard let number = Double(sign + text), number.isFinite else {
      throw error(
        "This number is outside the range of 64-bit floating point "
          + "(±\(Double.greatestFiniteMagnitude)). Write a number in that range.", at: token.start)
    }
    // `Double` preserves up to 15 digits.
    if text.utf8.count <= 16, text.utf8.contains(UInt8(ascii: ".")) { return .double(number) }
    let written = Self.digits(text, isNegative: isNegative)
    if written != DecimalDigits(shortest: number), let decimal = written?.decimal {
      return .decimal(decimal)
    }
    let isWhole = !text.utf8.contains { [0x2E, 0x65, 0x45].contains($0) }
    return isWhole
      ? written?.decimal.map(PropertyValue.decimal) ?? .double(number) : .double(number)
  }

  /// Returns the value of a token of at most 18 decimal digits, which always fits, or `nil` for any
  /// other token.
  private func shortNumber(_ token: PredicateToken) -> Int64? {
    guard token.end - token.start <= 18 else { return nil }
    var number: Int64 = 0
    for index in token.start..<token.end {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      number = number &* 10 &+ Int64(digit)
    }
    return number
  }

  private static let radixes = ["0x": 16, "0o": 8, "0b": 2]

  private static func digits(_ text: String, isNegative: Bool) -> DecimalDigits? {
    let parts = text.lowercased().split(separator: "e")
    let power = parts.count > 1 ? Int(parts[1]) : 0
    let halves = parts[0].split(separator: ".")
    let fraction = halves.count > 1 ? halves[1].utf8.count : 0
    guard let power, (-1000..<1000).contains(power) else { return nil }
    return DecimalDigits(isNegative: isNegative, text: parts[0].utf8, exponent: power - fraction)
  }
}
