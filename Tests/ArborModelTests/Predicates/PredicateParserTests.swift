import ArborModel
import Foundation
import Testing

@Suite struct PredicateParserTests {
  /// Each pair is one predicate in two spellings; the second shows the structure.
  @Test(arguments: [
    // AND binds tighter than OR, NOT tighter than both.
    ("a == 1 OR b == 2 AND c == 3", "a == 1 OR (b == 2 AND c == 3)"),
    ("a == 1 AND b == 2 OR c == 3", "(a == 1 AND b == 2) OR c == 3"),
    ("NOT a == 1 OR b == 2 AND c == 3", "(NOT (a == 1)) OR (b == 2 AND c == 3)"),
    ("!a == 1 && b == 2 || c == 3", "((NOT a == 1) AND b == 2) OR c == 3"),
    ("NOT NOT a == 1", "NOT (NOT (a == 1))"),
    // A parenthesis may open an expression or a predicate.
    ("(a) == 1", "a == 1"), ("((a)) == ((1))", "a == 1"), ("(a == 1)", "a == 1"),
    ("((a) == (1)) AND ((b == 2))", "a == 1 AND b == 2"),
    ("NOT ((a) IN ({1, 2}))", "NOT (a IN {1, 2})"),
    ("((((a == 1))))", "a == 1"),
    ("(a == 1 OR b == 2) AND c == 3", "(a == 1 OR b == 2) AND c == 3"),
    // Chains have no structure of their own.
    ("(a == 1 AND b == 2) AND c == 3", "a == 1 AND b == 2 AND c == 3"),
    ("a == 1 OR (b == 2 OR c == 3)", "a == 1 OR b == 2 OR c == 3"),
    // Spellings.
    ("a = 1", "a == 1"), ("a <> 1", "a != 1"), ("a =< 1", "a <= 1"), ("a => 1", "a >= 1"),
    ("a beginswith[C] 'x'", "a BEGINSWITH[c] 'x'"), ("a like [cd] 'x'", "a LIKE[cd] 'x'"),
    ("a ==[dc] 'x'", "a ==[cd] 'x'"), ("a NOT IN {1}", "NOT (a IN {1})"),
    ("(a) NOT IN {1}", "NOT (a IN {1})"), ("a between {1, 2}", "a BETWEEN {1, 2}"),
    ("truepredicate or FALSEPREDICATE", "TRUEPREDICATE OR FALSEPREDICATE"),
    ("a IN {'x', $Y, b}", "a IN {\"x\", $Y, b}"), ("SELF.a == b.c.d", "a == b.c.d"),
    ("a ENDSWITH[cdnl] 'x'", "a ENDSWITH[cdnl] 'x'"), ("'x' MATCHES a", "\"x\" MATCHES a"),
  ])
  func readsStructure(_ text: String, _ same: String) throws {
    let left = try FetchPredicate(stringLiteral: text).parsed.outcome.get()
    let right = try FetchPredicate(stringLiteral: same).parsed.outcome.get()
    #expect(left == right)
  }

  @Test(arguments: [
    ("", 1, "Expected a value or a key path"), ("a", 2, "operator such as =="),
    ("a ==", 5, "Expected a value"), ("a == 1 b", 8, "AND, OR or the end"),
    ("a == 1 AND", 11, "Expected a value"), ("(a == 1", 8, "\")\""), ("a == 1)", 7, "the end"),
    ("a == {1, }", 10, "Expected a value"), ("a == {1", 8, "\"}\""),
    ("a ==[x] 1", 6, "c, d, n or l"),
    ("a ==[c 1", 8, "\"]\""), ("a. == 1", 4, "name of a property"), ("size == 1", 1, "#size"),
    ("a == AND", 6, "reserved"), ("a BETWEEN 1 AND 2", 18, "operator such as"),
    ("a == 1 == 2", 8, "the end"), ("a IN", 5, "Expected a value"), ("a NOT 1", 3, "operator such"),
  ])
  func saysWhatItExpected(_ text: String, _ column: Int, _ words: String) {
    let error = #expect(throws: ArborError.self) {
      try FetchPredicate(stringLiteral: text).parsed
    }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.location == .init(line: 1, column: column))
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    ("ANY staff.name == 'x'", "ANY"), ("some staff == 1", "SOME"), ("NONE a == 1", "NONE"),
    ("ALL a == 1", "ALL"), ("a + 1 == 2", "\"+\""), ("(n + 1) * 2 == 6", "\"+\""),
    ("a - 1 == 2", "\"-\""), ("-a == 2", "minus sign"), ("a ** 2 == 4", "\"**\""),
    ("a & 1 == 1", "\"&\""), ("~a == 1", "\"~\""), ("a % 2 == 1", "\"%\""),
    ("SUBQUERY(a, $x, $x == 1).@count > 1", "SUBQUERY"), ("a.@count > 1", "collection operator"),
    ("@sum.a > 1", "collection operator"), ("a[0] == 1", "index"), ("a[FIRST] == 1", "index"),
    ("sum(a) == 1", "\"sum\""), ("sqrt:(a) == 1", "\":\""), ("FUNCTION(a, 'b') == 1", "FUNCTION"),
    ("TERNARY(a == 1, 1, 2) == 1", "TERNARY"), ("CAST(a, 'NSDate') == 1", "CAST"),
    ("CAST('1', 'NSString') == 1", "NSString"), ("a UNION b == c", "UNION"),
    ("$x.name == 1", "behind a variable"), ("$x := 1", "\":=\""), ("ANYKEY == 1", "ANYKEY"),
    ("a TOKENMATCHES 'x'", "TOKENMATCHES"), ("a UTI-CONFORMS-TO 'x'", "UTI-CONFORMS-TO"),
    ("FETCH(a, b, c) == 1", "FETCH"),
  ])
  func namesWhatIsNotSupported(_ text: String, _ construct: String) {
    let error = #expect(throws: ArborError.self) {
      try FetchPredicate(stringLiteral: text).parsed
    }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.location?.line == 1)
    #expect(error?.message.contains(construct) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("not supported") == true, "\(error?.message ?? "")")
  }

  @Test func placesAreLinesAndCharacters() {
    let predicate: FetchPredicate = "name == '日本😀' AND\n  b == \(1) AND c \(2)"
    let error = #expect(throws: ArborError.self) { try predicate.parsed }
    #expect(error?.location == .init(line: 2, column: 16))
  }

  @Test func limitsHold() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "(", count: depth) + "a == 1" + String(repeating: ")", count: depth)
    }
    _ = try FetchPredicate(format: nested(64))
    #expect(throws: ArborError.self) { try FetchPredicate(format: nested(65)) }
    #expect(throws: ArborError.self) { try FetchPredicate(format: nested(30_000)) }
    let nots = String(repeating: "NOT ", count: 65)
    #expect(throws: ArborError.self) { try FetchPredicate(format: nots + "a == 1") }
    let braces = String(repeating: "{", count: 65) + String(repeating: "}", count: 65)
    #expect(throws: ArborError.self) { try FetchPredicate(format: "a == " + braces) }

    let numbers = (0..<9998).map(String.init).joined(separator: ",")
    _ = try FetchPredicate(format: "a IN {\(numbers)}")
    #expect(throws: ArborError.self) { try FetchPredicate(format: "a IN {\(numbers),1,2}") }

    let long = String(repeating: "x", count: 64 << 10)
    let error = #expect(throws: ArborError.self) { try FetchPredicate(format: "a == '\(long)'") }
    #expect(error?.message.contains("65536") == true)
    _ = try FetchPredicate(format: "a == %@", long)
    let loose = PredicateLimits(maximumLength: .max, maximumDepth: 100)
    _ = try FetchPredicate(format: nested(100), limits: loose)
  }

  @Test func untrustedTextMayNotMatch() throws {
    let error = #expect(throws: ArborError.self) {
      try FetchPredicate(format: "a MATCHES '.*'", limits: .untrusted)
    }
    #expect(error?.location?.column == 3)
    #expect(error?.message.contains("LIKE") == true)
    _ = try FetchPredicate(format: "a LIKE '*'", limits: .untrusted)
    _ = try FetchPredicate(format: "a MATCHES '.*'")
  }
}
