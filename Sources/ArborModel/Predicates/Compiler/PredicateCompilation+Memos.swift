/// Code that is run once for each object that it depends on alone.
extension PredicateCompilation {
  /// Where that object comes from, where remembering it is of use.
  private func chain(_ root: MemoRoot?) -> HopChain? {
    guard remembers, let root else { return nil }
    // Rows come once each.
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
    let (memo, read) = (EvaluationMemo<Value>(), try compile(forgetting))
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
      // A part of a count is no count.
      guard most == .max, let resolver, let object = chain.target(record, number, resolver) else {
        return count(record, number, resolver, most)
      }
      return memo.outcome(of: object, resolver) { count(record, number, resolver, most) }
    }
  }
}
