/// Errors for text that cannot be parsed.
extension PredicateParser {
  /// Returns the error for an unexpected token.
  ///
  /// - Parameter words: The keywords that are valid here, for suggestions.
  func expected(_ what: String, among words: [String] = []) -> PredicateFailure {
    failure(at: token, "Expected \(what)\(precedingText), but found \(found).\(hint(among: words))")
  }

  private var precedingText: String {
    index == 0 ? "" : " after \"\(lexer.spelling(of: lexer.tokens[index - 1]))\""
  }

  private var found: String {
    switch token.kind {
    case .end: "the end of the text"
    case .argument: "a value"
    default: "\"\(lexer.spelling(of: token))\""
    }
  }

  private func hint(among words: [String]) -> String {
    guard case .identifier = token.kind else { return "" }
    let name = lexer.spelling(of: token)
    if let operation = Self.foreignOperators[name.lowercased()], words.contains(operation) {
      return " Did you mean \(operation)?"
    }
    return NearestName.hint(name, in: words)
  }

  /// Operators of SQL, and those that mean the same here.
  private static let foreignOperators = [
    "match": "MATCHES", "regexp": "MATCHES", "rlike": "MATCHES", "glob": "LIKE", "ilike": "LIKE",
  ]

  /// Returns the error for a missing operator after the left side of a comparison.
  ///
  /// - Parameter first: The index of the token that starts the left side. A single name followed by
  ///   another may be a misspelled qualifier or `NOT`.
  func expectedOperator(after first: Int) -> PredicateFailure {
    let isNamePair =
      index == first + 1 && lexer.tokens[first].kind == .identifier && token.kind == .identifier
    let prefixes = ["ANY", "SOME", "ALL", "NONE", "NOT"]
    if isNamePair, NearestName.of(lexer.spelling(of: token), in: Self.operatorWords) == nil,
      let nearest = NearestName.of(lexer.spelling(of: lexer.tokens[first]), in: prefixes)
    {
      let name = lexer.spelling(of: lexer.tokens[first])
      return failure(
        at: lexer.tokens[first],
        "\"\(name)\" is followed by another name. Did you mean \(nearest)?")
    }
    if let rangeEnd, first == rangeEnd + 1 {
      return failure(
        at: lexer.tokens[rangeEnd],
        "BETWEEN takes a list of two bounds. Write BETWEEN {minimum, maximum} instead of BETWEEN "
          + "minimum AND maximum.")
    }
    return expected("an operator such as == or CONTAINS", among: Self.operatorWords)
  }

  private static let operatorWords = PredicateKeyword.allCases.filter {
    $0.comparison != nil || $0.setFunction != nil || $0 == .and || $0 == .or
  }.map(\.rawValue)

  /// Returns the error for a Core Data construct that would require SQL.
  func refused(_ construct: String, _ advice: String) -> PredicateFailure {
    failure(at: token, "\(construct) is not supported. \(advice).")
  }

  /// Returns the error for a reserved word where a value is expected.
  func reserved(_ word: PredicateKeyword) -> PredicateFailure {
    let spelling = lexer.spelling(of: token)
    switch word {
    case .caseInsensitive, .ci:
      return failure(
        at: token,
        "Expected a value or a key path, but found the reserved word \"\(spelling)\". Put [c] "
          + "after an operator for a case-insensitive comparison.")
    case .any, .some, .all, .none:
      return failure(
        at: token,
        "Expected a value or a key path, but found \"\(spelling)\". It goes before a comparison, "
          + "as in ANY staff.age > 40.")
    default:
      return failure(
        at: token,
        "Expected a value or a key path, but found the reserved word \"\(spelling)\". Write "
          + "#\(spelling) for a property of that name.")
    }
  }
}
