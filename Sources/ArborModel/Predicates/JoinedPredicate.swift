internal import ArborLocks

/// Two predicates joined by AND or OR, put together when somebody asks for the whole.
///
/// A loop of `condition = condition || next` makes a chain of these, one link a round; putting the
/// chain together at once takes time in proportion to its parts, where doing it at each round would
/// take the square of that. Chains may be of any length: nothing here recurses along one.
final class JoinedPredicate: Sendable {
  private enum State: Sendable {
    case parts(left: FetchPredicate, right: FetchPredicate)
    case whole(ParsedPredicate, [PropertyValue])
  }

  private let composition: ParsedPredicate.Composition
  /// How often AND and OR alternate along the longest way down.
  private let nesting: Int
  private let state: Lock<State>

  private init(
    _ left: FetchPredicate, _ composition: ParsedPredicate.Composition, _ right: FetchPredicate,
    nesting: Int
  ) {
    self.composition = composition
    self.nesting = nesting
    state = Lock(.parts(left: left, right: right))
  }

  /// Chains within the chain are let go of in a loop: one can be longer than the stack is deep.
  deinit {
    var rest = takeChains()
    while var chain = rest.popLast() {
      if isKnownUniquelyReferenced(&chain) { rest += chain.takeChains() }
    }
  }

  private func takeChains() -> [JoinedPredicate] {
    state.withLock { state in
      guard case .parts(let left, let right) = state else { return [] }
      state = .whole(Self.nothing, [])
      return [left.joined, right.joined].compactMap { $0 }
    }
  }

  /// What is left of a predicate whose end has begun.
  private static let nothing = ParsedPredicate(
    source: nil, outcome: .success(.constant(true)), argumentCount: 0, isOpen: false)

  static func joining(
    _ left: FetchPredicate, _ composition: ParsedPredicate.Composition, _ right: FetchPredicate
  ) -> FetchPredicate {
    let nesting = max(
      left.joined?.nesting(in: composition) ?? 0, right.joined?.nesting(in: composition) ?? 0)
    guard nesting < PredicateLimits.standard.maximumDepth else {
      return FetchPredicate(failing: ParsedPredicate.tooDeep)
    }
    return FetchPredicate(JoinedPredicate(left, composition, right, nesting: nesting))
  }

  /// The nesting that a composition with the predicate has at least.
  private func nesting(in composition: ParsedPredicate.Composition) -> Int {
    composition == self.composition ? nesting : nesting + 1
  }

  // MARK: Putting together

  /// Shape and arguments of the whole, put together when they are first asked for.
  var whole: (shape: ParsedPredicate, arguments: [PropertyValue]) {
    let (left, right): (FetchPredicate, FetchPredicate)
    switch state.withLock({ $0 }) {
    case .whole(let shape, let arguments): return (shape, arguments)
    case .parts(let first, let second): (left, right) = (first, second)
    }
    // Two threads may do the same side by side: both come to the same.
    let parts = parts(left, right)
    let shape = PredicateCache.shape(of: composition, parts.map(\.shape))
    let arguments = parts.flatMap(\.arguments)
    let former = self.state.withLock { state in
      let former = state
      state = .whole(shape, arguments)
      return former
    }
    // The parts are let go of outside the lock: these may be the last references to a long chain.
    _ = former
    return (shape, arguments)
  }

  /// What the chain consists of, from left to right: predicates that another composition has
  /// joined, that were put together before, or that were not joined.
  private func parts(_ left: FetchPredicate, _ right: FetchPredicate) -> [FetchPredicate] {
    var parts: [FetchPredicate] = []
    var rest = [right, left]
    while let next = rest.popLast() {
      if let chain = next.joined, chain.composition == composition,
        case .parts(let left, let right) = chain.state.withLock({ $0 })
      {
        rest.append(right)
        rest.append(left)
      } else {
        parts.append(next)
      }
    }
    return parts
  }
}
