extension PredicateParser {
  /// Parses a column of rows: `expression [ "AS" name ]`.
  ///
  /// - Parameter limits: The limits for the text.
  /// - Returns: The expression, and the name after `AS`, or `nil` if there isn't one.
  /// - Throws: ``ArborError`` `invalidPredicate` with line and column if the text is malformed or
  ///   exceeds the limits.
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

  /// Returns an expression in canonical form, created from a format and arguments for its
  /// specifiers.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if the format is not a valid expression, or if the
  ///   number of arguments doesn't match the number of specifiers.
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
      let placeholders = parsed.1 == 1 ? "placeholder" : "placeholders"
      let passed = "\(arguments.count) \(arguments.count == 1 ? "argument" : "arguments")"
      throw ArborError(
        .invalidPredicate,
        "The format has \(parsed.1) \(placeholders) but \(passed). Pass one argument for each "
          + "placeholder.")
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

  /// Returns a key path with its `%K`s replaced by names from arguments.
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
      // Reserved words are valid names here, because only a name can follow.
      let name = lexer.spelling(of: token)
      advance()
      return name
    default: throw expected("a name")
    }
  }
}

extension UInt8 {
  /// Whether the byte can occur in a plain path of names. Text with any other byte is an
  /// expression.
  var isOfPlainPath: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), 0x80...:
      true
    default: false
    }
  }
}
