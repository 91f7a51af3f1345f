extension JSONScanner {
  /// Reads a quoted string, eight bytes at a time while they are plain.
  mutating func scanString() throws(JSONFault) {
    let start = position
    var hasEscapes = false
    var isASCII = true
    position += 1
    while true {
      skipPlain()
      guard position < bytes.count else { throw JSONFault(.unterminatedString, at: start) }
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") {
        break
      } else if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        try skipEscape(of: start)
      } else if byte < 0x20 {
        throw JSONFault(.controlCharacter, at: position)
      } else if byte >= 0x80 {
        isASCII = false
        while position < bytes.count, bytes[position] >= 0x80 { position += 1 }
      } else {
        position += 1
      }
    }
    if !isASCII, let fault = UTF8Check.firstFault(in: bytes, from: start + 1, to: position) {
      throw JSONFault(.invalidUTF8, at: fault)
    }
    position += 1
    append(.string, from: start, hasEscapes ? .full : isASCII ? .plain : .simple)
  }

  /// Skips words of eight bytes without a quotation mark, backslash, control character or non-ASCII
  /// byte.
  ///
  /// `x - 0x01…` borrows into the high bit of every zero byte; an exclusive or with a wanted byte
  /// turns its occurrences into zeros. A borrow can cause a false hit only above a true one, which
  /// merely means that these eight bytes are examined one by one.
  @inline(__always)
  private mutating func skipPlain() {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    while position + 8 <= bytes.count {
      // Sound: eight bytes from `position` are inside the buffer.
      let word = UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      let quote = word ^ (ones &* 0x22)
      let backslash = word ^ (ones &* 0x5C)
      let found = ((quote &- ones) | (backslash &- ones) | (word &- (ones &* 0x20)) | word) & highs
      guard found == 0 else {
        position += found.trailingZeroBitCount / 8
        return
      }
      position += 8
    }
  }

  private mutating func skipEscape(of start: Int) throws(JSONFault) {
    let escape = position
    guard escape + 1 < bytes.count else { throw JSONFault(.unterminatedString, at: start) }
    position += 2
    switch bytes[escape + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return
    case UInt8(ascii: "u"):
      guard let unit = JSONEscapes.unit(at: position, in: bytes) else {
        throw JSONFault(.invalidEscape, at: escape)
      }
      position += 4
      guard UTF16.isLeadSurrogate(unit) || UTF16.isTrailSurrogate(unit) else { return }
      guard UTF16.isLeadSurrogate(unit), position + 1 < bytes.count,
        bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u"),
        let trail = JSONEscapes.unit(at: position + 2, in: bytes), UTF16.isTrailSurrogate(trail)
      else { throw JSONFault(.loneSurrogate, at: escape) }
      position += 6
    default: throw JSONFault(.invalidEscape, at: escape)
    }
  }
}
