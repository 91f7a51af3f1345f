/// Reads the tokens of a predicate into a tree.
///
/// ```
/// or         = and { ("OR" | "||") and }
/// and        = not { ("AND" | "&&") not }
/// not        = ("NOT" | "!") not | primary
/// primary    = "TRUEPREDICATE" | "FALSEPREDICATE" | comparison | "(" or ")"
/// comparison = expression operator [ options ] expression
/// ```
///
/// A parenthesis opens an expression where an operator of comparison or arithmetic follows the one
/// that closes it, and a predicate elsewhere; so nothing is ever read twice.
struct PredicateParser {
  let lexer: PredicateLexer
  let limits: PredicateLimits
  private var index = 0
  private var depth = 0
  private var terms = 0

  /// Parses a text into a shape, which holds the error where there is one.
  static func parse(
    _ text: PredicateText, isFormat: Bool, limits: PredicateLimits
  ) -> ParsedPredicate {
    var lexer = PredicateLexer(text, isFormat: isFormat)
    var outcome: Result<PredicateNode, ArborError>
    do {
      let length = text.segments.reduce(0) { $0 + $1.utf8.count }
      guard length <= limits.maximumLength else {
        throw ArborError(
          .invalidPredicate,
          "The predicate's text has \(length) bytes and the limit is \(limits.maximumLength); "
            + "pass long lists and texts as arguments.")
      }
      try lexer.run()
      var parser = PredicateParser(lexer: lexer, limits: limits)
      outcome = .success(try parser.wholePredicate())
    } catch let error as ArborError {
      outcome = .failure(error)
    } catch {
      outcome = .failure(ArborError(.invalidPredicate, "\(error)"))
    }
    return ParsedPredicate(
      source: .init(text: text, isFormat: isFormat, limits: limits), outcome: outcome,
      argumentCount: isFormat ? lexer.argumentCount : text.segments.count - 1)
  }

  init(lexer: PredicateLexer, limits: PredicateLimits) {
    self.lexer = lexer
    self.limits = limits
  }

  // MARK: Tokens

  var token: PredicateToken { lexer.tokens[index] }

  /// The token behind the present one.
  var following: PredicateToken { lexer.tokens[min(index + 1, lexer.tokens.count - 1)] }

  mutating func advance() { index += 1 }

  /// Passes a token of a kind; whether it stood here.
  mutating func accept(_ kind: PredicateToken.Kind) -> Bool {
    guard token.kind == kind else { return false }
    advance()
    return true
  }

  mutating func expect(_ kind: PredicateToken.Kind, _ spelling: String) throws(ArborError) {
    guard accept(kind) else { throw expected("\"\(spelling)\"") }
  }

  func site(_ token: PredicateToken) -> PredicateSite { PredicateSite(lexer.text, token.start) }

  /// The error that something else stands here.
  func expected(_ what: String) -> ArborError {
    site(token).error("Expected \(what)\(placeDescription), but found \(found).")
  }

  private var placeDescription: String {
    index == 0 ? "" : " after \"\(lexer.spelling(of: lexer.tokens[index - 1]))\""
  }

  private var found: String {
    switch token.kind {
    case .end: "the end of the text"
    case .argument: "a value"
    default: "\"\(lexer.spelling(of: token))\""
    }
  }

  func unsupported(_ construct: String, at token: PredicateToken) -> ArborError {
    site(token).error("\(construct) is not supported; state the condition without it.")
  }

  // MARK: Limits

  /// Enters parentheses, a list or a `NOT`.
  mutating func descend() throws(ArborError) {
    depth += 1
    guard depth <= limits.maximumDepth else {
      throw site(token).error(
        "The predicate is nested more than \(limits.maximumDepth) deep; simplify it.")
    }
  }

  mutating func ascend() { depth -= 1 }

  mutating func countTerm() throws(ArborError) {
    terms += 1
    guard terms <= limits.maximumTerms else {
      throw site(token).error(
        "The predicate has more than \(limits.maximumTerms) terms; pass long lists as arguments.")
    }
  }

  // MARK: Predicates

  private mutating func wholePredicate() throws(ArborError) -> PredicateNode {
    let node = try disjunction()
    guard token.kind == .end else {
      throw expected("AND, OR or the end")
    }
    return node
  }

  mutating func disjunction() throws(ArborError) -> PredicateNode {
    var nodes = [try conjunction()]
    while accept(.or) || accept(.keyword(.or)) { nodes.append(try conjunction()) }
    return .any(nodes)
  }

  private mutating func conjunction() throws(ArborError) -> PredicateNode {
    var nodes = [try negation()]
    while accept(.and) || accept(.keyword(.and)) { nodes.append(try negation()) }
    return .all(nodes)
  }

  private mutating func negation() throws(ArborError) -> PredicateNode {
    guard token.kind == .not || token.kind == .keyword(.not) else { return try primary() }
    try descend()
    advance()
    let node = try negation()
    ascend()
    return .not(node)
  }

  private mutating func primary() throws(ArborError) -> PredicateNode {
    switch token.kind {
    case .keyword(.truePredicate):
      advance()
      return .constant(true)
    case .keyword(.falsePredicate):
      advance()
      return .constant(false)
    case .keyword(let word) where [.any, .some, .all, .none].contains(word):
      throw unsupported("\(word.rawValue), which asks about to-many relationships,", at: token)
    case .openParenthesis(let close) where !isExpression(closedBy: close):
      try descend()
      advance()
      let node = try disjunction()
      try expect(.closeParenthesis, ")")
      ascend()
      return node
    default: return try comparison()
    }
  }

  /// Whether what a parenthesis closes is one side of a comparison.
  private func isExpression(closedBy close: Int) -> Bool {
    guard close >= 0, close + 1 < lexer.tokens.count else { return false }
    switch lexer.tokens[close + 1].kind {
    case .comparison, .otherOperator, .minus, .dot, .openBracket: return true
    case .keyword(let word): return word.comparison != nil || word.isOtherInfix || word == .not
    default: return false
    }
  }

  // MARK: Comparisons

  private mutating func comparison() throws(ArborError) -> PredicateNode {
    try countTerm()
    let left = try expression()
    let start = token
    // `x NOT IN y`, which others write in two places.
    let isNegated = token.kind == .keyword(.not) && following.kind == .keyword(.in)
    if isNegated { advance() }
    let comparison = try comparisonOperator()
    let options = try self.options()
    let right = try expression()
    let node = PredicateNode.comparison(
      PredicateComparison(left, comparison, right, options: options, site: site(start)))
    return isNegated ? .not(node) : node
  }

  private mutating func comparisonOperator() throws(ArborError) -> ComparisonOperator {
    switch token.kind {
    case .comparison(let comparison):
      advance()
      return comparison
    case .keyword(let word):
      if word == .matches, !limits.allowsRegularExpressions {
        throw site(token).error(
          "MATCHES is not allowed here, since regular expressions can run without end; use LIKE.")
      }
      if let comparison = word.comparison {
        advance()
        return comparison
      }
      if [.tokenMatches, .conformsToUTI, .equalsUTI].contains(word) {
        throw unsupported(word.rawValue, at: token)
      }
    default: break
    }
    throw expected("an operator such as == or CONTAINS")
  }

  private mutating func options() throws(ArborError) -> ComparisonOptions {
    guard accept(.openBracket) else { return [] }
    var options: ComparisonOptions = []
    while token.kind != .closeBracket {
      guard token.kind == .identifier || token.kind == .keyword(.ci) else {
        throw expected("the options c, d, n or l, then \"]\"")
      }
      for letter in lexer.bytes[token.start..<token.end] {
        guard let option = ComparisonOptions(letter: letter) else {
          throw expected("the options c, d, n or l")
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
  /// The comparison that the word asks for.
  var comparison: ComparisonOperator? {
    switch self {
    case .in: .in
    case .contains: .contains
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .like: .like
    case .matches: .matches
    case .between: .between
    default: nil
    }
  }

  /// Whether the word stands between two expressions and is no comparison that is supported.
  var isOtherInfix: Bool {
    switch self {
    case .union, .intersect, .intersection, .minus, .tokenMatches, .conformsToUTI, .equalsUTI:
      true
    default: false
    }
  }
}
