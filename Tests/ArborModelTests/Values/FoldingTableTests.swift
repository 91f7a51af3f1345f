import Foundation
import Testing

@testable import ArborModel

/// The table's answers are Foundation's.
@Suite struct FoldingTableTests {
  static let foldings: [StringFolding] = [.case, .diacritics, [.case, .diacritics]]

  private func byTable(_ text: String, _ folding: StringFolding) -> String? {
    var text = text
    return text.withUTF8 { bytes in
      withUnsafeTemporaryAllocation(byteCount: 2 * bytes.count, alignment: 1) { target in
        FoldingTable.table(of: folding).fold(UnsafeRawBufferPointer(bytes), into: target)
          .map { String(decoding: target[..<$0], as: UTF8.self) }
      }
    }
  }

  @Test(arguments: foldings) func everyCharacterFoldsAsBefore(folding: StringFolding) {
    var count = 0
    for code in 0..<FoldingTable.limit {
      guard let scalar = Unicode.Scalar(code), let folded = byTable(String(scalar), folding) else {
        continue
      }
      count += 1
      #expect(
        Array(folded.utf8) == Array(folding.foldThroughFoundation(String(scalar)).utf8),
        "U+\(String(code, radix: 16))")
    }
    #expect(count > 1100)
  }

  /// Neighbours do not change what a character folds to.
  @Test(arguments: foldings) func textsFoldAsBefore(folding: StringFolding) {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    for _ in 0..<8000 {
      var text = ""
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        let code = UInt32.random(in: 0..<0x600, using: &random)
        if let scalar = Unicode.Scalar(code) { text.unicodeScalars.append(scalar) }
      }
      let expected = Array(folding.foldThroughFoundation(text).utf8)
      if let folded = byTable(text, folding) {
        #expect(Array(folded.utf8) == expected, "\(text.debugDescription), seed \(seed)")
      }
      #expect(
        text.utf8.allSatisfy { $0 < 0x80 } || Array(folding.fold(text).utf8) == expected,
        "\(text.debugDescription), seed \(seed)")
    }
  }

  @Test func leavesOtherTextsAlone() {
    for text in ["東", "e\u{301}", "\u{1F600}", "ệ"] { #expect(byTable(text, .case) == nil) }
    for bytes in [[0xC3], [0xC3, 0x28], [0xFF], [0xE2, 0x82]] as [[UInt8]] {
      let found = bytes.withUnsafeBytes { bytes in
        withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) { target in
          FoldingTable.table(of: .case).fold(bytes, into: target)
        }
      }
      #expect(found == nil)
    }
    #expect(byTable("Größe Łódź ΑΒΓ Ёлка", [.case, .diacritics]) == "grosse łodz αβγ елка")
  }
}
