extension PredicateParser {
  /// Reads what names a column of rows: `expression [ "AS" name ]`.
  ///
  /// - Parameter limits: How large the text may be and what it may ask for.
  /// - Returns: The expression, and the name behind `AS`.
  /// - Throws: ``ArborError`` `invalidPredicate` where the text is something else or beyond the
  ///   limits, with line and column.
  static func column(
    _ text: String, limits: PredicateLimits = .standard
  ) throws(ArborError) -> (expression: ExpressionNode, name: String?) {
    try parseExpression(text, isFormat: false, limits) { (parser) throws(PredicateFailure) in
      let expression = try parser.expression()
      let name = try parser.columnName()
      guard case .end = parser.token.kind else {
        throw parser.expected("AS and a name, or the end", among: ["AS"])
      }
      return (expression, name)
    }
  }

  /// An expression in canonical form, made of a format and the arguments of its specifications.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where the format is none of an expression, or has
  ///   another number of specifications than there are arguments.
  static func expressionText(_ format: String, arguments: [PropertyValue]) throws(ArborError)
    -> String
  {
    let parsed = try parseExpression(format, isFormat: true, .standard) {
      (parser) throws(PredicateFailure) in
      let expression = try parser.expression()
      guard case .end = parser.token.kind else { throw parser.expected("an operator or the end") }
      return (expression, parser.lexer.argumentCount)
    }
    guard parsed.1 == arguments.count else {
      throw ArborError(
        .invalidPredicate,
        "The format has \(parsed.1) % placeholders but \(arguments.count) arguments. Pass one "
          + "argument for each placeholder.")
    }
    let behind = { (path: KeyPathNode) in (try? resolved(path, arguments)) ?? path }
    let closed = try parsed.0.mapLeaves(path: behind) {
      (leaf) throws(ArborError) -> ExpressionNode in
      switch leaf {
      case .argument(let index): .constant(arguments[index])
      case .path(let path): .path(try resolved(path, arguments))
      default: leaf
      }
    }
    return PredicatePrinter { "%\($0)" }.text(of: closed)
  }

  /// A key path with the names that arguments give in place of its `%K`.
  private static func resolved(
    _ path: KeyPathNode, _ arguments: [PropertyValue]
  ) throws(ArborError) -> KeyPathNode {
    var parts: [KeyPathNode.Part] = []
    for part in path.parts {
      guard case .argument(let index, let site) = part else {
        parts.append(part)
        continue
      }
      guard case .string(let names) = arguments[index] else {
        throw ArborError(
          .invalidPredicate,
          "The argument for %K is not a string. Pass a key path, such as \"company.name\".")
      }
      parts += ParsedPredicate.parts(of: names, site)
    }
    return KeyPathNode(parts, site: path.site)
  }

  private static func parseExpression<R>(
    _ text: String, isFormat: Bool, _ limits: PredicateLimits,
    _ body: (inout PredicateParser) throws(PredicateFailure) -> R
  ) throws(ArborError) -> R {
    guard text.utf8.count <= limits.maximumLength else {
      throw ArborError(
        .invalidPredicate,
        "The expression has \(text.utf8.count) bytes, which exceeds the limit of "
          + "\(limits.maximumLength). Shorten it.")
    }
    do throws(PredicateFailure) {
      var lexer = PredicateLexer(PredicateText(segments: [text]), isFormat: isFormat)
      try lexer.run()
      var parser = PredicateParser(lexer: lexer, limits: limits)
      return try body(&parser)
    } catch {
      throw error.error
    }
  }

  private mutating func columnName() throws(PredicateFailure) -> String? {
    guard case .identifier = token.kind, lexer.spelling(of: token).lowercased() == "as" else {
      return nil
    }
    advance()
    switch token.kind {
    case .identifier:
      let name = try lexer.name(of: token)
      advance()
      return name
    case .keyword:
      // What is a word of the language elsewhere can be nothing but a name here.
      let name = lexer.spelling(of: token)
      advance()
      return name
    default: throw expected("a name")
    }
  }
}

extension UInt8 {
  /// Whether a path of names has this byte; a text with any other is an expression.
  var isOfPlainPath: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), 0x80...:
      true
    default: false
    }
  }
}
