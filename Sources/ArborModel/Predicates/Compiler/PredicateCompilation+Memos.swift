/// Memoization of code that depends on a single object.
extension PredicateCompilation {
  /// Returns the chain to the object of a root, or `nil` if memoization isn't worthwhile.
  private func chain(_ root: MemoRoot?) -> HopChain? {
    guard remembers, let root else { return nil }
    // Each row is evaluated only once anyway.
    if root.scope == 0, root.hops.isEmpty, frames.count == 1 { return nil }
    return chain(root.scope, root.hops)
  }

  func remembering(
    _ root: MemoRoot?, _ compile: (PredicateCompilation) throws(ArborError) -> CompiledNode
  ) throws(ArborError) -> CompiledNode {
    guard let chain = chain(root) else { return try compile(self) }
    let node = try compile(forgetting)
    guard case .code(let code) = node else { return node }
    let (memo, closure) = (EvaluationMemo<Bool>(), code.closure)
    return .code(cost: code.cost) { record, number, resolver in
      guard let resolver, let object = chain.target(record, number, resolver) else {
        return closure(record, number, resolver)
      }
      return memo.outcome(of: object, resolver) { closure(record, number, resolver) }
    }
  }

  func remembering(
    _ root: MemoRoot?, _ compile: (PredicateCompilation) throws(ArborError) -> ValueReader
  ) throws(ArborError) -> ValueReader {
    guard let chain = chain(root) else { return try compile(self) }
    let (memo, read) = (EvaluationMemo<PropertyValue>(), try compile(forgetting))
    return { record, number, resolver in
      guard let resolver, let object = chain.target(record, number, resolver) else {
        return read(record, number, resolver)
      }
      return memo.outcome(of: object, resolver) { value in
        value.elementCount + value.size / 64 + 1
      } _: {
        read(record, number, resolver)
      }
    }
  }

  func remembering(
    _ root: MemoRoot?, _ compile: (PredicateCompilation) throws(ArborError) -> Counter
  ) throws(ArborError) -> Counter {
    guard let chain = chain(root) else { return try compile(self) }
    let (memo, count) = (EvaluationMemo<Int>(), try compile(forgetting))
    return { record, number, resolver, most in
      // A partial count must not be memoized.
      guard most == .max, let resolver, let object = chain.target(record, number, resolver) else {
        return count(record, number, resolver, most)
      }
      return memo.outcome(of: object, resolver) { count(record, number, resolver, most) }
    }
  }
}

/// The memoized results of code that depends on a single object, for the duration of one
/// evaluation.
///
/// The total weight of the results is bounded. When it exceeds the maximum, all results are
/// discarded.
final class EvaluationMemo<Outcome> {
  /// The maximum total weight. A result weighs 1, plus 1 for each element and each 64 bytes of its
  /// value.
  private static var maximumWeight: Int { 1 << 16 }

  private var known: [ObjectNumber: Outcome] = [:]
  private var weight = 0
  private var evaluation: UInt64 = 0

  /// Returns the memoized result for an object, or the result of `make`.
  @inline(__always)
  func outcome(
    of number: ObjectNumber, _ resolver: any RecordResolver, weight: (Outcome) -> Int = { _ in 1 },
    _ make: () -> Outcome
  ) -> Outcome {
    if evaluation != resolver.evaluation { begin(resolver.evaluation) }
    if let outcome = known[number] { return outcome }
    let outcome = make()
    self.weight += weight(outcome)
    if self.weight > Self.maximumWeight {
      known.removeAll()
      self.weight = weight(outcome)
    }
    if self.weight <= Self.maximumWeight { known[number] = outcome }
    return outcome
  }

  private func begin(_ evaluation: UInt64) {
    self.evaluation = evaluation
    known.removeAll()
    weight = 0
  }
}
