import TestLength
import Foundation
import Testing

@testable import ArborModel

/// The table agrees with folding character by character.
@Suite struct FoldingTableTests {
  static let foldings: [StringFolding] = [.case, .diacritics, [.case, .diacritics], .canonical]

  private func byTable(_ text: String, _ folding: StringFolding) -> String? {
    var text = text
    return text.withUTF8 { bytes in
      withUnsafeTemporaryAllocation(byteCount: 2 * bytes.count, alignment: 1) { target in
        FoldingTable.table(of: folding).fold(UnsafeRawBufferPointer(bytes), into: target)
          .map { String(decoding: target[..<$0], as: UTF8.self) }
      }
    }
  }

  @Test("The table folds every character like the general algorithm", arguments: foldings)
  func everyCharacterFoldsAsBefore(folding: StringFolding) {
    var count = 0
    for code in 0..<FoldingTable.limit {
      guard let scalar = Unicode.Scalar(code), let folded = byTable(String(scalar), folding) else {
        continue
      }
      count += 1
      #expect(
        Array(folded.utf8) == Array(folding.foldByCharacters(String(scalar)).utf8),
        "U+\(String(code, radix: 16))")
    }
    #expect(count > 1100)
  }

  @Test("The table folds every wide character like the general algorithm", arguments: foldings)
  func everyWideCharacterFoldsAsBefore(folding: StringFolding) {
    var count = 0
    let some = FoldingTable.unchanged.flatMap { range in
      stride(from: range.lowerBound, through: range.upperBound, by: 37)
    }
    for code in FoldingTable.blocks.flatMap({ Array($0) }) + some {
      guard let scalar = Unicode.Scalar(code), let folded = byTable("ก" + String(scalar), folding)
      else { continue }
      count += 1
      #expect(
        Array(folded.utf8) == Array(folding.foldByCharacters("ก" + String(scalar)).utf8),
        "U+\(String(code, radix: 16))")
    }
    #expect(count > 1500)
  }

  @Test("The table folds texts like the general algorithm", arguments: foldings)
  func textsFoldAsBefore(folding: StringFolding) {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    for _ in 0..<8000 {
      var text = ""
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        let blocks: [Range<UInt32>] =
          [0..<0x600, 0..<0x180, 0xE00..<0xE50, 0x5000..<0x5100, 0xAC00..<0xAD00]
          + FoldingTable.blocks
        let block = blocks.randomElement(using: &random) ?? 0..<1
        let code = UInt32.random(in: block, using: &random)
        if let scalar = Unicode.Scalar(code) { text.unicodeScalars.append(scalar) }
      }
      let expected = Array(folding.foldByCharacters(text).utf8)
      if let folded = byTable(text, folding) {
        #expect(Array(folded.utf8) == expected, "\(text.debugDescription), seed \(seed)")
      }
      #expect(
        text.utf8.allSatisfy { $0 < 0x80 } || Array(folding.fold(text).utf8) == expected,
        "\(text.debugDescription), seed \(seed)")
    }
  }

  @Test("Text that the table doesn't cover yields `nil`")
  func leavesOtherTextsAlone() {
    for text in ["e\u{301}", "\u{1F600}", "\u{928}\u{93F}", "か\u{3099}", "กุ\u{E38}"] {
      #expect(byTable(text, .case) == nil)
    }
    for bytes in [[0xC3], [0xC3, 0x28], [0xFF], [0xE2, 0x82]] as [[UInt8]] {
      let found = bytes.withUnsafeBytes { bytes in
        withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) { target in
          FoldingTable.table(of: .case).fold(bytes, into: target)
        }
      }
      #expect(found == nil)
    }
    #expect(byTable("Größe Łódź ΑΒΓ Ёлка", [.case, .diacritics]) == "grosse łodz αβγ елка")
    #expect(byTable("Huế 東京 กรุงเทพฯ 서울", [.case, .diacritics]) == "hue 東京 กรงเทพฯ 서울")
    #expect(byTable("Huế 東京 กรุงเทพฯ 서울", .case) == "huế 東京 กรุงเทพฯ 서울")
    #expect(byTable("e\u{301} كِتَاب שָׁלוֹם", .diacritics) == "e كتاب שלום")
  }
}
