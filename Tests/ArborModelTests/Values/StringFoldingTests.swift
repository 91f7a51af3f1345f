import ArborModel
import Foundation
import Testing

@Suite struct StringFoldingTests {
  static let all: [StringFolding] = [[], .case, .diacritics, [.case, .diacritics]]

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
      ("A b-Z", .case, "a b-z"), ("A b-Z", .diacritics, "A b-Z"), ("", .case, ""),
    ] as [(String, StringFolding, String)])
  func folds(_ text: String, _ folding: StringFolding, _ folded: String) {
    #expect(Array(folding.fold(text).unicodeScalars) == Array(folded.unicodeScalars))
    // Folded keys are stored in files, so a change of the results requires a new version.
    #expect(StringFolding.version == 2)
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
