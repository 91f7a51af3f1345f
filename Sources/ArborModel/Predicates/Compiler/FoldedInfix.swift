/// Texts whose folded form holds other bytes, which are not empty, somewhere.
///
/// Most texts have no character that folds to the rarest letter sought; those are not folded.
struct FoldedInfix: ByteMatcher {
  private let infix: ByteInfix
  private let folding: StringFolding
  /// For each byte whether a text may be one of those sought that has it; nil where all may.
  private let clues: ConstantBytes?

  init(_ infix: ByteInfix, _ folding: StringFolding) {
    self.infix = infix
    self.folding = folding
    clues = Self.clues(to: infix.constant.bytes, folding).map { ConstantBytes($0) }
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard isCandidate(bytes) else { return false }
    return folding.withFolded(bytes) { infix.matches($0) }
  }

  /// Whether a text has one of the clues.
  @inline(__always)
  private func isCandidate(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let clues, let table = clues.bytes.baseAddress, let base = bytes.baseAddress else {
      return !bytes.isEmpty
    }
    // Sound: the table has an entry for each byte, and offsets stay below the count.
    func clue(_ offset: Int) -> UInt8 {
      let byte = base.load(fromByteOffset: offset, as: UInt8.self)
      return table.load(fromByteOffset: Int(byte), as: UInt8.self)
    }
    var offset = 0
    while offset + 4 <= bytes.count {
      if clue(offset) | clue(offset + 1) | clue(offset + 2) | clue(offset + 3) != 0 { return true }
      offset += 4
    }
    while offset < bytes.count {
      if clue(offset) != 0 { return true }
      offset += 1
    }
    return false
  }

  /// The letters of English by how often they occur.
  private static let usual = Array("etaoinshrdlcumwfgypbvkjxqz".utf8)

  /// The bytes of which a text must have one for its folded form to have the rarest ASCII byte of
  /// the pattern: the byte itself, and what characters that fold to it begin with. Beyond those of
  /// two bytes only some in U+1000 to U+2FFF, U+F000 to U+FFFF and above U+FFFF do.
  private static func clues(
    to pattern: UnsafeRawBufferPointer, _ folding: StringFolding
  ) -> [UInt8]? {
    let rare = pattern.filter { $0 < 0x80 }
      .max { rank(of: $0) < rank(of: $1) }
    guard let rare else { return nil }
    var clues = [UInt8](repeating: 0, count: 256)
    for byte in UInt8(0)..<0x80 where byte == rare || StringFolding.lowercased(byte) == rare {
      clues[Int(byte)] = 1
    }
    let table = FoldingTable.table(of: folding)
    for lead in UInt8(0xC0)..<0xE0 where table.mayFold(lead, to: rare) { clues[Int(lead)] = 1 }
    for lead in [0xE1, 0xE2, 0xEF] + Array(0xF0...0xF4) { clues[lead] = 1 }
    return clues
  }

  private static func rank(of byte: UInt8) -> Int {
    usual.firstIndex(of: byte) ?? usual.count
  }
}
