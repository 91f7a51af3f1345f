/// Calls: a name followed by arguments in parentheses.
extension PredicateParser {
  /// Parses a call of a function, or a literal written as a call.
  mutating func call() throws(PredicateFailure) -> ExpressionNode {
    let start = token
    let name = try functionName()
    guard case .openParenthesis = token.kind else {
      throw expected("\"(\" and the arguments of a function")
    }
    if PredicateLiteral.names.contains(name) { return try literalCall(name) }
    switch name {
    case "castObject:toType", "castObject:toType:": return try castCall(behind: start)
    case "objectFrom:withIndex", "objectFrom:withIndex:": return try elementCall(start)
    default: break
    }
    guard let function = PredicateFunction(named: name) else {
      throw unknownFunction(name, at: start)
    }
    try countTerm()
    let operands = try arguments()
    guard function.arity.contains(operands.count) else {
      throw failure(
        at: start,
        "\(function.name) takes \(function.arityWords), but has \(operands.count).")
    }
    return .call(function, operands, site(start))
  }

  /// Parses a name such as `sum`, `sum:` or `modulus:by:`.
  private mutating func functionName() throws(PredicateFailure) -> String {
    var name = try lexer.name(of: token)
    advance()
    while case .colon = token.kind {
      name += ":"
      advance()
      guard case .identifier = token.kind else { break }
      name += try lexer.name(of: token)
      advance()
    }
    return name
  }

  private func unknownFunction(_ name: String, at start: PredicateToken) -> PredicateFailure {
    let names = PredicateFunction.allCases.map(\.name) + PredicateLiteral.names.sorted()
    let foreign = Self.foreignNames[name.lowercased()].map { " Did you mean \($0.name)?" }
    return failure(
      at: start,
      "There is no function \"\(name)\". Call a registered function with FUNCTION(target, "
        + "\"\(name)\", …)."
        + (foreign ?? NearestName.hint(name, in: names)))
  }

  /// Functions of SQL and other languages that have another name here.
  private static let foreignNames: [String: PredicateFunction] = [
    "lower": .lowercase, "lcase": .lowercase, "tolower": .lowercase, "lowercased": .lowercase,
    "upper": .uppercase, "ucase": .uppercase, "toupper": .uppercase, "uppercased": .uppercase,
    "avg": .average, "mean": .average, "len": .length, "char_length": .length, "ceil": .ceiling,
    "pow": .power, "mod": .modulus, "group_concat": .join, "string_agg": .join,
  ]

  /// Parses the arguments in parentheses.
  private mutating func arguments() throws(PredicateFailure) -> [ExpressionNode] {
    try open()
    var operands: [ExpressionNode] = []
    var highest = -1
    if token.kind != .closeParenthesis {
      repeat {
        try countTerm()
        operands.append(try expression())
        highest = max(highest, height)
      } while accept(.comma)
    }
    height = highest
    try close()
    return operands
  }

  /// Consumes the opening parenthesis of a call.
  private mutating func open() throws(PredicateFailure) {
    guard case .openParenthesis = token.kind else { throw expected("\"(\"") }
    try descend()
    advance()
  }

  /// Consumes the closing parenthesis of a call.
  private mutating func close() throws(PredicateFailure) {
    try expect(.closeParenthesis, ")")
    ascend()
    try rise()
  }

  private mutating func quotedText(_ what: String) throws(PredicateFailure) -> String {
    guard case .string = token.kind else { throw expected(what) }
    let text = try lexer.string(of: token)
    advance()
    return text
  }

  // MARK: Calls with special syntax

  /// Parses `uuid("…")` and similar literals.
  private mutating func literalCall(_ name: String) throws(PredicateFailure) -> ExpressionNode {
    advance()
    let start = token
    let text = try quotedText("a string in quotes")
    if name == "date", accept(.comma) { return try zonedDate(text, at: start) }
    try expect(.closeParenthesis, ")")
    guard let value = PredicateLiteral.constant(name, text) else {
      throw failure(
        at: start,
        "This string is not a valid \(name). Correct it, or pass the value as an argument.")
    }
    return .constant(value)
  }

  /// Parses `date("2024-05-01", "Europe/Berlin")`.
  private mutating func zonedDate(
    _ text: String, at start: PredicateToken
  ) throws(PredicateFailure) -> ExpressionNode {
    let zoneStart = token
    let name = try quotedText("the name of a time zone in quotes")
    try expect(.closeParenthesis, ")")
    guard let zone = PredicateZones.zone(named: name) else {
      throw failure(at: zoneStart, PredicateZones.unknown(name))
    }
    guard let date = ISO8601Date.parse(text, in: zone) else {
      throw failure(
        at: start, "This string is not a valid date. Correct it, or pass the value as an argument.")
    }
    return .constant(.date(date))
  }

  /// Parses `CAST(expression, "type")`.
  mutating func castCall() throws(PredicateFailure) -> ExpressionNode {
    let start = token
    advance()
    return try castCall(behind: start)
  }

  private mutating func castCall(
    behind start: PredicateToken
  ) throws(PredicateFailure) -> ExpressionNode {
    try countTerm()
    try open()
    let base = try expression()
    try expect(.comma, ",")
    let type = try quotedText("the name of a type in quotes")
    try close()
    return .casting(base, to: type, site(start))
  }

  /// Parses `objectFrom:withIndex:(list, index)`, an alternative spelling of brackets.
  private mutating func elementCall(_ start: PredicateToken) throws(PredicateFailure)
    -> ExpressionNode
  {
    try countTerm()
    try open()
    let base = try expression()
    let baseHeight = height
    try expect(.comma, ",")
    let position = try self.position(endingWith: .closeParenthesis)
    height = max(height, baseHeight)
    try close()
    return .element(base, position, site(start))
  }

  /// Parses `TERNARY(predicate, expression, expression)`.
  mutating func ternaryCall() throws(PredicateFailure) -> ExpressionNode {
    try countTerm()
    advance()
    try open()
    let condition = try disjunction()
    var highest = height
    try expect(.comma, ",", among: ["AND", "OR"])
    let first = try expression()
    highest = max(highest, height)
    try expect(.comma, ",")
    let second = try expression()
    height = max(highest, height)
    try close()
    return .ternary(condition, first, second)
  }

  /// Parses `SUBQUERY(collection, $variable, predicate)`.
  mutating func subqueryCall() throws(PredicateFailure) -> ExpressionNode {
    let start = token
    try countTerm()
    advance()
    try open()
    let base = try expression()
    let baseHeight = height
    try expect(.comma, ",")
    guard case .variable = token.kind else {
      throw expected("a variable such as $x, which stands for each member")
    }
    let variable = try lexer.name(of: token)
    advance()
    try expect(.comma, ",")
    let condition = try disjunction()
    height = max(height, baseHeight)
    try close()
    return .subquery(base, variable: variable, condition, site(start))
  }

  /// Parses `FUNCTION(target, "name:", …)`.
  mutating func customCall() throws(PredicateFailure) -> ExpressionNode {
    guard limits.allowsCustomFunctions else {
      throw failure(
        at: token,
        "FUNCTION is not allowed here, because it runs the program's own code. Use built-in "
          + "functions.")
    }
    let start = token
    try countTerm()
    advance()
    try open()
    let target = try expression()
    var highest = height
    try expect(.comma, ",")
    let name = try quotedText("the name of a registered function in quotes")
    var operands: [ExpressionNode] = []
    while accept(.comma) {
      try countTerm()
      operands.append(try expression())
      highest = max(highest, height)
    }
    height = highest
    try close()
    return .custom(target, name: name, operands, site(start))
  }
}
