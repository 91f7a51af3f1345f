extension PredicateParser {
  mutating func comparison() throws(PredicateFailure) -> PredicateNode {
    try countTerm()
    let qualifier = qualifier()
    let (first, start) = (index, token)
    let left = try expression()
    let leftHeight = height
    if isAtEndOfPredicate, let node = condition(left, qualifier, start) {
      try rise()
      return node
    }
    let sign = token
    // `x NOT IN y` is an alternative spelling of `NOT x IN y`.
    let isNegated = sign.kind == .keyword(.not) && following.kind == .keyword(.in)
    if isNegated { advance() }
    let comparison = try comparisonOperator(after: first)
    let options = try self.options()
    let right = try expression()
    if comparison == .between { rangeEnd = index }
    try rise(above: leftHeight)
    let node = PredicateNode.comparison(
      PredicateComparison(
        left, comparison, right, options: options,
        qualifier: isNegated ? qualifier?.dual : qualifier, site: site(sign)))
    // No member is outside the list if all members are inside.
    guard isNegated, qualifier != ComparisonQualifier.none else { return node }
    try rise()
    return .not(node)
  }

  private mutating func qualifier() -> ComparisonQualifier? {
    let qualifier: ComparisonQualifier
    switch token.kind {
    case .keyword(.any), .keyword(.some): qualifier = .any
    case .keyword(.all): qualifier = .all
    case .keyword(.none): qualifier = .none
    default: return nil
    }
    advance()
    return qualifier
  }

  private var isAtEndOfPredicate: Bool {
    switch token.kind {
    case .end, .closeParenthesis, .comma, .and, .or, .keyword(.and), .keyword(.or): true
    default: false
    }
  }

  /// Returns the condition that a path without an operator represents, or `nil` for any other
  /// expression. It is valid if the path leads to a Boolean.
  private func condition(
    _ expression: ExpressionNode, _ qualifier: ComparisonQualifier?, _ start: PredicateToken
  ) -> PredicateNode? {
    switch expression {
    case .path(let path) where !path.parts.isEmpty: break
    case .member: break
    default: return nil
    }
    return .comparison(
      PredicateComparison(
        expression, .equal, .constant(.boolean(true)), qualifier: qualifier, site: site(start)))
  }

  private mutating func comparisonOperator(
    after first: Int
  ) throws(PredicateFailure) -> ComparisonOperator {
    switch token.kind {
    case .comparison(let comparison):
      advance()
      return comparison
    case .keyword(let word):
      guard let comparison = word.comparison else { break }
      if word == .matches, !limits.allowsRegularExpressions {
        throw failure(
          at: token,
          "MATCHES is not allowed here, because a regular expression can take half a second for "
            + "each string. Use LIKE.")
      }
      advance()
      return comparison
    default: break
    }
    throw expectedOperator(after: first)
  }

  private mutating func options() throws(PredicateFailure) -> ComparisonOptions {
    guard case .openBracket = token.kind else { return [] }
    advance()
    var options: ComparisonOptions = []
    while token.kind != .closeBracket {
      guard token.kind == .identifier || token.kind == .keyword(.ci) else {
        throw expected("the options c, d, n, l or w, then \"]\"")
      }
      for letter in lexer.bytes[token.start..<token.end] {
        guard let option = ComparisonOptions(letter: letter) else {
          throw expected("the options c, d, n, l or w")
        }
        options.insert(option)
      }
      advance()
    }
    advance()
    return options
  }
}

extension PredicateKeyword {
  /// The comparison with this name, or `nil` if it doesn't exist.
  var comparison: ComparisonOperator? { ComparisonOperator(rawValue: rawValue) }

  /// The set operation with this name, or `nil` if it doesn't exist.
  var setFunction: PredicateFunction? {
    switch self {
    case .union: .union
    case .intersect, .intersection: .intersect
    case .minus: .minus
    default: nil
    }
  }
}

extension ComparisonQualifier {
  /// The qualifier with which a negated `IN` is equivalent to `NOT IN` with this one: any member is
  /// outside a list if not all members are inside it.
  fileprivate var dual: ComparisonQualifier {
    switch self {
    case .any, .none: .all
    case .all: .any
    }
  }
}
