/// A lexer that splits the text of a predicate into tokens.
struct PredicateLexer {
  let text: PredicateText
  let bytes: [UInt8]
  let isFormat: Bool
  private(set) var tokens: [PredicateToken] = []
  private(set) var argumentCount = 0
  /// Whether the text contains variables or key paths passed as arguments.
  private(set) var isOpen = false
  private var position = 0
  private var openParentheses: [Int] = []

  init(_ text: PredicateText, isFormat: Bool) {
    self.text = text
    bytes = text.bytes
    self.isFormat = isFormat
    tokens.reserveCapacity(bytes.count / 4 + 2)
  }

  /// Reads all tokens. The last one is `end`.
  mutating func run() throws(PredicateFailure) {
    while true {
      skipBlanks()
      guard position < bytes.count else { break }
      try next()
    }
    append(.end, length: 0)
  }

  private mutating func next() throws(PredicateFailure) {
    let byte = bytes[position]
    switch byte {
    case PredicateText.argumentMark:
      append(.argument(argumentCount), length: 1)
      argumentCount += 1
    case UInt8(ascii: "\""), UInt8(ascii: "'"): try string(quote: byte)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
    case UInt8(ascii: "$"):
      isOpen = true
      try markedName(.variable, "the name of a variable", allowsDollar: true)
    case UInt8(ascii: "%"): try specification()
    case UInt8(ascii: "#"): try markedName(.identifier, "a name")
    case UInt8(ascii: "@"): try markedName(.collectionOperator, "the name of a collection operator")
    case UInt8(ascii: "("):
      openParentheses.append(tokens.count)
      append(.openParenthesis(closedBy: -1), length: 1)
    case UInt8(ascii: ")"):
      if let open = openParentheses.popLast() {
        tokens[open].kind = .openParenthesis(closedBy: tokens.count)
      }
      append(.closeParenthesis, length: 1)
    default:
      let word = wordEnd(from: position)
      if word > position { return self.word(to: word) }
      try punctuation()
    }
  }

  // MARK: Reading bytes

  private func byte(_ offset: Int) -> UInt8 {
    position + offset < bytes.count ? bytes[position + offset] : 0
  }

  private mutating func append(_ kind: PredicateToken.Kind, length: Int) {
    tokens.append(PredicateToken(kind: kind, start: position, end: position + length))
    position += length
  }

  func error(_ message: String, at offset: Int) -> PredicateFailure {
    PredicateFailure(PredicateSite(text, offset).error(message))
  }

  /// Returns the scalar at an offset and its length, or `nil` if there isn't one. The marks of
  /// arguments are not scalars.
  private func scalar(at offset: Int) -> (scalar: Unicode.Scalar, length: Int)? {
    guard offset < bytes.count, bytes[offset] != PredicateText.argumentMark else { return nil }
    if bytes[offset] < 0x80 { return (Unicode.Scalar(bytes[offset]), 1) }
    var decoder = UTF8()
    var input = bytes[offset...].makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&input) else { return nil }
    return (scalar, UTF8.width(scalar))
  }

  private mutating func skipBlanks() {
    while position < bytes.count {
      let byte = bytes[position]
      if byte == 0x20 || (0x09...0x0D).contains(byte) {
        position += 1
      } else if byte >= 0x80, let (scalar, length) = scalar(at: position),
        scalar.properties.isWhitespace
      {
        position += length
      } else {
        return
      }
    }
  }

  // MARK: Words

  /// Returns the end of the identifier that starts at an offset, or the offset itself if there
  /// isn't one.
  private func wordEnd(from start: Int, allowsDollar: Bool = false) -> Int {
    var end = start
    while end < bytes.count {
      let byte = bytes[end]
      if byte < 0x80 {
        let isLetter = (byte | 0x20) &- UInt8(ascii: "a") < 26
        let isDigit = byte &- UInt8(ascii: "0") < 10
        if isLetter || (isDigit && end > start) || byte == UInt8(ascii: "_")
          || (allowsDollar && byte == UInt8(ascii: "$"))
        {
          end += 1
        } else if byte == UInt8(ascii: "\\"), end + 1 < bytes.count,
          bytes[end + 1] != PredicateText.argumentMark
        {
          // The remaining letters of a longer escape are identifier characters themselves.
          end += 1 + (scalar(at: end + 1)?.length ?? 1)
        } else {
          return end
        }
      } else {
        guard let (scalar, length) = scalar(at: end) else { return end }
        let properties = scalar.properties
        guard properties.isXIDStart || (end > start && properties.isXIDContinue) else { return end }
        end += length
      }
    }
    return end
  }

  private mutating func word(to end: Int) {
    if let keyword = PredicateKeyword(spelledBy: bytes, position..<end) {
      return append(.keyword(keyword), length: end - position)
    }
    if end == position + 3, byte(3) == UInt8(ascii: "-"), let (keyword, length) = hyphenated {
      return append(.keyword(keyword), length: length)
    }
    append(.identifier, length: end - position)
  }

  /// The hyphenated keyword at the current position, and its length, or `nil` if there isn't one.
  private var hyphenated: (keyword: PredicateKeyword, length: Int)? {
    for keyword in [PredicateKeyword.conformsToUTI, .equalsUTI] {
      let length = keyword.rawValue.utf8.count
      guard position + length <= bytes.count else { continue }
      if PredicateKeyword(spelledBy: bytes, position..<position + length) == keyword {
        return (keyword, length)
      }
    }
    return nil
  }

  /// Reads `$name`, `#name` (a reserved word as an identifier) or `@count`. The parser checks
  /// whether the collection operator exists.
  private mutating func markedName(
    _ kind: PredicateToken.Kind, _ what: String, allowsDollar: Bool = false
  ) throws(PredicateFailure) {
    let end = wordEnd(from: position + 1, allowsDollar: allowsDollar)
    guard end > position + 1 else {
      let mark = Character(Unicode.Scalar(bytes[position]))
      throw error("Expected \(what) after \"\(mark)\".", at: position)
    }
    append(kind, length: end - position)
  }

  // MARK: Literals

  private mutating func string(quote: UInt8) throws(PredicateFailure) {
    var end = position + 1
    while end < bytes.count, bytes[end] != quote {
      if bytes[end] == PredicateText.argumentMark {
        throw error(
          "A value is interpolated inside quotes, where everything is text. Remove the quotes; "
            + "interpolated values become constants.", at: end)
      }
      end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard end < bytes.count else {
      throw error(
        "This string is not terminated. Close it with \(Character(Unicode.Scalar(quote))).",
        at: position)
    }
    append(.string, length: end + 1 - position)
  }

  private mutating func number() throws(PredicateFailure) {
    var end = position
    func digits(_ isDigit: (UInt8) -> Bool) {
      while end < bytes.count, isDigit(bytes[end]) { end += 1 }
    }
    func isDecimal(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
    let base = byte(1) | 0x20
    if byte(0) == UInt8(ascii: "0"), [0x78, 0x6F, 0x62].contains(base) {
      end += 2
      digits { isDecimal($0) || ($0 | 0x20) &- UInt8(ascii: "a") < 26 }
    } else {
      digits(isDecimal)
      if end + 1 < bytes.count, bytes[end] == UInt8(ascii: "."), isDecimal(bytes[end + 1]) {
        end += 1
        digits(isDecimal)
      }
      if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
        var digit = end + 1
        if digit < bytes.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[digit]) {
          digit += 1
        }
        if digit < bytes.count, isDecimal(bytes[digit]) {
          end = digit
          digits(isDecimal)
        }
      }
    }
    guard wordEnd(from: end) == end else {
      throw error("A number is followed by letters. Separate them with a space.", at: end)
    }
    append(.number, length: end - position)
  }

  // MARK: Punctuation

  private mutating func specification() throws(PredicateFailure) {
    var length = 1
    while [0x68, 0x6C, 0x71, 0x7A, 0x6A, 0x74, 0x4C].contains(byte(length)) { length += 1 }
    let letter = byte(length)
    let isKeyPath = letter == UInt8(ascii: "K") && length == 1
    let isValue = "@diuxXoOcCfFeEgGaAsSDU".utf8.contains(letter)
    guard isKeyPath || isValue else {
      // Otherwise this is the modulus operator, possibly written twice.
      return append(.infix(.modulus), length: byte(1) == UInt8(ascii: "%") ? 2 : 1)
    }
    guard isFormat else {
      let name = String(decoding: bytes[position...(position + length)], as: UTF8.self)
      throw error(
        "\(name) has no argument here. Interpolate the value, or use FetchPredicate(format:).",
        at: position)
    }
    isOpen = isOpen || isKeyPath
    append(isKeyPath ? .pathArgument(argumentCount) : .argument(argumentCount), length: length + 1)
    argumentCount += 1
  }

  private mutating func punctuation() throws(PredicateFailure) {
    guard let (kind, length) = Self.punctuation(bytes[position], byte(1)) else {
      throw strayCharacter
    }
    append(kind, length: length)
  }

  /// Returns the kind and length of the punctuation that starts with the given two bytes, or `nil`
  /// if there isn't any.
  private static func punctuation(
    _ first: UInt8, _ second: UInt8
  ) -> (kind: PredicateToken.Kind, length: Int)? {
    func pair(
      _ spelling: Unicode.Scalar, _ double: PredicateToken.Kind, else single: PredicateToken.Kind
    ) -> (kind: PredicateToken.Kind, length: Int) {
      second == UInt8(ascii: spelling) ? (double, 2) : (single, 1)
    }
    switch first {
    case UInt8(ascii: "="):
      if second == UInt8(ascii: "<") { return (.comparison(.lessOrEqual), 2) }
      if second == UInt8(ascii: ">") { return (.comparison(.greaterOrEqual), 2) }
      return pair("=", .comparison(.equal), else: .comparison(.equal))
    case UInt8(ascii: "!"): return pair("=", .comparison(.notEqual), else: .not)
    case UInt8(ascii: "<"):
      if second == UInt8(ascii: ">") { return (.comparison(.notEqual), 2) }
      if second == UInt8(ascii: "<") { return (.infix(.leftshift), 2) }
      return pair("=", .comparison(.lessOrEqual), else: .comparison(.less))
    case UInt8(ascii: ">"):
      if second == UInt8(ascii: ">") { return (.infix(.rightshift), 2) }
      return pair("=", .comparison(.greaterOrEqual), else: .comparison(.greater))
    case UInt8(ascii: "&"): return pair("&", .and, else: .infix(.bitwiseAnd))
    case UInt8(ascii: "|"): return pair("|", .or, else: .infix(.bitwiseOr))
    case UInt8(ascii: "*"): return pair("*", .infix(.power), else: .infix(.multiply))
    case UInt8(ascii: ":"): return pair("=", .assign, else: .colon)
    default: return single(first).map { ($0, 1) }
    }
  }

  private static func single(_ byte: UInt8) -> PredicateToken.Kind? {
    switch byte {
    case UInt8(ascii: "."): .dot
    case UInt8(ascii: ","): .comma
    case UInt8(ascii: "{"): .openBrace
    case UInt8(ascii: "}"): .closeBrace
    case UInt8(ascii: "["): .openBracket
    case UInt8(ascii: "]"): .closeBracket
    case UInt8(ascii: "-"): .minus
    case UInt8(ascii: "+"): .infix(.add)
    case UInt8(ascii: "/"): .infix(.divide)
    case UInt8(ascii: "^"): .infix(.bitwiseXor)
    case UInt8(ascii: "~"): .tilde
    default: nil
    }
  }

  private var strayCharacter: PredicateFailure {
    let character = scalar(at: position).map { String($0.scalar) } ?? "?"
    let isCurly = ["\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}", "\u{201E}"].contains(character)
    return error(
      "\"\(character)\" is not valid here. "
        + (isCurly ? "Put strings in straight quotes." : "Remove it, or put strings in quotes."),
      at: position)
  }
}
