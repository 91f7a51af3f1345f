internal import ArborFoundation
internal import ArborModel

/// A Foundation expression that can be translated.
protocol TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm
}

enum TypedTerm {
  case condition(PredicateNode)
  case value(ExpressionNode)
  /// A condition on the wrapped value of an optional, and the condition that it isn't `nil`.
  case optionalCondition(PredicateNode, isPresent: PredicateNode)
}

/// A translation of a typed predicate's expression to a tree.
struct PredicateTranslation {
  /// The values of the variables in scope.
  private var variables: [PredicateExpressions.VariableID: ExpressionNode]
  /// The captured values, in order of appearance.
  private(set) var arguments: [PropertyValue] = []
  private var boundCount = 0

  init(root: PredicateExpressions.VariableID) {
    variables = [root: .path(KeyPathNode([]))]
  }

  mutating func term(_ expression: some PredicateExpression) throws(ArborError) -> TypedTerm {
    guard let translatable = expression as? any TranslatableExpression else {
      throw Self.unsupported(Self.name(of: expression))
    }
    return try translatable.translated(by: &self)
  }

  mutating func condition(
    _ expression: some PredicateExpression
  ) throws(ArborError) -> PredicateNode {
    switch try term(expression) {
    case .condition(let node): return node
    case .optionalCondition(let node, let isPresent): return .all([isPresent, node])
    case .value(.constant(.boolean(let flag))): return .constant(flag)
    case .value(.argument(let index)):
      if case .boolean(let flag) = arguments[index] { return .constant(flag) }
      throw Self.unsupported("A captured condition that is not a Boolean")
    case .value(let value):
      return .comparison(PredicateComparison(value, .equal, .constant(.boolean(true))))
    }
  }

  mutating func value(_ expression: some PredicateExpression) throws(ArborError) -> ExpressionNode {
    switch try term(expression) {
    case .value(let value): value
    case .condition(let node): Self.flag(node)
    case .optionalCondition(let node, let isPresent):
      .ternary(isPresent, Self.flag(node), .constant(.null))
    }
  }

  private static func flag(_ node: PredicateNode) -> ExpressionNode {
    .ternary(node, .constant(.boolean(true)), .constant(.boolean(false)))
  }

  // MARK: Leaves

  func value(of variable: PredicateExpressions.VariableID) throws(ArborError) -> ExpressionNode {
    guard let value = variables[variable] else {
      throw Self.unsupported("A variable of another predicate")
    }
    return value
  }

  mutating func constant(_ value: Any) throws(ArborError) -> ExpressionNode {
    if let argument = value as? any PredicateArgument { return constant(argument.predicateValue) }
    guard value is any Decodable else {
      throw Self.unsupported("A captured value of type \(type(of: value))")
    }
    return constant(PlainAttribute.value(of: value))
  }

  /// Adds a captured value as an argument rather than a constant, so that predicates that differ
  /// only in it have the same shape.
  mutating func constant(_ value: PropertyValue) -> ExpressionNode {
    if value.isNull { return .constant(.null) }
    arguments.append(value)
    return .argument(arguments.count - 1)
  }

  /// Negates a captured number, which represents a literal such as `-5`. Returns `nil` for anything
  /// else.
  mutating func negated(_ value: ExpressionNode) -> ExpressionNode? {
    guard case .argument(let index) = value else { return nil }
    switch arguments[index] {
    case .integer(let number) where number != .min: arguments[index] = .integer(-number)
    case .double(let number): arguments[index] = .double(-number)
    default: return nil
    }
    return value
  }

  // MARK: Scopes

  /// Runs `body` with a variable bound to a value.
  mutating func binding<Result>(
    _ variable: PredicateExpressions.VariableID, to value: ExpressionNode,
    _ body: (inout PredicateTranslation) throws(ArborError) -> Result
  ) throws(ArborError) -> Result {
    let outer = variables[variable]
    variables[variable] = value
    let result = try body(&self)
    variables[variable] = outer
    return result
  }

  /// Translates a condition on the members of a collection, using a variable name that no enclosing
  /// condition uses.
  mutating func memberCondition(
    _ variable: PredicateExpressions.VariableID, _ test: some PredicateExpression
  ) throws(ArborError) -> (name: String, condition: PredicateNode) {
    boundCount += 1
    let name = "v\(boundCount)"
    let condition = try binding(variable, to: .variable(name, .none)) {
      (inner) throws(ArborError) in try inner.condition(test)
    }
    boundCount -= 1
    return (name, condition)
  }

  // MARK: Errors

  static func unsupported(_ what: String) -> ArborError {
    ArborError(
      .invalidPredicate,
      "\(what) in a #Predicate cannot be translated to a store query. Rewrite it, or use a "
        + "predicate string.")
  }

  /// Returns the name of an expression's type without generic parameters, such as `Arithmetic`.
  static func name(of expression: Any) -> String {
    let name = String(reflecting: type(of: expression))
    let bare = name.prefix { $0 != "<" }.split(separator: ".").last.map(String.init) ?? name
    return "The expression \(bare)"
  }
}
