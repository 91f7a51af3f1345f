/// The sides of comparisons.
///
/// ```
/// expression = atom
/// atom       = literal | "{" [ expression { "," expression } ] "}" | "$" name | argument | path
///            | "(" expression ")"
/// path       = ( "SELF" | name | "%K" ) { "." ( name | "%K" ) }
/// ```
extension PredicateParser {
  mutating func expression() throws(ArborError) -> ExpressionNode {
    let expression = try atom()
    switch token.kind {
    case .otherOperator, .minus:
      let spelling = lexer.spelling(of: token)
      throw unsupported("The operator \"\(spelling)\" between values", at: token)
    case .openBracket where following.kind != .closeBracket:
      throw unsupported("An index in brackets", at: token)
    case .keyword(let word) where [.union, .intersect, .intersection, .minus].contains(word):
      throw unsupported(word.rawValue, at: token)
    default: return expression
    }
  }

  private mutating func atom() throws(ArborError) -> ExpressionNode {
    let start = token
    switch start.kind {
    case .number:
      advance()
      return .constant(try lexer.number(of: start, isNegative: false))
    case .minus:
      advance()
      guard token.kind == .number else {
        throw unsupported("A minus sign before anything but a number", at: start)
      }
      defer { advance() }
      return .constant(try lexer.number(of: token, isNegative: true))
    case .string:
      advance()
      return .constant(.string(try lexer.string(of: start)))
    case .argument(let index):
      advance()
      return .argument(index)
    case .variable: return try variable()
    case .openBrace: return try aggregate()
    case .openParenthesis:
      try descend()
      advance()
      let inner = try expression()
      try expect(.closeParenthesis, ")")
      ascend()
      return inner
    case .identifier:
      if case .openParenthesis = following.kind { return try literalCall() }
      return try path()
    case .pathArgument, .keyword(.self): return try path()
    case .keyword(let word): return try keyword(word)
    case .at: throw unsupported("A collection operator", at: start)
    case .otherOperator:
      throw unsupported("The operator \"\(lexer.spelling(of: start))\"", at: start)
    default: throw expected("a value or a key path")
    }
  }

  private mutating func keyword(_ word: PredicateKeyword) throws(ArborError) -> ExpressionNode {
    switch word {
    case .true, .yes:
      advance()
      return .constant(.boolean(true))
    case .false, .no:
      advance()
      return .constant(.boolean(false))
    case .nil, .null:
      advance()
      return .constant(.null)
    case .cast: return try castLiteral()
    case .subquery, .fetch, .function, .ternary, .anyKey:
      throw unsupported(word.rawValue, at: token)
    default:
      let spelling = lexer.spelling(of: token)
      throw site(token).error(
        "Expected a value or a key path, but \"\(spelling)\" is a reserved word; "
          + "write #\(spelling) for a property of that name.")
    }
  }

  private mutating func variable() throws(ArborError) -> ExpressionNode {
    let start = token
    advance()
    if token.kind == .dot { throw unsupported("A key path behind a variable", at: token) }
    return .variable(try lexer.name(of: start), site(start))
  }

  private mutating func aggregate() throws(ArborError) -> ExpressionNode {
    try descend()
    advance()
    var elements: [ExpressionNode] = []
    if token.kind != .closeBrace {
      repeat {
        try countTerm()
        elements.append(try expression())
      } while accept(.comma)
    }
    try expect(.closeBrace, "}")
    ascend()
    return .aggregate(elements)
  }

  private mutating func path() throws(ArborError) -> ExpressionNode {
    let start = token
    var parts: [KeyPathNode.Part] = []
    if start.kind == .keyword(.self) { advance() } else { parts.append(try pathPart()) }
    while accept(.dot) { parts.append(try pathPart()) }
    return .path(KeyPathNode(parts, site: site(start)))
  }

  private mutating func pathPart() throws(ArborError) -> KeyPathNode.Part {
    let part = token
    switch part.kind {
    // Behind a dot nothing but a name can stand, so reserved words need no mark there.
    case .identifier, .keyword:
      advance()
      return .name(try lexer.name(of: part), site(part))
    case .pathArgument(let index):
      advance()
      return .argument(index, site(part))
    case .at: throw unsupported("A collection operator", at: part)
    default: throw expected("the name of a property")
    }
  }
}
