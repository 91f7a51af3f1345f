internal import Foundation

/// The folded forms of the Latin, Greek and Cyrillic letters that one or two bytes write, so that
/// texts of Europe's languages are folded without Foundation.
///
/// Characters that stand alone fold one by one. Texts with combining marks, or with any character
/// beyond the table, are left to ``StringFolding/fold(_:)``, whose answers the table holds.
struct FoldingTable: Sendable {
  /// The first character that is not in the table.
  static let limit: UInt32 = 0x530

  /// Folded forms have at most so many times the bytes of their texts.
  static let growth = 2

  /// For each character the bytes of its folded form, the first lowest, and their number in the
  /// highest byte; 0 for characters that are not folded here.
  private let entries: [UInt64]

  private init(_ folding: StringFolding) {
    entries = (0..<Self.limit).map { code in
      guard let scalar = Unicode.Scalar(code) else { return 0 }
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .spacingMark, .enclosingMark, .unassigned: return 0
      default: break
      }
      let text = String(scalar)
      let folded = code < 0x80 ? folding.fold(text) : folding.foldThroughFoundation(text)
      let bytes = Array(folded.utf8)
      guard bytes.count <= Self.growth * text.utf8.count, bytes.count < 8 else { return 0 }
      return bytes.enumerated().reduce(UInt64(bytes.count) << 56) { entry, byte in
        entry | UInt64(byte.element) << (8 * UInt64(byte.offset))
      }
    }
  }

  private static let byCase = FoldingTable(.case)
  private static let byDiacritics = FoldingTable(.diacritics)
  private static let byBoth = FoldingTable([.case, .diacritics])

  /// The table of a folding that overlooks something.
  static func table(of folding: StringFolding) -> FoldingTable {
    switch folding {
    case .case: byCase
    case .diacritics: byDiacritics
    default: byBoth
    }
  }

  /// Writes the folded form of a text and gives its length; nil where the table is not enough.
  ///
  /// - Parameter target: Room for ``growth`` times the text.
  func fold(
    _ text: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
  ) -> Int? {
    entries.withUnsafeBufferPointer { entries in
      var place = 0
      var count = 0
      while place < text.count {
        let lead = text[place]
        var code = Int(lead)
        if lead >= 0x80 {
          guard lead >= 0xC2, lead < 0xD5, place + 1 < text.count else { return nil }
          let next = text[place + 1]
          guard next & 0xC0 == 0x80 else { return nil }
          code = Int(lead & 0x1F) << 6 | Int(next & 0x3F)
          place += 1
          guard code < entries.count else { return nil }
        }
        place += 1
        var entry = entries[code]
        let length = Int(entry >> 56)
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
}
