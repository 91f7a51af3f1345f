internal import ArborFoundation
internal import ArborModel

// Optionals. Paths and operators of the predicate language accept nil, so most of these need no
// translation.

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    try translation.term(inner)
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let base = try translation.value(wrapped)
    let transform = transform
    let term = try translation.binding(variable.key, to: base) { (inner) throws(ArborError) in
      try inner.term(transform)
    }
    let isPresent = PredicateNode.comparison(PredicateComparison(base, .notEqual, .constant(.null)))
    switch term {
    case .condition(let node): return .optionalCondition(node, isPresent: isPresent)
    case .optionalCondition(let node, let inner):
      return .optionalCondition(node, isPresent: .all([isPresent, inner]))
    // A path that continues after an optional yields nil by itself if the optional is nil.
    case .value(let value) where value.isPath(behind: base): return .value(value)
    case .value(let value): return .value(.ternary(isPresent, value, .constant(.null)))
    }
  }
}

extension ExpressionNode {
  /// Returns whether the expression is the base followed by names.
  fileprivate func isPath(behind base: ExpressionNode) -> Bool {
    if self == base { return true }
    switch (self, base) {
    case (.path(let path), .path(let first)):
      return path.parts.starts(with: first.parts) && path.isPlain
    case (.member(let own, let path), .member(let other, let first)):
      return own == other && path.parts.starts(with: first.parts) && path.isPlain
    case (.member(let own, let path), _): return own == base && path.isPlain
    default: return false
    }
  }
}

extension KeyPathNode {
  /// Whether the path consists of names only. Collection operators also have results for `nil`.
  fileprivate var isPlain: Bool { parts.allSatisfy { if case .name = $0 { true } else { false } } }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let left = try translation.term(lhs)
    if case .optionalCondition(let node, let isPresent) = left {
      let otherwise = try translation.condition(rhs)
      switch otherwise {
      case .constant(false): return .condition(.all([isPresent, node]))
      case .constant(true): return .condition(.any([.not(isPresent), node]))
      default:
        return .condition(.any([.all([isPresent, node]), .all([.not(isPresent), otherwise])]))
      }
    }
    guard case .value(let value) = left else { return left }
    let isPresent = PredicateNode.comparison(
      PredicateComparison(value, .notEqual, .constant(.null)))
    return .value(.ternary(isPresent, value, try translation.value(rhs)))
  }
}
