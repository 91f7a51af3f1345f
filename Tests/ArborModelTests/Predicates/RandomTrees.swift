import TestLength
import ArborModel
import Foundation

/// A generator of random canonical trees with every construct of the language, without regard to
/// types.
struct RandomTrees {
  var random: SplitMix

  init(seed: UInt64) { random = SplitMix(seed: seed) }

  private mutating func pick<T>(_ items: [T]) -> T {
    items[Int.random(in: 0..<items.count, using: &random)]
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  // MARK: Predicates

  mutating func predicate(depth: Int) -> PredicateNode {
    guard depth > 0, chance(55) else {
      return chance(5) ? .constant(chance(50)) : .comparison(comparison(depth: depth))
    }
    let count = Int.random(in: 2...3, using: &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return .not(predicate(depth: depth - 1))
    case 1: return .all((0..<count).map { _ in predicate(depth: depth - 1) })
    default: return .any((0..<count).map { _ in predicate(depth: depth - 1) })
    }
  }

  private mutating func comparison(depth: Int) -> PredicateComparison {
    let options: ComparisonOptions =
      chance(25) ? ComparisonOptions(rawValue: UInt8.random(in: 0...31, using: &random)) : []
    return PredicateComparison(
      expression(depth: depth), pick(ComparisonOperator.allCases), expression(depth: depth),
      options: options, qualifier: chance(20) ? pick(ComparisonQualifier.allCases) : nil)
  }

  // MARK: Expressions

  mutating func expression(depth: Int) -> ExpressionNode {
    guard depth > 0, chance(70) else { return leaf() }
    let below = depth - 1
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return .member(of: expression(depth: below), path())
    case 1: return .aggregate(expressions(0...3, below))
    case 2:
      return .custom(
        expression(depth: below), name: pick(Self.texts), expressions(0...2, below), .none)
    case 3: return .casting(expression(depth: below), to: pick(Self.types), .none)
    case 4:
      return .ternary(
        predicate(depth: below), expression(depth: below), expression(depth: below))
    case 5:
      return .subquery(
        expression(depth: below), variable: pick(Self.names), predicate(depth: below), .none)
    case 6: return .element(expression(depth: below), position(below), .none)
    case 7: return .assignment(pick(Self.names), expression(depth: below))
    default: return call(below)
    }
  }

  private mutating func expressions(_ counts: ClosedRange<Int>, _ depth: Int) -> [ExpressionNode] {
    (0..<Int.random(in: counts, using: &random)).map { _ in expression(depth: depth) }
  }

  /// Returns a call. Operators are more frequent than named functions, because they need
  /// parentheses.
  private mutating func call(_ depth: Int) -> ExpressionNode {
    let operators = PredicateFunction.allCases.filter { $0.infix != nil }
    let function = chance(70) ? pick(operators) : pick(PredicateFunction.allCases)
    let least = function.arity.lowerBound
    let counts = least...min(function.arity.upperBound, max(least, 3))
    return .call(function, expressions(counts, depth), .none)
  }

  private mutating func position(_ depth: Int) -> ElementPosition {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: .first
    case 1: .last
    case 2: .size
    default: .at(expression(depth: depth))
    }
  }

  private static let names = [
    "name", "age", "a", "first", "SELF", "a b", "größe", "@x", "and", "data", "sum", "size", "1a",
    "x.y", "日本", "_", "UTI", "UTI-EQUALS", "d",
  ]
  private static let texts = ["", "a", "it's", "\"q\"", "%@ $x\n", "a\\b", "日本😀", "compute:by:"]
  private static let types = ["NSDate", "NSNumber", "NSDecimalNumber", "NSString", "x\"y"]

  private mutating func leaf() -> ExpressionNode {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: .variable(pick(Self.names), .none)
    case 1, 2: .path(path(canBeEmpty: true))
    default: .constant(constant())
    }
  }

  private mutating func path(canBeEmpty: Bool = false) -> KeyPathNode {
    let count = Int.random(in: canBeEmpty ? 0...3 : 1...3, using: &random)
    return KeyPathNode(
      (0..<count).map { _ in
        chance(20)
          ? .collectionOperator(pick(KeyPathNode.collectionOperators), .none)
          : .name(pick(Self.names), .none)
      })
  }

  private mutating func constant() -> PropertyValue {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: .null
    case 1: .boolean(chance(50))
    case 2: .double(pick([0.5, -1.25, 1e300, -0.0, .infinity, 1e22, 9.2e-5]))
    case 3: .decimal(Decimal(string: pick(["0.1", "-12.50", "1e30"])) ?? 0)
    case 4: .string(pick(Self.texts))
    case 5: .date(Date(timeIntervalSinceReferenceDate: pick([0, -1.5, 7e8])))
    case 6: .binary(Data(pick([[], [0, 255]])))
    case 7: .list([.integer(Int64.random(in: -2...2, using: &random)), .string("x")])
    case 8: .uuid(PredicateWorld.storeID)
    case 9: .integer(pick([.min, .max]))
    default: .integer(Int64.random(in: -5...5, using: &random))
    }
  }
}
