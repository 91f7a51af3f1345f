import ArborModel
import Foundation
import Testing

@Suite struct PredicatePrinterTests {
  @Test(arguments: 0..<8) func whatIsPrintedParsesBack(round: Int) throws {
    let seed = UInt64(31_000 + round)
    let world = try PredicateWorld()
    var random = RandomPredicates(seed: seed, world: world)
    random.populate(6)
    for _ in 0..<250 {
      let node = random.predicate(depth: 4)
      let predicate = FetchPredicate(node: node)
      let text = predicate.description
      let again = FetchPredicate(stringLiteral: text)
      #expect(try again.parsed.outcome.get() == node, "seed \(seed): \(text)")
      #expect(again == predicate)
      #expect(again.description == text)
    }
  }

  @Test(arguments: [
    ("a==1", "a == 1"), ("NOT(a==1 or b like'x')", #"NOT (a == 1 OR b LIKE "x")"#),
    ("(a==1 or b==2) and c==3", "(a == 1 OR b == 2) AND c == 3"), ("!!a=1", "NOT NOT (a == 1)"),
    ("#first == a.last", "#first == a.#last"), (#"first\ name == 1"#, #"first\u0020name == 1"#),
    ("a == 'x\ny\u{1}'", #"a == "x\ny\u0001""#), ("SELF IN {nil, yes}", "SELF IN {NIL, TRUE}"),
    ("a == -0x10", "a == -16"), ("a == 1e300", "a == 1e+300"), ("a[c] == 1", ""),
  ])
  func printsInCanonicalForm(_ text: String, _ printed: String) throws {
    let predicate = FetchPredicate(stringLiteral: text)
    guard !printed.isEmpty else {
      #expect(throws: ArborError.self) { try predicate.parsed }
      return
    }
    #expect(predicate.description == printed)
    #expect(FetchPredicate(stringLiteral: printed) == predicate)
  }

  /// Any name that a model could have, and any name of a variable.
  @Test func anyNamePrintsAndParses() throws {
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
