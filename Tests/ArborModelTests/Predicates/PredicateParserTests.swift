import ArborModel
import Foundation
import Testing

@Suite struct PredicateParserTests {
  @Test(
    "Precedence and parentheses determine the structure",
    arguments: [
      // AND binds tighter than OR, and NOT tighter than both.
      ("a == 1 OR b == 2 AND c == 3", "a == 1 OR (b == 2 AND c == 3)"),
      ("a == 1 AND b == 2 OR c == 3", "(a == 1 AND b == 2) OR c == 3"),
      ("NOT a == 1 OR b == 2 AND c == 3", "(NOT (a == 1)) OR (b == 2 AND c == 3)"),
      ("!a == 1 && b == 2 || c == 3", "((NOT a == 1) AND b == 2) OR c == 3"),
      ("NOT NOT a == 1", "NOT (NOT (a == 1))"),
      // A parenthesis may enclose an expression or a predicate.
      ("(a) == 1", "a == 1"), ("((a)) == ((1))", "a == 1"), ("(a == 1)", "a == 1"),
      ("((a) == (1)) AND ((b == 2))", "a == 1 AND b == 2"),
      ("NOT ((a) IN ({1, 2}))", "NOT (a IN {1, 2})"),
      ("((((a == 1))))", "a == 1"),
      ("(a == 1 OR b == 2) AND c == 3", "(a == 1 OR b == 2) AND c == 3"),
      // Chains are flattened.
      ("(a == 1 AND b == 2) AND c == 3", "a == 1 AND b == 2 AND c == 3"),
      ("a == 1 OR (b == 2 OR c == 3)", "a == 1 OR b == 2 OR c == 3"),
      // Alternative spellings.
      ("a = 1", "a == 1"), ("a <> 1", "a != 1"), ("a =< 1", "a <= 1"), ("a => 1", "a >= 1"),
      ("a beginswith[C] 'x'", "a BEGINSWITH[c] 'x'"), ("a like [cd] 'x'", "a LIKE[cd] 'x'"),
      ("a ==[dc] 'x'", "a ==[cd] 'x'"), ("a NOT IN {1}", "NOT (a IN {1})"),
      ("ANY a NOT IN {1}", "NOT (ALL a IN {1})"), ("ALL a NOT IN {1}", "NOT (ANY a IN {1})"),
      ("NONE a NOT IN {1}", "ALL a IN {1}"),
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

  @Test(
    "Syntax errors describe what was expected",
    arguments: [
      ("", 1, "Expected a value or a key path"), ("1", 2, "operator such as =="),
      ("a ==", 5, "Expected a value"), ("a == 1 b", 8, "AND, OR or the end"),
      ("a == 1 AND", 11, "Expected a value"), ("(a == 1", 8, "\")\""), ("a == 1)", 7, "the end"),
      ("a == {1, }", 10, "Expected a value"), ("a == {1", 8, "\"}\""),
      ("a ==[x] 1", 6, "c, d, n, l or w"),
      ("a ==[c 1", 8, "\"]\""), ("a. == 1", 4, "name of a property"), ("size == 1", 1, "#size"),
      ("a == AND", 6, "reserved"), ("a BETWEEN 1 AND 2", 13, "BETWEEN takes a list"),
      ("a == 1 == 2", 8, "the end"), ("a IN", 5, "Expected a value"),
      ("a NOT 1", 3, "operator such"),
    ])
  func saysWhatItExpected(_ text: String, _ column: Int, _ words: String) {
    let error = #expect(throws: ArborError.self) {
      try FetchPredicate(stringLiteral: text).parsed
    }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.location == .init(line: 1, column: column))
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test(
    "Cases that other parsers of the language get wrong",
    arguments: [
      // An opening parenthesis at the start of a condition need not enclose the condition.
      ("(n + 1) * 2 == 6", "((n + 1) * 2) == (6)"), ("((n + 1)) == 6", "n + 1 == 6"),
      ("((n + 1) * 2 == 6)", "(n + 1) * 2 == 6"),
      ("(n) + 1 == 6 AND (m)", "n + 1 == 6 AND m == TRUE"),
      ("NOT (n + 1) * 2 == 6", "NOT ((n + 1) * 2 == 6)"),
      // SOME means ANY, not NOT ALL.
      ("SOME staff.age > 40", "ANY staff.age > 40"),
      // AND binds before OR, and NOT before both.
      ("a == 1 OR b == 1 AND c == 1", "a == 1 OR (b == 1 AND c == 1)"),
      ("NOT a == 1 OR b == 1", "(NOT (a == 1)) OR b == 1"),
      ("NOT a == 1 AND b == 1", "(NOT (a == 1)) AND b == 1"),
    ])
  func fallsIntoNoTrap(_ text: String, _ same: String) throws { try readsStructure(text, same) }

  @Test(
    "All constructs of the language are read",
    arguments: [
      // Precedence, loosest first; the operands at each level are expressions of the next one.
      ("a UNION b | c == 1", "a UNION (b | c) == 1"), ("a | b ^ c == 1", "a | (b ^ c) == 1"),
      ("a ^ b & c == 1", "a ^ (b & c) == 1"), ("a & b << c == 1", "a & (b << c) == 1"),
      ("a << b + c == 1", "a << (b + c) == 1"), ("a + b * c == 1", "a + (b * c) == 1"),
      ("a * b ** c == 1", "a * (b ** c) == 1"), ("-a ** b == 1", "(-a) ** b == 1"),
      ("~a.b == 1", "~(a.b) == 1"), ("-a[0] == 1", "-(a[0]) == 1"),
      ("a ** b ** c == 1", "a ** (b ** c) == 1"), ("a / b / c == 1", "(a / b) / c == 1"),
      ("a - b + c == 1", "(a - b) + c == 1"), ("a >> b << c == 1", "(a >> b) << c == 1"),
      ("a INTERSECT b MINUS c == d", "(a INTERSECT b) MINUS c == d"),
      ("a intersection b == c", "a INTERSECT b == c"), ("a % b * c == 1", "(a % b) * c == 1"),
      ("a -1 == 1", "a - 1 == 1"), ("a-1==1", "a - 1 == 1"), ("a == b-1", "a == (b - 1)"),
      // Qualifiers.
      ("any a.b in {1, 2}", "ANY a.b IN {1, 2}"), ("NOT ALL a.b == 1", "NOT (ALL a.b == 1)"),
      ("NONE a.b BETWEEN {1, 2}", "NONE a.b BETWEEN {1, 2}"),
      ("ANY a.b CONTAINS[cd] 'x'", "ANY a.b CONTAINS[cd] 'x'"), ("ANY a.isB", "ANY a.isB == TRUE"),
      // IN and BETWEEN, with everything that may be on the right side.
      ("a IN b.c", "a IN b.c"), ("a IN 'text'", "a IN \"text\""), ("a IN $X", "a IN $X"),
      ("a IN {b + 1, $X, {c}}", "a IN {(b + 1), $X, {c}}"), ("SELF IN a[0]", "SELF IN (a[0])"),
      ("a IN SUBQUERY(b, $x, $x.c)", "a IN SUBQUERY(b, $x, $x.c == TRUE)"),
      ("a IN b UNION {1}", "a IN (b UNION {1})"), ("a IN (b)", "a IN b"),
      ("a BETWEEN {$LOW, b + 1}", "a BETWEEN {$LOW, (b + 1)}"),
      ("a BETWEEN $RANGE", "a BETWEEN $RANGE"),
      // Paths.
      ("SELF.@count > 1", "@count > 1"), ("a.@sum.b > 1", "(a).@sum.b > 1"),
      ("$x.a.b == 1", "($x).a.b == 1"), ("{1, 2}.@sum == 3", "({1, 2}).@sum == 3"),
      ("(a.b).c == 1", "a.b.c == 1"), ("a[0].b[1] == 1", "((a[0]).b)[1] == 1"),
      ("a['key'] == 1", "a[\"key\"] == 1"), ("a[b + 1] == 1", "a[(b + 1)] == 1"),
      ("a[Size] == 1", "a[SIZE] == 1"), ("a.first == 1", "a.#first == 1"),
      // Calls, with and without colons.
      ("sum(a.b) == 1", "sum:(a.b) == 1"), ("max({1, a}) == 1", "max:({1, a}) == 1"),
      ("average(1, a, 2) == 1", "average:(1, a, 2) == 1"), ("modulus:by:(a, 2) == 1", "a % 2 == 1"),
      ("modulus:by(a, 2) == 1", "a %% 2 == 1"), ("raise:toPower:(a, 2) == 1", "a ** 2 == 1"),
      ("bitwiseAnd:with:(a, 2) == 1", "(a & 2) == 1"), ("now() > a", "now( ) > a"),
      ("multiply:by:(divide:by:(a, 2), 3) == 1", "a / 2 * 3 == 1"),
      ("concat(a, 'x') == 'X'", "concat:(a, 'x') == 'X'"),
      ("a + 'b' == 'X'", "add:to:(a, 'b') == 'X'"),
      ("join(a.b, ', ') == 'X'", "join:(a.b, ', ') == 'X'"), ("join(a) == ''", "join:(a) == ''"),
      ("uppercase(a) == 'X'", "uppercase:(a) == 'X'"), ("onesComplement:(a) == 1", "~a == 1"),
      ("objectFrom:withIndex:(a, 0) == 1", "a[0] == 1"),
      ("objectFrom:withIndex:(a, FIRST) == 1", "a[FIRST] == 1"),
      ("castObject:toType:(a, 'NSString') == 'x'", "CAST(a, 'NSString') == 'x'"),
      ("distanceToLocation:fromLocation:(a, b) < 1", "distanceToLocation:fromLocation(a, b) < 1"),
      // Special forms.
      ("TERNARY(a, 1, 2) == 1", "TERNARY((a == TRUE), (1), (2)) == 1"),
      (
        "SUBQUERY(a, $x, ANY $x.b == 1 AND c).@count == 1",
        "SUBQUERY(a, $x, (ANY $x.b == 1) AND (c == TRUE)).@count == 1"
      ),
      ("FUNCTION(a, 'f') == 1", "function(a, \"f\") == 1"),
      ("$x := $y := a > 1", "($x := ($y := a)) > 1"),
      ("NOT active AND (b OR c)", "(NOT (active == TRUE)) AND (b == TRUE OR c == TRUE)"),
      ("a TOKENMATCHES[cd] 'x'", "a tokenmatches[cd] 'x'"),
      ("a UTI-CONFORMS-TO b", "a uti-conforms-to b"),
      ("a CONTAINS[w] 'x'", "a contains[W] 'x'"), ("a uti-equals 'x'", "a UTI-EQUALS 'x'"),
    ])
  func readsTheWholeLanguage(_ text: String, _ same: String) throws {
    try readsStructure(text, same)
  }

  @Test(
    "Texts with different structure yield different trees",
    arguments: [
      ("a - b - c == 1", "a - (b - c) == 1"), ("a ** b ** c == 1", "(a ** b) ** c == 1"),
      ("a + b * c == 1", "(a + b) * c == 1"), ("a.b == 1", "ANY a.b == 1"),
      ("ANY a.b == 1", "ALL a.b == 1"), ("-5.a == 1", "(-5).a == 1"),
      ("a[0] == 1", "a[FIRST] == 1"),
      ("a CONTAINS 'x'", "a CONTAINS[w] 'x'"), ("sum(a) == 1", "a.@sum == 1"),
    ])
  func tellsApart(_ text: String, _ other: String) throws {
    let left = try FetchPredicate(stringLiteral: text).parsed.outcome.get()
    let right = try FetchPredicate(stringLiteral: other).parsed.outcome.get()
    #expect(left != right)
  }

  @Test(
    "Errors suggest what to write instead",
    arguments: [
      ("FETCH(a, b, c) == 1", 1, "compare with IN."),
      (
        "ANYKEY == 1", 1,
        "combine the comparisons with OR"
      ),
      ("a == ANYKEY", 6, "combine the comparisons with OR"),
      ("a CONTANS 'x'", 3, "Did you mean CONTAINS?"),
      ("a == 1 ADN b == 2", 8, "Did you mean AND?"), ("(a == 1 ORR b == 2)", 9, "Did you mean OR?"),
      ("ANNY a.b == 1", 1, "Did you mean ANY?"), ("NTO a == 1", 1, "Did you mean NOT?"),
      ("a.@cuont > 1", 3, "Did you mean @count?"), ("sqr(a) == 1", 1, "Did you mean sqrt?"),
      ("uid('x') == a", 1, "Did you mean uuid?"), ("modulus:bye:(a, 2) == 1", 1, "modulus:by:"),
      ("compute(a) == 1", 1, "FUNCTION(target"),
      ("sqrt(a, b) == 1", 1, "one argument, but has 2."),
      ("sum() == 1", 1, "at least one argument"),
      ("join(a, b, c) == ''", 1, "join takes one or two arguments, but has 3."),
      ("concat() == ''", 1, "concat takes at least one argument"), ("now(1) > a", 1, "no argument"),
      ("add:to:(1) == 1", 1, "two arguments"), ("a IN (1, 2)", 8, "Write {1, 2}"),
      ("sum: a == 1", 8, "\"(\""),
      ("SUBQUERY(a, x, x == 1).@count > 1", 13, "a variable such as $x"),
      ("FUNCTION(a, b) == 1", 13, "in quotes"), ("CAST(a, NSDate) == 1", 9, "a type in quotes"),
      ("TERNARY(a == 1, 2) == 1", 18, "\",\""), ("a[0 == 1", 5, "\"]\""),
      ("a[] == 1", 3, "a value"),
      ("a == CI", 6, "[c] after an operator"), ("a == ANY b", 6, "before a comparison"),
      ("ANY (a == 1)", 8, "\")\""), ("$x == 1 AND $y", 15, "operator such as"),
      ("SELF", 5, "operator"),
      ("a == 1 + ", 10, "a value"), ("a == @", 6, "collection operator"),
      ("a == * 2", 6, "a value"),
    ])
  func saysWhatToDo(_ text: String, _ column: Int, _ words: String) {
    saysWhatItExpected(text, column, words)
  }

  @Test("Locations count lines and characters")
  func locationsAreLinesAndCharacters() {
    let predicate: FetchPredicate = "name == '日本😀' AND\n  b == \(1) AND c \(2)"
    let error = #expect(throws: ArborError.self) { try predicate.parsed }
    #expect(error?.location == .init(line: 2, column: 16))
  }

  @Test("Depth and length are limited")
  func limitsHold() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "(", count: depth) + "a == 1" + String(repeating: ")", count: depth)
    }
    func expectRefusal(_ text: String, _ words: String) {
      let error = #expect(throws: ArborError.self) { try FetchPredicate(format: text) }
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
    _ = try FetchPredicate(format: nested(64))
    expectRefusal(nested(65), "is nested more than 64 levels")
    expectRefusal(nested(30_000), "is nested more than 64 levels")
    expectRefusal(String(repeating: "NOT ", count: 65) + "a == 1", "is nested more than 64 levels")
    let braces = String(repeating: "{", count: 65) + String(repeating: "}", count: 65)
    expectRefusal("a == " + braces, "is nested more than 64 levels")

    let numbers = (0..<9998).map(String.init).joined(separator: ",")
    _ = try FetchPredicate(format: "a IN {\(numbers)}")
    expectRefusal("a IN {\(numbers),1,2}", "exceeds the limit of 10000 terms")

    let long = String(repeating: "x", count: 64 << 10)
    expectRefusal("a == '\(long)'", "exceeds the limit of 65536")
    _ = try FetchPredicate(format: "a == %@", long)
    let loose = PredicateLimits(maximumLength: .max, maximumDepth: 100)
    _ = try FetchPredicate(format: nested(100), limits: loose)
  }

  @Test(
    "No input causes deep recursion in the parser, whatever the limits are",
    arguments: [
      ("(", "a == 1", ")"), ("NOT ", "a == 1", ""), ("!", "a == 1", ""), ("-", "a == 1", ""),
      ("~", "a == 1", ""), ("{", "a", "} == 1"), ("sum(", "a", ") == 1"), ("a ** ", "a == 1", ""),
      ("a + ", "a == 1", ""), ("a UNION ", "a == 1", ""), ("$x := ", "a == 1", ""),
      ("CAST(", "a", ", 'x') == 1"), ("TERNARY(a, b, ", "a", ") == 1"), ("a[", "a", "] == 1"),
      ("SUBQUERY(a, $x, ", "a", ")"), ("FUNCTION(a, 'x', ", "a", ") == 1"),
      ("(a OR b AND ", "c", ")"),
      ("TERNARY(", "a", ", b, c) == 1"), ("(a + ", "a", ") == 1"),
      ("SUBQUERY(", "a", ", $x, a) == 1"),
    ])
  func hostileDepthIsAnError(_ before: String, _ middle: String, _ behind: String) {
    for limits in [.standard, PredicateLimits(maximumLength: .max, maximumDepth: .max)] {
      for count in [201, 9_000] {
        let text =
          String(repeating: before, count: count) + middle + String(repeating: behind, count: count)
        guard text.utf8.count <= limits.maximumLength else { continue }
        let error = #expect(throws: ArborError.self) {
          try FetchPredicate(format: text, limits: limits)
        }
        #expect(error?.message.contains("nested more than") == true, "\(error?.message ?? "")")
      }
    }
  }

  @Test(
    "Chains of subscripts and paths are left-associative and as deep as they are long",
    arguments: ["[0]", ".a[0]", "[a.b].c"])
  func hostileChainsAreAnError(_ link: String) {
    let text = "a" + String(repeating: link, count: 9_000) + " == 1"
    let error = #expect(throws: ArborError.self) { try FetchPredicate(format: text) }
    #expect(error?.code == .invalidPredicate)
  }

  @Test("The seeds of the fuzz target are valid predicates, so that its mutations are nearly valid")
  func theFuzzTargetsSeedsAreRead() throws {
    let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent()
    }
    let seeds = try String(
      contentsOf: root.appending(path: "tools/fuzz/predicate/seeds.txt"), encoding: .utf8)
    let lines = seeds.split(separator: "\n").map(String.init)
    #expect(lines.count > 20)
    for line in lines {
      let specifications = line.matches(of: /%(K|@|ld)/).map(\.output.1)
      let predicate = try FetchPredicate(
        format: line, arguments: specifications.map { $0 == "K" ? "a.b" : 1 })
      #expect(FetchPredicate(stringLiteral: predicate.description) == predicate, "\(line)")
    }
  }

  @Test("Long paths and conjunctions don't count as deep")
  func longPathsAndConjunctionsAreNotDeep() throws {
    let path = (0..<64).map { "a\($0)" }.joined(separator: ".") + " == 1"
    #expect(try FetchPredicate(format: path).description == path)
    let terms = (0..<5_000).map { "a == \($0)" }.joined(separator: " OR ")
    #expect(try FetchPredicate(format: terms).description == terms)
  }

  @Test("Function calls count toward the limit of terms")
  func operatorsAndCallsCountAsTerms() throws {
    let calls = (0..<6_000).map { _ in "now()" }.joined(separator: ",")
    let error = #expect(throws: ArborError.self) { try FetchPredicate(format: "a IN {\(calls)}") }
    #expect(error?.message.contains("10000 terms") == true)
  }

  @Test("Untrusted predicates can't use MATCHES")
  func untrustedTextMayNotMatch() throws {
    let error = #expect(throws: ArborError.self) {
      try FetchPredicate(format: "a MATCHES '.*'", limits: .untrusted)
    }
    #expect(error?.location?.column == 3)
    #expect(error?.message.contains("LIKE") == true)
    _ = try FetchPredicate(format: "a LIKE '*'", limits: .untrusted)
    _ = try FetchPredicate(format: "a MATCHES '.*'")
  }

  @Test(
    "Untrusted predicates can't run functions or regular expressions",
    arguments: [
      "a MATCHES '.*'", "SUBQUERY(a, $x, $x.b MATCHES '.*').@count > 0",
      "TERNARY(a MATCHES '.*', 1, 2) == 1", "NOT (b == 1 AND a matches '.*')",
      "FUNCTION(a, 'b') == 1", "ANY a.b == FUNCTION(c, 'd')", "{FUNCTION(a, 'b')}.@count == 1",
      "SUBQUERY(a, $x, FUNCTION($x, 'b') == 1).@count > 0",
    ])
  func untrustedTextRunsNothing(_ text: String) throws {
    let error = #expect(throws: ArborError.self) {
      try FetchPredicate(format: text, limits: .untrusted)
    }
    #expect(error?.message.contains("not allowed here") == true)
    _ = try FetchPredicate(format: text)
  }
}
