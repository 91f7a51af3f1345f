import TestLength
import Foundation
import Testing

@testable import ArborModel

/// A text that is not folded, because it contains nothing that folds to the searched string,
/// doesn't contain it.
@Suite struct FoldedInfixTests {
  private static let characters = Array(
    "abchkszABHKSZ\u{212A}ſßéÉèĥħŁłİıçñÆœ ﬁﬀÅ\u{301}\u{307}e\u{301}кЖяёαΩπבאلم北ナゴกิท울ệḃᾳ’—1²"
      .unicodeScalars)

  private static func text(_ length: ClosedRange<Int>, _ random: inout SplitMix) -> String {
    var text = ""
    for _ in 0..<Int.random(in: length, using: &random) {
      text.unicodeScalars.append(characters[Int.random(in: 0..<characters.count, using: &random)])
    }
    return text
  }

  @Test("Searching without folding agrees with a search in the folded text")
  func findsWhatFoldedTextsHold() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var found = 0
    for folding in FoldingTableTests.foldings {
      for _ in 0..<300 {
        let pattern = Array(folding.fold(Self.text(1...3, &random)).utf8)
        // A pattern of combining marks alone may fold to nothing.
        if pattern.isEmpty { continue }
        let matcher = FoldedInfix(ByteInfix(constant: ConstantBytes(pattern)), folding)
        for _ in 0..<20 {
          let text = Self.text(0...6, &random)
          let folded = Array(folding.fold(text).utf8)
          let isIn = folded.indices.contains { folded[$0...].starts(with: pattern) }
          found += isIn ? 1 : 0
          #expect(
            matcher.matches(text) == isIn, "\(text.debugDescription), \(pattern), seed \(seed)")
        }
      }
    }
    #expect(found > 50)
  }

  /// Among the characters encoded in three bytes, only those with the lead bytes E1, E2 and EF may
  /// have ASCII in their folded forms.
  @Test("Few lead bytes of three-byte characters can fold to ASCII")
  func noOtherBytesLeadToASCII() {
    let folding: StringFolding = [.case, .diacritics]
    for code in UInt32(0x800)...0xEFFF where code & 0xF000 != 0x1000 && code & 0xF000 != 0x2000 {
      // Ideographs and syllables fold to themselves, which another test checks.
      guard !FoldingTable.unchanged.contains(where: { $0.contains(code) }),
        let scalar = Unicode.Scalar(code), scalar.properties.generalCategory != .privateUse,
        scalar.properties.generalCategory != .unassigned
      else { continue }
      let folded = folding.foldByCharacters(String(scalar))
      #expect(!folded.utf8.contains { $0 < 0x80 }, "U+\(String(code, radix: 16))")
    }
  }
}
