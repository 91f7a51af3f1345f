import ArborModel
import Foundation
import TestLength
import Testing

@Suite struct PredicatePrinterTests {
  /// A million in a long run, for which a release build is advisable.
  static let trees = TestLength.of(5000, long: 1_000_000)

  @Test("A printed tree is parsed as the same tree", arguments: 0..<8)
  func whatIsPrintedParsesBack(round: Int) throws {
    let seed = UInt64(31_000 + round)
    var random = RandomTrees(seed: seed)
    for index in 0..<Self.trees / 8 {
      let node = random.predicate(depth: 1 + index % 4)
      let text = PredicatePrinter { _ in "%@" }.text(of: node)
      let shape = ParsedPredicate.reading(text)
      #expect(throws: Never.self, "seed \(seed), tree \(index): \(text)") {
        let again = try shape.outcome.get()
        #expect(again == node, "seed \(seed), tree \(index): \(text)")
      }
    }
  }

  @Test("Valid predicates survive printing and parsing through the public type")
  func predicatesPrintAndParse() throws {
    let seed: UInt64 = 31_100
    let world = try PredicateWorld()
    var random = RandomPredicates(seed: seed, world: world)
    random.populate(6)
    for _ in 0..<500 {
      let node = random.predicate(depth: 4)
      let predicate = FetchPredicate(node: node)
      let text = predicate.description
      let again = FetchPredicate(stringLiteral: text)
      #expect(try again.parsed.outcome.get() == node, "seed \(seed): \(text)")
      #expect(again == predicate)
      #expect(again.description == text)
    }
  }

  @Test(
    "Predicates are printed in canonical form",
    arguments: [
      ("a==1", "a == 1"), ("NOT(a==1 or b like'x')", #"NOT (a == 1 OR b LIKE "x")"#),
      ("(a==1 or b==2) and c==3", "(a == 1 OR b == 2) AND c == 3"), ("!!a=1", "NOT NOT (a == 1)"),
      ("#first == a.last", "#first == a.#last"), (#"first\ name == 1"#, #"first\u0020name == 1"#),
      ("a == 'x\ny\u{1}'", #"a == "x\ny\u0001""#), ("SELF IN {nil, yes}", "SELF IN {NIL, TRUE}"),
      ("a == -0x10", "a == -16"), ("a == 1e300", "a == 1e+300"),
      // Operators, without unnecessary parentheses.
      ("((a + b)) * 2 == 6", "(a + b) * 2 == 6"), ("(a * b) + 2 == 6", "a * b + 2 == 6"),
      ("a - (b - c) == 1", "a - (b - c) == 1"), ("(a - b) - c == 1", "a - b - c == 1"),
      ("(a ** b) ** c == 1", "(a ** b) ** c == 1"), ("a ** (b ** c) == 1", "a ** b ** c == 1"),
      ("-(5) == a", "-(5) == a"), ("-(a + b) == 1", "-(a + b) == 1"), ("- -a == 1", "--a == 1"),
      ("a - -5 == 1", "a - -5 == 1"), ("add:to:(a, 1) == 2", "a + 1 == 2"), ("~5 == a", "~5 == a"),
      ("from:subtract:(a, b) == 1", "a - b == 1"), ("a%%2 == 1", "a % 2 == 1"),
      ("sqrt:(a) == 1", "sqrt(a) == 1"), ("(a + b).c == 1", "(a + b).c == 1"),
      ("(5).a == 1", "(5).a == 1"), ("(-5).a == 1", "(-5).a == 1"), ("-5.a == 1", "-(5).a == 1"),
      ("a | b & c ^ d << 2 == 1", "a | b & c ^ d << 2 == 1"), ("active", "active == TRUE"),
      ("((a UNION b) minus c) == d", "a UNION b MINUS c == d"),
      ("some a.b==1", "ANY a.b == 1"), ("a[first].b == 1", "a[FIRST].b == 1"),
      ("$x := a + 1 > 2", "$x := a + 1 > 2"), ("($x := a) + 1 > 2", "($x := a) + 1 > 2"),
      ("a.@sum.b > 1", "a.@sum.b > 1"), ("@count > 1", "@count > 1"),
      ("subquery(a,$x,$x.b==1||c==2).@count>1", "SUBQUERY(a, $x, $x.b == 1 OR c == 2).@count > 1"),
      ("ternary(a==1,b,'x')=='y'", #"TERNARY(a == 1, b, "x") == "y""#),
      ("function(a,'f:',b,1)==2", #"FUNCTION(a, "f:", b, 1) == 2"#),
      ("castObject:toType:(a,'NSString') == 'x'", #"CAST(a, "NSString") == "x""#),
      ("objectFrom:withIndex:(a, last) == 1", "a[LAST] == 1"), ("now() > a", "now() > a"),
    ])
  func printsInCanonicalForm(_ text: String, _ printed: String) throws {
    let predicate = FetchPredicate(stringLiteral: text)
    #expect(predicate.description == printed)
    #expect(FetchPredicate(stringLiteral: printed) == predicate)
  }

  @Test("Any name of a property or variable can be printed and parsed")
  func anyNamePrintsAndParses() throws {
    var random = SplitMix(seed: 4)
    let scalars: [Unicode.Scalar] = [
      "a", "Z", "_", "1", " ", ".", "-", "\"", "'", "\\", "é", "\u{301}", "😀", "#", "$", "@", "\n",
      "\u{0}", "日", "\u{FFFD}", "u",
    ]
    for _ in 0..<500 {
      var name = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        name.append(scalars.randomElement(using: &random) ?? "a")
      }
      let path = ExpressionNode.path(KeyPathNode(names: [String(name), "b"]))
      let node = PredicateNode.comparison(
        PredicateComparison(path, .equal, .variable(String(name), .none)))
      let text = FetchPredicate(node: node).description
      #expect(try FetchPredicate(stringLiteral: text).parsed.outcome.get() == node, "\(text)")
    }
  }
}
