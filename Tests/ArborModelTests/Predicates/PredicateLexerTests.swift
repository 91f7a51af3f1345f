import TestLength
import ArborModel
import Foundation
import Testing

/// Tokens, tested through the parser.
@Suite struct PredicateLexerTests {
  private func constant(_ text: String) throws -> PropertyValue {
    let predicate = FetchPredicate(stringLiteral: "SELF == " + text)
    guard case .comparison(let comparison) = try predicate.parsed.outcome.get(),
      case .constant(let value) = comparison.right
    else { throw ArborError(.invalidPredicate, "no constant") }
    return value
  }

  private func names(_ text: String) throws -> [String] {
    let predicate = FetchPredicate(stringLiteral: text + " == 1")
    guard case .comparison(let comparison) = try predicate.parsed.outcome.get(),
      case .path(let path) = comparison.left
    else { throw ArborError(.invalidPredicate, "no path") }
    return path.parts.compactMap { if case .name(let name, _) = $0 { name } else { nil } }
  }

  @Test(
    "Constants of every form are read",
    arguments: [
      ("1", PropertyValue.integer(1)), ("27", .integer(27)), ("2.71828", .double(2.71828)),
      ("9.2e-5", .double(9.2e-5)), ("1e3", .double(1000)), ("1E+3", .double(1000)),
      ("0x1F", .integer(31)), ("0X1f", .integer(31)), ("0o17", .integer(15)),
      ("0b101", .integer(5)),
      ("-0x10", .integer(-16)), ("- 5", .integer(-5)), ("007", .integer(7)),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("0e-9223372036854775808", .double(0)), ("0e9223372036854775807", .double(0)),
      ("0e-99999999999999999999", .double(0)),
      ("-1.5", .double(-1.5)), ("TRUE", .boolean(true)), ("yes", .boolean(true)),
      ("No", .boolean(false)), ("fAlSe", .boolean(false)), ("NULL", .null), ("nil", .null),
      ("{}", .list([])), ("{1, {2, 'x'}, nil}", .list([1, [2, "x"], .null])), ("('x')", "x"),
    ])
  func readsConstants(_ text: String, _ value: PropertyValue) throws {
    #expect(try constant(text) == value)
  }

  @Test("Large numbers are never rounded")
  func largeNumbersAreNeverRounded() throws {
    let beyond = try #require(Decimal(string: "9223372036854775808"))
    #expect(try constant("9223372036854775808") == .decimal(beyond))
    #expect(try constant("-9223372036854775809") == .decimal(-beyond - 1))
    let long = try #require(Decimal(string: "12345678901234567.89"))
    #expect(try constant("12345678901234567.89") == .decimal(long))
    #expect(try constant("0.1000000000000000055511151231257827") != .double(0.1))
    let enormous = String(repeating: "9", count: 60)
    #expect(try constant(enormous) == .double(1e60))
    #expect(throws: ArborError.self) { try constant("1" + String(repeating: "0", count: 400)) }
    #expect(throws: ArborError.self) { try constant("0xFFFFFFFFFFFFFFFF") }
    #expect(throws: ArborError.self) { try constant("0b102") }
    #expect(throws: ArborError.self) { try constant("0x") }
  }

  @Test(
    "Strings with escapes are read",
    arguments: [
      (#""a'b""#, "a'b"), (#"'a"b'"#, #"a"b"#), (#"'it\'s'"#, "it's"), (#""\"""#, "\""),
      (#"'\a\b\f\n\r\t\v\\'"#, "\u{7}\u{8}\u{C}\n\r\t\u{B}\\"), (#"'\101\x42\u0043'"#, "ABC"),
      (#"'\ud83d\ude00'"#, "😀"), (#"'\z\é\8'"#, "zé8"), (#"'\18'"#, "18"), ("''", ""),
      ("'%@ %K $X %d'", "%@ %K $X %d"), ("'日本\n語'", "日本\n語"), (#"'\400'"#, "\u{100}"),
    ])
  func readsTexts(_ text: String, _ value: String) throws {
    #expect(try constant(text) == .string(value))
  }

  @Test(
    "Names and key paths are read",
    arguments: [
      ("name", ["name"]), ("_a1", ["_a1"]), ("straße.größe", ["straße", "größe"]), ("SELF", []),
      ("self.name", ["name"]), ("#like", ["like"]), ("#SELF", ["SELF"]),
      ("a.#size.b", ["a", "size", "b"]),
      ("a.size", ["a", "size"]), (#"first\ name"#, ["first name"]), (#"a\u002eb"#, ["a.b"]),
      ("日本", ["日本"]), ("ANDroid", ["ANDroid"]), ("innings", ["innings"]), ("a . b", ["a", "b"]),
      ("UTI", ["UTI"]),
    ])
  func readsNames(_ text: String, _ expected: [String]) throws {
    #expect(try names(text) == expected)
  }

  @Test("Whitespace is optional")
  func blanksAreFree() throws {
    let spread: FetchPredicate = "\n\ta\u{A0}>=\r\n1\u{3000}AND(b<2)"
    #expect(spread == "a >= 1 AND b < 2")
    let dense: FetchPredicate = "a>=1&&b<2"
    #expect(dense == spread)
  }

  @Test(
    "Invalid tokens are reported with their position",
    arguments: [
      ("a == 'x", 6, "not terminated"), ("a == 12ab", 8, "Separate them with a space"),
      ("a == \u{201C}x\u{201D}", 6, "straight"),
      ("a ? 1", 3, "not valid here"), ("a == $", 6, "variable"), ("a == #", 6, "#"),
      (#"a == '\u12'"#, 7, "four"), (#"a == '\xZZ'"#, 7, "two"), (#"a == '\ud800x'"#, 7, "half"),
      ("a == %@", 6, "Interpolate"), ("b == 1 AND\n  a == ;", 8, "not valid here"),
    ])
  func saysWhereATokenIsWrong(_ text: String, _ column: Int, _ words: String) {
    let error = #expect(throws: ArborError.self) {
      try FetchPredicate(stringLiteral: text).parsed
    }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.location?.column == column)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test("Interpolation within quotes is rejected")
  func valuesInQuotesAreRefused() {
    let predicate: FetchPredicate = "name == '\("x")'"
    let error = #expect(throws: ArborError.self) { try predicate.parsed }
    #expect(error?.message.contains("inside quotes") == true)
    #expect(error?.location?.column == 10)
  }

  @Test("Random text never crashes the parser")
  func survivesAnyText() {
    var random = SplitMix(seed: 99)
    let pieces = [
      "a", "==", "(", ")", "{", "}", "'", "\"", "\\", "$", "%", "@", "#", ".", "[", "]", ",", "AND",
      "NOT", "IN", "1", "0x", "1e", "-", "BETWEEN", "CAST", "uuid(", " ", "\n", "é", "\u{0}",
      "\u{301}",
      "SELF", "UTI-", "ANY", "!", "%K", "\\u", "\\x4", "😀", "+", "**", ":=", ":", "@count", "sum",
      "SUBQUERY(", "TERNARY(", "FUNCTION(", "~", "[FIRST]", "UNION", "<<", "%", "$x", "a[0]",
    ]
    for _ in 0..<3000 {
      let count = Int.random(in: 0...12, using: &random)
      let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      let predicate = FetchPredicate(stringLiteral: text)
      if let parsed = try? predicate.parsed, case .success(let node) = parsed.outcome {
        let printed = predicate.description
        let again = FetchPredicate(stringLiteral: printed)
        #expect((try? again.parsed.outcome.get()) == node, "\(text) printed \(printed)")
      }
      _ = try? FetchPredicate(format: text, arguments: [])
    }
  }
}
