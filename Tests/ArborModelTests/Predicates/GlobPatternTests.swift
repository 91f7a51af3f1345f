import ArborModel
import Foundation
import Testing

/// `LIKE`, through whole predicates against the naive glob.
@Suite struct GlobPatternTests {
  private func like(_ text: String, _ pattern: String, _ options: ComparisonOptions = []) throws
    -> Bool
  {
    try ComparisonSemantics(.like, options).holds(.string(text), .string(pattern))
  }

  @Test(arguments: [
    ("abc", "abc", true), ("abc", "ab", false), ("abc", "a*", true), ("abc", "*c", true),
    ("abc", "*b*", true), ("abc", "a?c", true), ("abc", "a??", true), ("abc", "a???", false),
    ("", "", true), ("", "*", true), ("", "?", false), ("a", "**", true), ("a*b", #"a\*b"#, true),
    ("axb", #"a\*b"#, false), ("a?", #"a\?"#, true), (#"a\"#, #"a\"#, true), ("é", "?", true),
    ("e\u{301}", "?", false), ("e\u{301}", "??", true), ("😀b", "?b", true), ("日本語", "日*語", true),
    ("aab", "a*ab", true), ("ab", "a*ab", false), ("abab", "*a?", true), ("xaybz", "*a?b*", true),
    ("aXbXc", "*X*X*", true), ("aXbc", "*X*X*", false), ("aaa", "a*a*a*a", false),
  ])
  func matches(_ text: String, _ pattern: String, _ expected: Bool) throws {
    #expect(try like(text, pattern) == expected)
  }

  @Test func agreesWithTheNaiveGlob() throws {
    var random = SplitMix(seed: 12)
    let letters = ["a", "b", "A", "é", "😀", "*", "?", "\\"]
    for _ in 0..<4000 {
      func word(_ most: Int, _ alphabet: [String]) -> String {
        (0..<Int.random(in: 0...most, using: &random))
          .map { _ in alphabet.randomElement(using: &random) ?? "" }.joined()
      }
      let (text, pattern) = (word(8, letters), word(7, letters))
      let options: ComparisonOptions = Bool.random(using: &random) ? .caseInsensitive : []
      let naive = NaiveEvaluator.holds(.string(text), .like, .string(pattern), options)
      #expect(try like(text, pattern, options) == naive, "seed 12: \(text) LIKE \(pattern)")
    }
  }

  /// Segments of more characters than a machine word has bits.
  @Test(arguments: [63, 64, 65, 127, 128, 129, 200]) func longSegments(length: Int) throws {
    let unit = String(repeating: "ab", count: length).prefix(length)
    let pattern = "*" + unit.dropLast() + "?*"
    #expect(try like("xx" + unit + "yy", pattern))
    #expect(try like("xxb" + unit.dropLast(2) + "yy", pattern) == false)
    let marks = String(repeating: "?", count: length)
    #expect(try like(String(unit), "*" + marks + "*"))
    #expect(try like(String(unit.dropLast()), "*" + marks + "*") == false)
  }

  /// Patterns that make backtracking globs run for ages.
  @Test func hostilePatternsEndSoon() throws {
    let text = String(repeating: "a", count: 20_000)
    let stars = String(repeating: "a*", count: 200) + "b"
    #expect(try like(text, stars) == false)
    let marks = "*" + String(repeating: "?a", count: 50) + "b*"
    #expect(try like(text, marks) == false)
  }
}
