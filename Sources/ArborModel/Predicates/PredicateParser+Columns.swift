extension PredicateParser {
  /// Reads what names a column of rows: `expression [ "AS" name ]`.
  ///
  /// - Returns: The expression, and the name behind `AS`.
  /// - Throws: ``ArborError`` `invalidPredicate` where the text is something else, with line and
  ///   column.
  static func column(
    _ text: String
  ) throws(ArborError) -> (expression: ExpressionNode, name: String?) {
    let limits = PredicateLimits.standard
    guard text.utf8.count <= limits.maximumLength else {
      throw ArborError(
        .invalidPredicate,
        "The expression's text has \(text.utf8.count) bytes and the limit is "
          + "\(limits.maximumLength); shorten it.")
    }
    do throws(PredicateFailure) {
      var lexer = PredicateLexer(PredicateText(segments: [text]), isFormat: false)
      try lexer.run()
      var parser = PredicateParser(lexer: lexer, limits: limits)
      let expression = try parser.expression()
      let name = try parser.columnName()
      guard case .end = parser.token.kind else {
        throw parser.expected("AS and a name, or the end", among: ["AS"])
      }
      return (expression, name)
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
