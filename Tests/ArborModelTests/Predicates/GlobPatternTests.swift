@testable import ArborModel
import TestLength
import Foundation
import Testing

/// `LIKE`, compared with a naive matcher and in whole predicates.
@Suite struct GlobPatternTests {
  private func like(_ text: String, _ pattern: String, _ options: ComparisonOptions = []) throws
    -> Bool
  {
    try ComparisonSemantics(.like, options).holds(.string(text), .string(pattern))
  }

  @Test(
    "Glob patterns match as specified",
    arguments: [
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

  private static let options: [ComparisonOptions] = [
    [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
  ]

  /// Tests ASCII texts, whose patterns are matched as bytes, and others with combining marks that
  /// folding may remove, with patterns of many stars, `?` and escapes.
  @Test("Random glob patterns agree with a naive matcher", arguments: [12, 13, 14, 15] as [UInt64])
  func agreesWithTheNaiveGlob(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let ascii = ["a", "b", "A", "B", "*", "?", "\\"]
    let others = [
      "a", "b", "A", "é", "É", "e", "e\u{301}", "\u{301}", "ß", "ı", "😀", "*", "?", "\\",
    ]
    let wild = ["*", "*", "?", "\\"]
    for _ in 0..<3000 {
      func word(_ most: Int, _ alphabet: [String]) -> String {
        (0..<Int.random(in: 0...most, using: &random))
          .map { _ in alphabet.randomElement(using: &random) ?? "" }.joined()
      }
      let letters = Bool.random(using: &random) ? ascii : others
      let text = word(14, letters)
      let pattern = word(10, letters + wild)
      let options = Self.options.randomElement(using: &random) ?? []
      let naive = NaiveEvaluator.holds(.string(text), .like, .string(pattern), options)
      let comment: Comment = "seed \(seed): \(text) LIKE \(pattern) \(options)"
      #expect(try like(text, pattern, options) == naive, comment)
      let (folded, sought) = (options.folding.fold(text), options.folding.fold(pattern))
      #expect(GlobPattern(sought).matches(folded) == naive, comment)
      #expect(CodePointGlob(sought).matches(folded) == naive, comment)
    }
  }

  @Test("Compiled code compares records like values, whichever side the pattern is on")
  func compiledCodeAgrees() throws {
    let world = try PredicateWorld()
    let texts = ["", "axbxc", "AXBXC", "áxbxc", "a\u{301}xb", "xaybz", "abc", "a*c"]
    let patterns = [
      "*x*b*", "a*b*c", "*X*X*", "?x?x?", "á*b*", "a\u{301}*b*", "*", #"a\*c"#, "a?*",
    ]
    for (text, pattern) in texts.flatMap({ text in patterns.map { (text, $0) } }) {
      world.insert(world.person, ["name": .string(text), "extra": .string(pattern)])
    }
    let marks = ["", "[c]", "[d]", "[cd]"]
    for (options, mark) in zip(Self.options, marks) {
      func expected(_ pattern: (PredicateWorld.Object) -> PropertyValue?) throws -> Set<
        ObjectNumber
      > {
        let semantics = ComparisonSemantics(.like, options)
        let found = try world.objects.values.filter { object in
          try semantics.holds(object.values["name"] ?? .null, pattern(object) ?? .null)
        }
        return Set(found.map(\.number))
      }
      for pattern in patterns {
        let predicate = try FetchPredicate(format: "name LIKE\(mark) %@", pattern)
        #expect(try world.matches(predicate) == expected { _ in .string(pattern) }, "\(pattern)")
      }
      let predicate = try FetchPredicate(format: "name LIKE\(mark) extra")
      #expect(try world.matches(predicate) == expected { $0.values["extra"] })
    }
  }

  @Test("A cached pattern is not reused for one that is only canonically equivalent")
  func patternsOfRecordsAreTheirOwn() throws {
    let semantics = ComparisonSemantics(.like, [])
    for _ in 0..<2 {
      #expect(try semantics.holds("\u{E9}x", "\u{E9}*"))
      #expect(try semantics.holds("\u{E9}x", "e\u{301}*") == false)
      #expect(try semantics.holds("e\u{301}x", "e\u{301}*"))
    }
    let expressions = ComparisonSemantics(.matches, [])
    #expect(try expressions.holds("\u{E9}", "\u{E9}"))
    #expect(try expressions.holds("e\u{301}", "e\u{301}"))
    #expect(try expressions.holds("\u{E9}", "[e\u{301}]") == false)
  }

  @Test(
    "Segments may be longer than a machine word has bits",
    arguments: [63, 64, 65, 127, 128, 129, 200])
  func longSegments(length: Int) throws {
    let unit = String(repeating: "ab", count: length).prefix(length)
    let pattern = "*" + unit.dropLast() + "?*"
    #expect(try like("xx" + unit + "yy", pattern))
    #expect(try like("xxb" + unit.dropLast(2) + "yy", pattern) == false)
    let marks = String(repeating: "?", count: length)
    #expect(try like(String(unit), "*" + marks + "*"))
    #expect(try like(String(unit.dropLast()), "*" + marks + "*") == false)
  }

  @Test("Patterns that make simple matchers backtrack are matched quickly")
  func hostilePatternsEndSoon() throws {
    let text = String(repeating: "a", count: 20_000)
    let stars = String(repeating: "a*", count: 200) + "b"
    #expect(try like(text, stars) == false)
    let marks = "*" + String(repeating: "?a", count: 50) + "b*"
    #expect(try like(text, marks) == false)
  }
}
