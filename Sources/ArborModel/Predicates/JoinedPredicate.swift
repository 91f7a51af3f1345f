internal import ArborLocks

/// Two predicates combined by AND or OR, whose combined tree is created lazily.
///
/// A loop of `condition = condition || next` creates a chain with one link per iteration. Combining
/// the whole chain at once takes linear time; combining it in every iteration would take quadratic
/// time. Chains can have any length, so this code never recurses along one.
final class JoinedPredicate: Sendable {
  private enum State: Sendable {
    case parts(left: FetchPredicate, right: FetchPredicate)
    case whole(ParsedPredicate, [PropertyValue])
  }

  private let composition: ParsedPredicate.Composition
  /// The maximum number of alternations of AND and OR along a path down the tree.
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

  /// Releases nested chains in a loop, because recursive deallocation could overflow the stack.
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

  /// A placeholder for the parts of a predicate that is being deallocated.
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

  /// Returns the minimum nesting of a composition that contains the predicate.
  private func nesting(in composition: ParsedPredicate.Composition) -> Int {
    composition == self.composition ? nesting : nesting + 1
  }

  // MARK: Combining

  /// The shape and arguments of the combination, created on first access.
  var whole: (shape: ParsedPredicate, arguments: [PropertyValue]) {
    let (left, right): (FetchPredicate, FetchPredicate)
    switch state.withLock({ $0 }) {
    case .whole(let shape, let arguments): return (shape, arguments)
    case .parts(let first, let second): (left, right) = (first, second)
    }
    // Two threads may do the same work concurrently, with the same result.
    let parts = parts(left, right)
    let shape = PredicateCache.shape(of: composition, parts.map(\.shape))
    let arguments = parts.flatMap(\.arguments)
    let former = self.state.withLock { state in
      let former = state
      state = .whole(shape, arguments)
      return former
    }
    // The parts are released outside the lock, because these may be the last references to a long
    // chain.
    _ = former
    return (shape, arguments)
  }

  /// Returns the parts of the chain from left to right. Each part has another operator, is already
  /// combined, or is not a combination at all.
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
