import ArborModel
import Foundation
import Testing

@Suite struct StringFoldingTests {
  static let all: [StringFolding] = [[], .case, .diacritics, [.case, .diacritics], .canonical]

  @Test(
    "Texts are folded as specified",
    arguments: [
      ("María", StringFolding.case, "maría"), ("María", .diacritics, "Maria"),
      ("María", [.case, .diacritics], "maria"), ("María", [], "María"),
      ("STRASSE", .case, "strasse"),
      ("Straße", .case, "strasse"), ("ΣΊΣΥΦΟΣ", .case, "σίσυφοσ"), ("Σίσυφος", .case, "σίσυφοσ"),
      ("\u{212A}", .case, "k"), ("ﬁ", .case, "fi"), ("Ångström", [.case, .diacritics], "angstrom"),
      ("كِتَاب", .diacritics, "كتاب"), ("שָׁלוֹם", .diacritics, "שלום"), ("น้ำ", .diacritics, "นำ"),
      ("हिन्दी", .diacritics, "हिनदी"), ("か\u{3099}", .diacritics, "か"), ("が", .diacritics, "か"),
      ("\u{301}x\u{20DD}", .diacritics, "x"), ("й", [.case, .diacritics], "и"),
      ("كِتَاب", .case, "كِتَاب"), ("น้ำ", .case, "น้ำ"), ("ẞ", .case, "ss"), ("ı", .case, "ı"),
      ("İ", .case, "i\u{307}"), ("İ", [.case, .diacritics], "i"), ("ᾳ", .case, "αι"),
      ("ᾳ", [.case, .diacritics], "α"), ("Ꭰꭰ", .case, "ᎠᎠ"), ("µ", .case, "μ"),
      ("Mari\u{301}a", .canonical, "María"), ("STRAßE", .canonical, "STRAßE"),
      ("\u{212B}\u{2126}\u{212A}", .canonical, "\u{C5}\u{3A9}K"), ("ﬁ", .canonical, "ﬁ"),
      ("a\u{301}\u{323}", .canonical, "\u{1EA1}\u{301}"), ("\u{1100}\u{1161}", .canonical, "가"),
      ("A b-Z", .case, "a b-z"), ("A b-Z", .diacritics, "A b-Z"), ("", .case, ""),
    ] as [(String, StringFolding, String)])
  func folds(_ text: String, _ folding: StringFolding, _ folded: String) {
    #expect(Array(folding.fold(text).unicodeScalars) == Array(folded.unicodeScalars))
    // Folded keys are stored in files, so a change of the results requires a new version.
    #expect(StringFolding.version == 3)
  }

  @Test(
    "Folding is idempotent, and canonically equivalent strings have the same folded form",
    arguments: all.dropFirst())
  func foldedFormsAreStable(folding: StringFolding) {
    for code in (0..<0x3000 as Range<UInt32>) {
      guard let scalar = Unicode.Scalar(code) else { continue }
      let text = String(scalar)
      let folded = Array(folding.fold(text).utf8)
      #expect(
        Array(folding.fold(folding.fold(text)).utf8) == folded, "U+\(String(code, radix: 16))")
      let decomposed = text.decomposedStringWithCanonicalMapping
      #expect(Array(folding.fold(decomposed).utf8) == folded, "U+\(String(code, radix: 16))")
    }
  }

  @Test(
    "Foundation folds the letters and marks of these blocks to the same text",
    arguments: [
      0x00..<0x600, 0xE00..<0xF00, 0x1E00..<0x1FC0, 0x2C00..<0x2DE0,
    ] as [Range<UInt32>])
  func agreesWithFoundation(block: Range<UInt32>) {
    for code in block {
      guard let scalar = Unicode.Scalar(code), scalar.properties.age?.major ?? 99 < 15 else {
        continue
      }
      let text = "a\(scalar)"
      let folded = StringFolding([.case, .diacritics]).fold(text)
      let expected = text.folding(
        options: [.caseInsensitive, .diacriticInsensitive], locale: nil
      ).precomposedStringWithCanonicalMapping
      #expect(
        folded.unicodeScalars.elementsEqual(expected.unicodeScalars), "U+\(String(code, radix: 16))"
      )
    }
  }

  /// Foundation keeps marks of composed letters in other scripts, drops spacing marks, which are
  /// vowels, and folds Cherokee to its small letters.
  @Test(
    "Foundation differs for other scripts",
    arguments: [
      ("آ", "ا", "آ"), ("ऩ", "न", "ऩ"), ("が", "か", "が"), ("a∄", "a∃", "a∄"),
      ("a\u{9BE}", "a\u{9BE}", "a"), ("Ꭰ", "Ꭰ", "ꭰ"),
    ])
  func differsFromFoundation(text: String, folded: String, foundation: String) {
    #expect(StringFolding([.case, .diacritics]).fold(text) == folded)
    #expect(
      text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil) == foundation)
  }

  @Test("A mark after a supplementary character doesn't combine with it")
  func supplementaryCharactersKeepTheirMarks() {
    #expect(
      Array(StringFolding.case.fold("\u{10041}\u{301}").unicodeScalars) == ["\u{10041}", "\u{301}"])
  }

  @Test("Without options, folding leaves the text unchanged")
  func unfoldedTextsKeepTheirForm() {
    #expect(Array(StringFolding([]).fold("e\u{301}").unicodeScalars).count == 2)
  }

  @Test("ASCII text is folded byte by byte")
  func asciiIsFoldedByteByByte() {
    for byte in 0..<128 as Range<UInt8> {
      let text = String(Unicode.Scalar(byte))
      #expect(StringFolding.case.fold(text) == text.lowercased())
      #expect(StringFolding.lowercased(byte) == Array(text.lowercased().utf8)[0])
    }
    for byte in 128...255 as ClosedRange<UInt8> { #expect(StringFolding.lowercased(byte) == byte) }
  }
}
