extension SortKey {
  /// Returns an ascending key for an expression in the predicate language that evaluates to a
  /// single value.
  ///
  /// ```swift
  /// request.sortKeys = [.ascending(expression: "price * quantity"), "-lines.@count"]
  /// ```
  ///
  /// The expression is computed once for each object that a fetch examines, because no index can
  /// provide this order. With a fetch limit, only the best rows are kept in memory. A fetch throws
  /// if the text is not a valid expression or doesn't evaluate to a single value.
  ///
  /// - Parameters:
  ///   - expression: The expression's text, which becomes the ``keyPath``. Don't insert user input
  ///     into it; pass it as arguments instead.
  ///   - options: The options for comparing strings.
  public static func ascending(expression: String, options: Options = []) -> SortKey {
    SortKey(expression, isAscending: true, options: options)
  }

  /// Returns a descending key for an expression; see ``ascending(expression:options:)``.
  public static func descending(expression: String, options: Options = []) -> SortKey {
    SortKey(expression, isAscending: false, options: options)
  }

  /// Returns an ascending key for an expression with arguments for its `%` specifiers.
  ///
  /// ```swift
  /// let nearest = try SortKey.ascending(
  ///   expression: "distanceToLocation:fromLocation:({latitude, longitude}, %@)",
  ///   arguments: [[here.latitude, here.longitude]])
  /// ```
  ///
  /// - Parameters:
  ///   - format: The expression's text. `%@` and the numeric specifiers of `printf` represent
  ///     constants, and `%K` represents a key path. The text with its arguments substituted becomes
  ///     the ``keyPath``.
  ///   - arguments: One argument for each specifier, in order; `nil` represents the constant `nil`.
  ///   - options: The options for comparing strings.
  /// - Throws: ``ArborError`` `invalidPredicate`, with line and column if the text is malformed, or
  ///   if the number of arguments doesn't match the number of specifiers.
  public static func ascending(
    expression format: String, arguments: [(any PredicateArgument)?], options: Options = []
  ) throws(ArborError) -> SortKey {
    let values = arguments.map { $0?.predicateValue ?? .null }
    return SortKey(
      try PredicateParser.expressionText(format, arguments: values), isAscending: true,
      options: options)
  }

  /// Returns a descending key for an expression with arguments for its `%` specifiers; see
  /// ``ascending(expression:arguments:options:)``.
  public static func descending(
    expression format: String, arguments: [(any PredicateArgument)?], options: Options = []
  ) throws(ArborError) -> SortKey {
    try .ascending(expression: format, arguments: arguments, options: options).reversed
  }
}

extension SortKey {
  /// Binds the key's expression.
  ///
  /// - Returns: The bound key, or `nil` if the text is a plain path that doesn't lead to a single
  ///   value. The caller has already tried to resolve it as a path, and has a better error message.
  /// - Throws: ``ArborError`` `invalidPredicate` if the text is malformed or cannot be bound, or
  ///   `invalidArgument` if its value has no order.
  func bindExpression(
    to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundSortKey? {
    let isPath =
      keyPath.utf8.allSatisfy(\.isOfPlainPath)
      && !KeyPathBinder.leadsIntoParts(keyPath, of: entity, in: schema)
    let bound: (expression: BoundExpression, kind: ValueKind)
    do throws(ArborError) {
      let column = try PredicateParser.column(keyPath)
      guard column.name == nil else {
        throw ArborError(
          .invalidArgument, "A sort key cannot have a name. Remove AS and the name.")
      }
      bound = try PredicateBinder.bind(column.expression, to: entity, in: schema)
    } catch {
      if isPath { return nil }
      throw error.with(entity: entity.name, keyPath: keyPath)
    }
    switch bound.kind {
    case .object, .list, .many, .composite:
      if isPath { return nil }
      throw ArborError(
        .invalidArgument,
        "Objects cannot be sorted by \(keyPath), which is \(bound.kind.name). Sort by a single "
          + "value, such as an attribute, a part or @count."
      ).with(entity: entity.name, keyPath: keyPath)
    default:
      return BoundSortKey(
        computing: bound.expression, text: keyPath, isAscending: isAscending, options: options,
        locale: locale)
    }
  }
}
