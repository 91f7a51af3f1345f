/// One token of a predicate's text: a kind and a range of bytes.
struct PredicateToken: Sendable {
  enum Kind: Sendable, Equatable {
    case end
    case identifier
    case keyword(PredicateKeyword)
    case string
    case number
    case variable
    /// A constant that stands outside the text, by its number among all arguments.
    case argument(Int)
    /// A key path that stands outside the text.
    case pathArgument(Int)
    case comparison(ComparisonOperator)
    /// A parenthesis and the token that closes it; -1 where none does.
    case openParenthesis(closedBy: Int)
    case closeParenthesis
    case openBrace
    case closeBrace
    case openBracket
    case closeBracket
    case comma
    case dot
    case colon
    /// `@count` and its kin.
    case collectionOperator
    case and
    case or
    case not
    /// A sign before one operand or between two.
    case minus
    case tilde
    /// `:=`.
    case assign
    /// An operator that stands between two operands only.
    case infix(PredicateFunction)
  }

  var kind: Kind
  let start: Int
  let end: Int
}
