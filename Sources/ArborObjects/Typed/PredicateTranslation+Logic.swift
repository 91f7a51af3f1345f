internal import ArborFoundation
internal import ArborModel

// Comparisons and logic.

private func compare<Left: PredicateExpression, Right: PredicateExpression>(
  _ left: Left, _ comparison: ComparisonOperator, _ right: Right,
  _ translation: inout PredicateTranslation
) throws(ArborError) -> TypedTerm {
  let left = try translation.value(left)
  let right = try translation.value(right)
  return .condition(.comparison(PredicateComparison(left, comparison, right)))
}

extension PredicateExpressions.Equal: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    try compare(lhs, .equal, rhs, &translation)
  }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    try compare(lhs, .notEqual, rhs, &translation)
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let comparison: ComparisonOperator =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: throw PredicateTranslation.unsupported("The comparison \(op)")
      }
    return try compare(lhs, comparison, rhs, &translation)
  }
}

extension PredicateExpressions.Conjunction: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let left = try translation.condition(lhs)
    return .condition(.all([left, try translation.condition(rhs)]))
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let left = try translation.condition(lhs)
    return .condition(.any([left, try translation.condition(rhs)]))
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    .condition(.not(try translation.condition(wrapped)))
  }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let test = try translation.condition(test)
    let first = try translation.term(trueBranch)
    let second = try translation.term(falseBranch)
    switch (first, second) {
    case (.condition(let first), .condition(let second)):
      return .condition(.any([.all([test, first]), .all([.not(test), second])]))
    case (.value(let first), .value(let second)): return .value(.ternary(test, first, second))
    default:
      throw PredicateTranslation.unsupported(
        "A conditional whose branches have different types")
    }
  }
}
