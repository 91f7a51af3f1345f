/// A token of a predicate's text: a kind and a range of bytes.
struct PredicateToken: Sendable {
  enum Kind: Sendable, Equatable {
    case end
    case identifier
    case keyword(PredicateKeyword)
    case string
    case number
    case variable
    /// A constant outside the text, by index among all arguments.
    case argument(Int)
    /// A key path outside the text.
    case pathArgument(Int)
    case comparison(ComparisonOperator)
    /// A parenthesis and the index of the token that closes it, or -1 if there isn't one.
    case openParenthesis(closedBy: Int)
    case closeParenthesis
    case openBrace
    case closeBrace
    case openBracket
    case closeBracket
    case comma
    case dot
    case colon
    /// A collection operator such as `@count`.
    case collectionOperator
    case and
    case or
    case not
    /// A prefix or infix minus.
    case minus
    case tilde
    /// `:=`.
    case assign
    /// A binary operator that has no prefix form.
    case infix(PredicateFunction)
  }

  var kind: Kind
  let start: Int
  let end: Int
}
