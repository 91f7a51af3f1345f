/// An error of the parser. It is a class, because an ``ArborError`` is large, and every frame of a
/// deep recursion reserves room for the error it may throw.
final class PredicateFailure: Error {
  let error: ArborError

  init(_ error: ArborError) { self.error = error }
}

/// A parser that converts the tokens of a predicate to a tree.
///
/// ```
/// or         = and { ("OR" | "||") and }
/// and        = not { ("AND" | "&&") not }
/// not        = ("NOT" | "!") not | primary
/// primary    = "TRUEPREDICATE" | "FALSEPREDICATE" | comparison | "(" or ")"
/// comparison = [ "ANY" | "SOME" | "ALL" | "NONE" ] expression operator [ options ] expression
///            | expression "NOT" "IN" expression | path
/// ```
///
/// A parenthesis contains an expression if a comparison or arithmetic operator follows the closing
/// one, otherwise a predicate. The parser therefore never backtracks.
struct PredicateParser {
  let lexer: PredicateLexer
  let limits: PredicateLimits
  private(set) var index = 0
  private var depth = 0
  private var terms = 0
  /// The reserved words that were read as constants.
  var constants: [PredicateConstantWord] = []
  /// The depth of the most recently parsed expression. A simple value has depth 0.
  var height = 0
  /// The index of the token after the bounds of the last `BETWEEN`, or `nil` before the first.
  var rangeEnd: Int?

  /// Parses a text into a shape. If the text is invalid, the shape contains the error.
  static func parse(
    _ text: PredicateText, isFormat: Bool, limits: PredicateLimits
  ) -> ParsedPredicate {
    var lexer = PredicateLexer(text, isFormat: isFormat)
    var outcome: Result<PredicateNode, ArborError>
    var constants: [PredicateConstantWord] = []
    do throws(PredicateFailure) {
      let length = text.segments.reduce(0) { $0 + $1.utf8.count }
      guard length <= limits.maximumLength else {
        throw PredicateFailure(
          ArborError(
            .invalidPredicate,
            "The predicate has \(length) bytes, which exceeds the limit of "
              + "\(limits.maximumLength). Pass long lists and strings as arguments."))
      }
      try lexer.run()
      var parser = PredicateParser(lexer: lexer, limits: limits)
      outcome = .success(try parser.wholePredicate())
      constants = parser.constants
    } catch {
      outcome = .failure(error.error)
    }
    return ParsedPredicate(
      source: .init(text: text, isFormat: isFormat, limits: limits), outcome: outcome,
      argumentCount: isFormat ? lexer.argumentCount : text.segments.count - 1, isOpen: lexer.isOpen,
      constants: constants)
  }

  init(lexer: PredicateLexer, limits: PredicateLimits) {
    self.lexer = lexer
    self.limits = limits
    token = lexer.tokens[0]
  }

  // MARK: Tokens

  private(set) var token: PredicateToken

  var following: PredicateToken { lexer.tokens[min(index + 1, lexer.tokens.count - 1)] }

  mutating func advance() {
    index += 1
    token = lexer.tokens[index]
  }

  /// Consumes the current token if it has the given kind, otherwise returns `false`.
  mutating func accept(_ kind: PredicateToken.Kind) -> Bool {
    guard token.kind == kind else { return false }
    advance()
    return true
  }

  /// Consumes the current token. Throws if it has another kind.
  ///
  /// - Parameter words: The keywords that are also valid here, for suggestions.
  mutating func expect(
    _ kind: PredicateToken.Kind, _ spelling: String, among words: [String] = []
  ) throws(PredicateFailure) {
    guard accept(kind) else { throw expected("\"\(spelling)\"", among: words) }
  }

  func site(_ token: PredicateToken) -> PredicateSite { PredicateSite(lexer.text, token.start) }

  func failure(at token: PredicateToken, _ message: String) -> PredicateFailure {
    PredicateFailure(site(token).error(message))
  }

  // MARK: Limits

  /// The upper bound of `maximumDepth`. It is limited, because parsing, comparing and releasing a
  /// tree are recursive.
  private static let deepest = 200

  private var maximumDepth: Int { min(limits.maximumDepth, Self.deepest) }

  /// Enters parentheses, a list, a `NOT` or any other construct that is parsed recursively.
  mutating func descend() throws(PredicateFailure) {
    depth += 1
    guard depth <= maximumDepth else { throw tooDeep }
  }

  mutating func ascend() { depth -= 1 }

  /// Records that the parsed construct is one level deeper than its deepest part.
  mutating func rise(above other: Int = 0) throws(PredicateFailure) {
    height = max(height, other) + 1
    guard height <= maximumDepth + 1 else { throw tooDeep }
  }

  private var tooDeep: PredicateFailure {
    failure(
      at: token, "The predicate is nested more than \(maximumDepth) levels deep. Simplify it.")
  }

  mutating func countTerm() throws(PredicateFailure) {
    terms += 1
    guard terms <= limits.maximumTerms else {
      throw failure(
        at: token,
        "The predicate exceeds the limit of \(limits.maximumTerms) terms. Pass long lists as "
          + "arguments.")
    }
  }

  // MARK: Predicates

  private mutating func wholePredicate() throws(PredicateFailure) -> PredicateNode {
    let node = try disjunction()
    guard case .end = token.kind else {
      throw expected("AND, OR or the end", among: ["AND", "OR"])
    }
    return node
  }

  mutating func disjunction() throws(PredicateFailure) -> PredicateNode {
    let first = try conjunction()
    guard isDisjunction else { return first }
    var nodes = [first]
    var highest = height
    while isDisjunction {
      advance()
      nodes.append(try conjunction())
      highest = max(highest, height)
    }
    try rise(above: highest)
    return .any(nodes)
  }

  private var isDisjunction: Bool { token.kind == .or || token.kind == .keyword(.or) }

  private mutating func conjunction() throws(PredicateFailure) -> PredicateNode {
    let first = try negation()
    guard isConjunction else { return first }
    var nodes = [first]
    var highest = height
    while isConjunction {
      advance()
      nodes.append(try negation())
      highest = max(highest, height)
    }
    try rise(above: highest)
    return .all(nodes)
  }

  private var isConjunction: Bool { token.kind == .and || token.kind == .keyword(.and) }

  private mutating func negation() throws(PredicateFailure) -> PredicateNode {
    switch token.kind {
    case .not, .keyword(.not):
      try descend()
      advance()
      let node = try negation()
      ascend()
      try rise()
      return .not(node)
    default: return try primary()
    }
  }

  private mutating func primary() throws(PredicateFailure) -> PredicateNode {
    switch token.kind {
    case .keyword(.truePredicate): return try constant(true)
    case .keyword(.falsePredicate): return try constant(false)
    case .openParenthesis(let close) where !isExpression(closedBy: close):
      try descend()
      advance()
      let node = try disjunction()
      try expect(.closeParenthesis, ")", among: ["AND", "OR"])
      ascend()
      return node
    default: return try comparison()
    }
  }

  private mutating func constant(_ flag: Bool) throws(PredicateFailure) -> PredicateNode {
    try countTerm()
    advance()
    height = 1
    return .constant(flag)
  }

  /// Returns whether a parenthesis contains an operand of a comparison.
  private func isExpression(closedBy close: Int) -> Bool {
    guard close >= 0, close + 1 < lexer.tokens.count else { return false }
    switch lexer.tokens[close + 1].kind {
    case .comparison, .infix, .minus, .dot, .openBracket: return true
    case .keyword(let word):
      return word.comparison != nil || word.setFunction != nil || word == .not
    default: return false
    }
  }
}
