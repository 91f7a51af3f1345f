import ArborModel
import Testing

@Suite struct PredicateFunctionTests {
  @Test("A function is found by each of its names", arguments: PredicateFunction.allCases)
  func isFoundByItsNames(_ function: PredicateFunction) {
    let full = function.rawValue
    #expect(PredicateFunction(named: full) == function)
    #expect(
      PredicateFunction(named: full.hasSuffix(":") ? String(full.dropLast()) : full) == function)
    #expect(PredicateFunction(named: function.name) == function)
    #expect(PredicateFunction(named: full.uppercased() + "x") == nil)
  }

  @Test(
    "A function takes as many arguments as its name has colons",
    arguments: PredicateFunction.allCases)
  func takesOneArgumentForEachColon(_ function: PredicateFunction) {
    let colons = function.rawValue.count { $0 == ":" }
    #expect(function.arity.lowerBound == colons)
    if let infix = function.infix {
      #expect(function.arity.upperBound == (infix.precedence == .unary ? 1 : 2))
    }
  }

  @Test("The precedence of operators increases in order")
  func precedencesAreInOrder() {
    let loosestFirst: [PredicateFunction] = [
      .union, .bitwiseOr, .bitwiseXor, .bitwiseAnd, .leftshift, .add, .multiply, .power, .negate,
    ]
    for (looser, tighter) in zip(loosestFirst, loosestFirst.dropFirst()) {
      guard let left = looser.infix?.precedence, let right = tighter.infix?.precedence else {
        Issue.record("\(looser) or \(tighter) is no operator")
        continue
      }
      #expect(left < right && left.tighter == right)
    }
    #expect(PredicateFunction.negate.infix?.precedence.tighter == .postfix)
  }
}
