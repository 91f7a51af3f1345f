internal import ArborFoundation

/// The folded forms of all characters with two bytes in UTF-8, and of some others, for folding text
/// in most scripts without creating strings.
///
/// Isolated characters fold one by one, and marks that are dropped fold to nothing.
/// ``StringFolding/foldByCharacters(_:)`` handles text with characters that aren't in the table. If
/// marks are kept, it also handles text with combining marks, except Thai marks after Thai letters.
/// The table's contents come from that function, too. Ideographs and Hangul syllables fold to
/// themselves and need no table.
struct FoldingTable: Sendable {
  /// The first character with three bytes.
  static let limit: UInt32 = 0x800

  /// The maximum size of a folded form relative to its text.
  static let growth = 2

  /// The ranges of three-byte characters in the table: Thai; Latin and Greek letters with
  /// diacritics; punctuation; kana.
  static let blocks: [Range<UInt32>] = [
    0xE00..<0xE80, 0x1E00..<0x2000, 0x2000..<0x2070, 0x3000..<0x3100,
  ]

  /// Three-byte characters that fold to themselves.
  static let unchanged: [ClosedRange<UInt32>] = [0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3]

  /// For each character, the bytes of its folded form, the first in the lowest byte, and their
  /// number in the highest byte; 0 for characters that are not in the table.
  private let entries: [UInt64]
  private let folding: StringFolding
  /// For each ASCII byte, the lead bytes of two-byte characters whose folded form contains it, as
  /// one bit per byte from C0.
  private let leads: [UInt32]

  private static let letter: UInt64 = 1 << 61
  /// A flag for Thai marks, which are kept after Thai letters and after each other.
  private static let mark: UInt64 = 1 << 62
  /// A flag for marks that canonical ordering may move relative to others.
  private static let movable: UInt64 = 1 << 63
  /// A flag for marks that are dropped.
  private static let dropped: UInt64 = 1 << 60

  private init(_ folding: StringFolding) {
    self.folding = folding
    var leads = [UInt32](repeating: 0, count: 0x80)
    entries = (0..<Self.limit).map { code in
      Self.entry(code, folding) { folded in
        guard code >= 0x80 else { return }
        for byte in folded where byte < 0x80 { leads[Int(byte)] |= 1 << (code >> 6) }
      }
    }
    self.leads = leads
  }

  private static func entry(
    _ code: UInt32, _ folding: StringFolding, note: ([UInt8]) -> Void = { _ in }
  ) -> UInt64 {
    guard let scalar = Unicode.Scalar(code) else { return 0 }
    var flags: UInt64 = 0
    let isDropping = folding.contains(.diacritics)
    switch scalar.properties.generalCategory {
    case .nonspacingMark where isDropping, .enclosingMark where isDropping: return dropped
    case .nonspacingMark where blocks[0].contains(code):
      flags = mark
      if scalar.properties.canonicalCombiningClass != .notReordered { flags |= movable }
    case .otherLetter where blocks[0].contains(code): flags = letter
    case .nonspacingMark, .spacingMark, .enclosingMark, .unassigned: return 0
    default: break
    }
    let text = String(scalar)
    let folded = code < 0x80 ? folding.fold(text) : folding.foldByCharacters(text)
    let bytes = Array(folded.utf8)
    note(bytes)
    guard bytes.count <= growth * text.utf8.count, bytes.count < 7 else { return 0 }
    return bytes.enumerated().reduce(UInt64(bytes.count) << 56 | flags) { entry, byte in
      entry | UInt64(byte.element) << (8 * UInt64(byte.offset))
    }
  }

  private static let byCase = FoldingTable(.case)
  private static let byDiacritics = FoldingTable(.diacritics)
  private static let byBoth = FoldingTable([.case, .diacritics])
  private static let byForm = FoldingTable(.canonical)

  /// Returns the table of a non-empty folding.
  static func table(of folding: StringFolding) -> FoldingTable {
    switch folding {
    case .case: byCase
    case .diacritics: byDiacritics
    case .canonical: byForm
    default: byBoth
    }
  }

  // MARK: Three bytes

  private static let wideByCase = wide(.case)
  private static let wideByDiacritics = wide(.diacritics)
  private static let wideByBoth = wide([.case, .diacritics])
  private static let wideByForm = wide(.canonical)

  /// Returns the entries of ``blocks``, concatenated. Created separately, because many texts don't
  /// need them.
  private static func wide(_ folding: StringFolding) -> [UInt64] {
    blocks.flatMap { $0.map { entry($0, folding) } }
  }

  private var wideEntries: [UInt64] {
    switch folding {
    case .case: Self.wideByCase
    case .diacritics: Self.wideByDiacritics
    case .canonical: Self.wideByForm
    default: Self.wideByBoth
    }
  }

  @inline(never)
  private func wideEntry(_ code: UInt32) -> UInt64 {
    switch code {
    case 0xE00..<0xE80: wideEntries[Int(code - 0xE00)]
    case 0x1E00..<0x2070: wideEntries[Int(code - 0x1E00) + 0x80]
    case 0x3000..<0x3100: wideEntries[Int(code - 0x3000) + 0x2F0]
    default: 0
    }
  }

  @inline(__always)
  private static func isUnchanged(_ code: UInt32) -> Bool {
    code &- 0x4E00 <= 0x9FFF - 0x4E00 || code &- 0xAC00 <= 0xD7A3 - 0xAC00
      || code &- 0x3400 <= 0x4DBF - 0x3400
  }

  /// Returns the three-byte character at an offset, or `nil` if there isn't one.
  @inline(__always)
  private static func wideCode(_ text: UnsafeRawBufferPointer, _ offset: Int) -> UInt32? {
    guard text[offset] < 0xF0, offset + 2 < text.count else { return nil }
    let (second, third) = (text[offset + 1], text[offset + 2])
    guard second & 0xC0 == 0x80, third & 0xC0 == 0x80 else { return nil }
    let code = UInt32(text[offset] & 0xF) << 12 | UInt32(second & 0x3F) << 6 | UInt32(third & 0x3F)
    return code >= limit ? code : nil
  }

  // MARK: Folding

  /// Returns the two-byte character at an offset, or `nil` if there isn't one.
  @inline(__always)
  private static func narrowCode(_ text: UnsafeRawBufferPointer, _ offset: Int) -> Int? {
    let lead = text[offset]
    guard lead >= 0xC2, offset + 1 < text.count else { return nil }
    let next = text[offset + 1]
    guard next & 0xC0 == 0x80 else { return nil }
    return Int(lead & 0x1F) << 6 | Int(next & 0x3F)
  }

  /// Writes the folded form of a text and returns its length, or returns `nil` if the table isn't
  /// sufficient.
  ///
  /// - Parameter target: A buffer of ``growth`` times the size of the text.
  func fold(_ text: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Int? {
    entries.withUnsafeBufferPointer { entries in
      var (offset, count) = (0, 0)
      var (wasThai, wasMovable) = (false, false)
      while offset < text.count {
        let lead = text[offset]
        var entry: UInt64
        if lead < 0x80 {
          entry = entries[Int(lead)]
          offset += 1
        } else if lead < 0xE0 {
          guard let code = Self.narrowCode(text, offset) else { return nil }
          entry = entries[code]
          offset += 2
        } else {
          guard let code = Self.wideCode(text, offset) else { return nil }
          if Self.isUnchanged(code) {
            for byte in 0..<3 { target[count + byte] = text[offset + byte] }
            count += 3
            offset += 3
            (wasThai, wasMovable) = (false, false)
            continue
          }
          entry = wideEntry(code)
          offset += 3
        }
        if entry == Self.dropped { continue }
        if entry & Self.mark != 0, !wasThai || wasMovable { return nil }
        wasThai = entry & (Self.letter | Self.mark) != 0
        wasMovable = entry & Self.movable != 0
        let length = Int(entry >> 56 & 0xF)
        if length == 0 { return nil }
        for _ in 0..<length {
          target[count] = UInt8(truncatingIfNeeded: entry)
          entry >>= 8
          count += 1
        }
      }
      return count
    }
  }

  /// Returns whether a two-byte character with the lead byte `lead` may fold to an ASCII byte.
  /// Marks never do.
  func mayFold(_ lead: UInt8, to byte: UInt8) -> Bool {
    lead >= 0xC0 && lead < 0xE0 && byte < 0x80 && leads[Int(byte)] >> UInt32(lead - 0xC0) & 1 == 1
  }
}
