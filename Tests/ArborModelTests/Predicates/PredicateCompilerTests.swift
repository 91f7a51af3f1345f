import ArborModel
import Foundation
import Testing

/// Compiled code, the conjunction used for planning, and the index terms all agree with the naive
/// evaluator.
@Suite struct PredicateCompilerTests {
  /// The number of rounds; `ARBOR_ROUNDS` overrides it.
  static let rounds = ProcessInfo.processInfo.environment["ARBOR_ROUNDS"].flatMap(Int.init) ?? 16

  @Test("Compiled predicates agree with the naive evaluator", arguments: 0..<rounds)
  func saysWhatTheNaiveEvaluatorSays(round: Int) throws {
    let seed = UInt64(7001 + round)
    let world = try PredicateWorld()
    var random = RandomPredicates(seed: seed, world: world)
    random.populate(24)
    for _ in 0..<50 {
      let node = random.predicate(depth: 3)
      let text = PredicatePrinter { _ in "%@" }.text(of: node)
      let naive = Set(
        world.objects.values.filter { $0.id.entityName != "Company" }
          .filter { NaiveEvaluator(world: world, object: $0).evaluate(node) }.map(\.number))
      // Constants in the tree, in the text, and as arguments.
      let inline = FetchPredicate(node: node, arguments: [])
      let parsed = FetchPredicate(stringLiteral: text)
      for predicate in [inline, parsed, try Self.withArguments(node)] {
        let found = try world.matches(predicate)
        #expect(found == naive, "seed \(seed): \(text)")
        try Self.checkConjuncts(of: predicate, world, naive, "seed \(seed): \(text)")
      }
    }
  }

  /// Returns the predicate with its constants as arguments.
  private static func withArguments(_ node: PredicateNode) throws -> FetchPredicate {
    var arguments: [PropertyValue] = []
    let shape = node.mapLeaves { leaf in
      guard case .constant(let value) = leaf else { return leaf }
      arguments.append(value)
      return .argument(arguments.count - 1)
    }
    return FetchPredicate(node: shape, arguments: arguments)
  }

  private static func checkConjuncts(
    of predicate: FetchPredicate, _ world: PredicateWorld, _ expected: Set<ObjectNumber>,
    _ comment: String
  ) throws {
    let bound = try PredicateBinder.bind(predicate, to: world.person, in: world.schema)
    let conjuncts = try bound.conjunction(
      arguments: predicate.arguments, environment: world.environment
    ).conjuncts
    let whole = try world.matches(conjuncts.map(\.node), predicate.arguments, in: world.person)
    #expect(whole == expected, "\(comment)")
    for conjunct in conjuncts {
      guard let term = conjunct.term else { continue }
      let exact = try world.matches([conjunct.node], predicate.arguments, in: world.person)
      let served = Set(
        world.objects.values.filter { $0.id.entityName != "Company" }
          .filter { Self.isServed($0, by: term, world) }.map(\.number))
      #expect(
        term.isExact ? served == exact : served.isSuperset(of: exact), "\(comment): \(term)")
    }
  }

  /// Returns whether an index over the term's subject would return the object.
  private static func isServed(
    _ object: PredicateWorld.Object, by term: IndexableTerm, _ world: PredicateWorld
  ) -> Bool {
    var key: PropertyValue
    switch term.subject {
    case .attribute(let slot): key = object.values[world.person.attributes[slot].name] ?? .null
    case .toOne(let slot): key = reference(object.values[world.person.relationships[slot].name])
    // The model has no JSON.
    case .part, .elements: key = .null
    case .object: key = .integer(Int64(bitPattern: object.number.rawValue))
    }
    func reference(_ value: PropertyValue?) -> PropertyValue {
      guard case .objectID(let id)? = value else { return .null }
      return .integer(Int64(bitPattern: world.number(id).rawValue))
    }
    if case .string(let text) = key { key = .string(term.folding.fold(text)) }
    switch term.condition {
    case .equals(let value): return PropertyValue.compare(key, value) == .equal
    case .anyOf(let values): return values.contains { PropertyValue.compare(key, $0) == .equal }
    case .prefix(let prefix):
      guard case .string(let text) = key else { return false }
      return Array(text.utf8).starts(with: Array(prefix.utf8))
    case .words(let wanted):
      guard case .string(let text) = key else { return false }
      let words = TokenQuery(text).tokens.map(\.bytes)
      return wanted.allSatisfy { token in
        words.contains { token.isPrefix ? $0.starts(with: token.bytes) : $0 == token.bytes }
      }
    case .range(let lower, let isLowerIncluded, let upper, let isUpperIncluded):
      let low = PropertyValue.compare(key, lower)
      guard low == .greater || (isLowerIncluded && low == .equal) else { return false }
      guard let upper else { return true }
      let high = PropertyValue.compare(key, upper)
      return high == .less || (isUpperIncluded && high == .equal)
    }
  }
}
