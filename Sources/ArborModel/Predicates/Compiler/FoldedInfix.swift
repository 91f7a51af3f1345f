/// A matcher for text whose folded form contains a non-empty byte sequence.
///
/// Most texts lack a character that folds to one of the pattern's letters. They are rejected
/// without folding.
struct FoldedInfix: ByteMatcher {
  private let infix: ByteInfix
  private let folding: StringFolding
  /// For each byte, a bit set of the letters that the byte may indicate, or `nil` if the pattern
  /// has no ASCII letters.
  private let clues: ConstantBytes?
  /// The bits of all letters.
  private let wanted: UInt8

  init(_ infix: ByteInfix, _ folding: StringFolding) {
    self.infix = infix
    self.folding = folding
    let letters = Self.rarestLetters(of: infix.constant.bytes)
    clues = letters.isEmpty ? nil : ConstantBytes(Self.clues(to: letters, folding))
    wanted = UInt8(truncatingIfNeeded: 1 << letters.count - 1)
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard isCandidate(bytes) else { return false }
    return folding.withFolded(bytes) { infix.matches($0) }
  }

  /// Returns whether a text may contain every letter.
  @inline(__always)
  private func isCandidate(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let clues, let table = clues.bytes.baseAddress, let base = bytes.baseAddress else {
      return !bytes.isEmpty
    }
    // Memory safety: the table has an entry for each byte, and offsets are less than the count.
    func clue(_ offset: Int) -> UInt8 {
      let byte = base.load(fromByteOffset: offset, as: UInt8.self)
      return table.load(fromByteOffset: Int(byte), as: UInt8.self)
    }
    var found: UInt8 = 0
    var offset = 0
    while offset + 4 <= bytes.count {
      found |= clue(offset) | clue(offset + 1) | clue(offset + 2) | clue(offset + 3)
      if found == wanted { return true }
      offset += 4
    }
    while offset < bytes.count {
      found |= clue(offset)
      offset += 1
    }
    return found == wanted
  }

  /// The letters of English, sorted by descending frequency.
  private static let usual = Array("etaoinshrdlcumwfgypbvkjxqz".utf8)

  /// Returns the distinct ASCII bytes of a pattern, rarest first, at most one per bit of a byte.
  private static func rarestLetters(of pattern: UnsafeRawBufferPointer) -> ArraySlice<UInt8> {
    Set(pattern.filter { $0 < 0x80 }).sorted { (rank(of: $0), $0) > (rank(of: $1), $1) }
      .prefix(UInt8.bitWidth)
  }

  /// Returns, for each byte, the letters that it may indicate: the letters themselves, and the lead
  /// bytes of characters that fold to them. Of the characters with three or more bytes, only some
  /// in U+1000 to U+2FFF, in U+F000 to U+FFFF and above U+FFFF do.
  private static func clues(to letters: ArraySlice<UInt8>, _ folding: StringFolding) -> [UInt8] {
    var clues = [UInt8](repeating: 0, count: 256)
    let table = FoldingTable.table(of: folding)
    for (index, letter) in letters.enumerated() {
      let bit: UInt8 = 1 << index
      for byte in UInt8(0)..<0x80 where byte == letter || StringFolding.lowercased(byte) == letter {
        clues[Int(byte)] |= bit
      }
      for lead in UInt8(0xC0)..<0xE0 where table.mayFold(lead, to: letter) {
        clues[Int(lead)] |= bit
      }
      for lead in [0xE1, 0xE2, 0xEF] + Array(0xF0...0xF4) { clues[lead] |= bit }
    }
    return clues
  }

  private static func rank(of byte: UInt8) -> Int { usual.firstIndex(of: byte) ?? usual.count }
}
