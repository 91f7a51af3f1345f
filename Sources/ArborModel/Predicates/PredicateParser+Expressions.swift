/// Parsing of the operands of comparisons.
///
/// ```
/// expression = "$" name ":=" expression | infix
/// infix      = unary { operator unary }          by the precedence of ``PredicateFunction``
/// unary      = ("-" | "~") unary | postfix
/// postfix    = atom { "." part | "[" index "]" }
/// atom       = literal | "{" [ expression { "," expression } ] "}" | "$" name | argument | call
///            | part | "(" expression ")"
/// part       = name | "@" name | "%K"
/// ```
extension PredicateParser {
  mutating func expression() throws(PredicateFailure) -> ExpressionNode {
    if case .variable = token.kind, following.kind == .assign { return try assignment() }
    return try infix(.set)
  }

  private mutating func assignment() throws(PredicateFailure) -> ExpressionNode {
    try descend()
    let name = try lexer.name(of: token)
    advance()
    advance()
    let value = try expression()
    ascend()
    try rise()
    return .assignment(name, value)
  }

  // MARK: Operators

  private mutating func infix(
    _ least: PredicateFunction.Precedence
  ) throws(PredicateFailure) -> ExpressionNode {
    var left = try unary()
    while let (function, precedence) = infixOperator, precedence >= least {
      try countTerm()
      let (sign, leftHeight) = (site(token), height)
      advance()
      let right: ExpressionNode
      if function == .power {
        // Powers are right-associative, so each is parsed within the previous one.
        try descend()
        right = try infix(precedence)
        ascend()
      } else {
        right = try infix(precedence.tighter)
      }
      try rise(above: leftHeight)
      left = .call(function, [left, right], sign)
    }
    return left
  }

  private var infixOperator:
    (function: PredicateFunction, precedence: PredicateFunction.Precedence)?
  {
    let function: PredicateFunction
    switch token.kind {
    case .infix(let sign): function = sign
    case .minus: function = .subtract
    case .keyword(let word):
      guard let word = word.setFunction else { return nil }
      function = word
    default: return nil
    }
    return function.infix.map { (function, $0.precedence) }
  }

  private mutating func unary() throws(PredicateFailure) -> ExpressionNode {
    let function: PredicateFunction
    switch token.kind {
    case .minus:
      if let number = try negativeNumber() { return number }
      function = .negate
    case .tilde: function = .onesComplement
    default: return try postfix()
    }
    let sign = site(token)
    try countTerm()
    try descend()
    advance()
    let operand = try unary()
    ascend()
    try rise()
    return .call(function, [operand], sign)
  }

  /// Parses a number with its sign. Returns `nil` if the sign applies to a part or an element that
  /// follows the number.
  private mutating func negativeNumber() throws(PredicateFailure) -> ExpressionNode? {
    guard case .number = following.kind else { return nil }
    switch lexer.tokens[index + 2].kind {
    case .dot, .openBracket: return nil
    default: break
    }
    advance()
    let number = try lexer.number(of: token, isNegative: true)
    advance()
    height = 0
    return .constant(number)
  }

  // MARK: Postfix

  private mutating func postfix() throws(PredicateFailure) -> ExpressionNode {
    var base = try atom()
    while true {
      switch token.kind {
      case .dot:
        let start = token
        advance()
        let path = KeyPathNode(try parts(), site: site(start))
        // Further names make a path longer, not deeper.
        if case .path = base {} else { try rise() }
        base = .member(of: base, path)
        try checkHops(of: base, at: start)
      case .openBracket: base = try element(of: base)
      default: return base
      }
    }
  }

  private mutating func element(of base: ExpressionNode) throws(PredicateFailure) -> ExpressionNode
  {
    let (sign, baseHeight) = (site(token), height)
    try countTerm()
    try descend()
    advance()
    let position = try self.position(endingWith: .closeBracket)
    try expect(.closeBracket, "]")
    ascend()
    try rise(above: baseHeight)
    return .element(base, position, sign)
  }

  /// Parses the position in brackets, or the index of `objectFrom:withIndex:`.
  mutating func position(
    endingWith end: PredicateToken.Kind
  ) throws(PredicateFailure) -> ElementPosition {
    if case .keyword(let word) = token.kind, following.kind == end {
      let positions: [PredicateKeyword: ElementPosition] = [
        .first: .first, .last: .last, .size: .size,
      ]
      if let position = positions[word] {
        advance()
        height = 0
        return position
      }
    }
    return .at(try expression())
  }

  // MARK: Values

  private mutating func atom() throws(PredicateFailure) -> ExpressionNode {
    let start = token
    height = 0
    switch start.kind {
    case .number:
      advance()
      return .constant(try lexer.number(of: start, isNegative: false))
    case .string:
      advance()
      return .constant(.string(try lexer.string(of: start)))
    case .argument(let index):
      advance()
      return .argument(index)
    case .variable:
      advance()
      return .variable(try lexer.name(of: start), site(start))
    case .openBrace: return try aggregate()
    case .openParenthesis: return try parenthesized()
    case .identifier:
      switch following.kind {
      case .openParenthesis, .colon: return try call()
      default: return try path()
      }
    case .pathArgument, .collectionOperator, .keyword(.self): return try path()
    case .keyword(let word): return try keyword(word)
    default: throw expected("a value or a key path")
    }
  }

  private mutating func parenthesized() throws(PredicateFailure) -> ExpressionNode {
    try descend()
    advance()
    let inner = try expression()
    if case .comma = token.kind {
      throw failure(at: token, "Lists are written in braces. Write {1, 2} instead of (1, 2).")
    }
    try expect(.closeParenthesis, ")")
    ascend()
    return inner
  }

  private mutating func keyword(_ word: PredicateKeyword) throws(PredicateFailure) -> ExpressionNode
  {
    switch word {
    case .true, .yes: return value(.boolean(true))
    case .false, .no: return value(.boolean(false))
    case .nil, .null: return value(.null)
    case .cast: return try castCall()
    case .ternary: return try ternaryCall()
    case .subquery: return try subqueryCall()
    case .function: return try customCall()
    case .fetch:
      throw refused(
        "FETCH", "Fetch the objects or values first, and compare with IN")
    case .anyKey:
      throw refused(
        "ANYKEY",
        "Compare each attribute separately, and combine the comparisons with OR")
    default: throw reserved(word)
    }
  }

  private mutating func value(_ value: PropertyValue) -> ExpressionNode {
    constants.append(
      PredicateConstantWord(word: lexer.spelling(of: token), value: value, site: site(token)))
    advance()
    return .constant(value)
  }

  private mutating func aggregate() throws(PredicateFailure) -> ExpressionNode {
    try descend()
    advance()
    var elements: [ExpressionNode] = []
    var highest = 0
    if token.kind != .closeBrace {
      repeat {
        try countTerm()
        elements.append(try expression())
        highest = max(highest, height)
      } while accept(.comma)
    }
    try expect(.closeBrace, "}")
    ascend()
    try rise(above: highest)
    return .aggregate(elements)
  }

  // MARK: Paths

  private mutating func path() throws(PredicateFailure) -> ExpressionNode {
    let start = token
    if case .keyword(.self) = start.kind {
      advance()
      guard case .dot = token.kind else { return .path(KeyPathNode([], site: site(start))) }
      advance()
    }
    let path = ExpressionNode.path(KeyPathNode(try parts(), site: site(start)))
    try checkHops(of: path, at: start)
    return path
  }

  /// Rejects a key path with more names than the limits allow.
  private func checkHops(
    of expression: ExpressionNode, at start: PredicateToken
  ) throws(PredicateFailure) {
    let most = min(limits.maximumHops, PredicateLimits.maximumPathLength)
    switch expression {
    case .path(let path) where path.parts.count > most,
      .member(_, let path) where path.parts.count > most:
      throw failure(at: start, KeyPathNode.tooLong(path.parts.count, most))
    default: break
    }
  }

  private mutating func parts() throws(PredicateFailure) -> [KeyPathNode.Part] {
    var parts = [try part()]
    while case .dot = token.kind {
      advance()
      parts.append(try part())
    }
    return parts
  }

  private mutating func part() throws(PredicateFailure) -> KeyPathNode.Part {
    let part = token
    switch part.kind {
    // Only a name can follow a dot, so reserved words need no mark there.
    case .identifier, .keyword:
      advance()
      return .name(try lexer.name(of: part), site(part))
    case .pathArgument(let index):
      advance()
      return .argument(index, site(part))
    case .collectionOperator:
      let name = lexer.spelling(of: part)
      guard KeyPathNode.collectionOperators.contains(name) else {
        throw failure(
          at: part,
          "\(name) is not a collection operator. Use @count, @sum, @avg, @min or @max."
            + NearestName.hint(name, in: KeyPathNode.collectionOperators))
      }
      advance()
      return .collectionOperator(name, site(part))
    default: throw expected("the name of a property")
    }
  }
}
