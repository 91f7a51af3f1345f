extension SortKey {
  /// Lesser values of an expression first: one of the predicate language that gives a single value.
  ///
  /// ```swift
  /// request.sortKeys = [.ascending(expression: "price * quantity"), "-lines.@count"]
  /// ```
  ///
  /// The expression is computed once for each object that a fetch looks at; no index has its order.
  /// With a limit only the best rows are kept. A text that is no expression, or gives no single
  /// value, throws from the fetch.
  ///
  /// - Parameters:
  ///   - expression: The expression's text, which ``keyPath`` then holds. Write no values of users
  ///     into it: pass them as arguments.
  ///   - options: How texts are ordered.
  public static func ascending(expression: String, options: Options = []) -> SortKey {
    SortKey(expression, isAscending: true, options: options)
  }

  /// Greater values of an expression first; see ``ascending(expression:options:)``.
  public static func descending(expression: String, options: Options = []) -> SortKey {
    SortKey(expression, isAscending: false, options: options)
  }

  /// Lesser values of an expression first, with arguments for its `%` specifications.
  ///
  /// ```swift
  /// let nearest = try SortKey.ascending(
  ///   expression: "distanceToLocation:fromLocation:({latitude, longitude}, %@)",
  ///   arguments: [[here.latitude, here.longitude]])
  /// ```
  ///
  /// - Parameters:
  ///   - format: The expression's text. `%@` and the numeric specifications of `printf` stand for
  ///     constants, `%K` for a key path. What it becomes with its arguments is ``keyPath``.
  ///   - arguments: One for each specification, in order; nil for the constant `nil`.
  ///   - options: How texts are ordered.
  /// - Throws: ``ArborError`` `invalidPredicate` with line and column where the text does not
  ///   parse, and where arguments and specifications differ in number.
  public static func ascending(
    expression format: String, arguments: [(any PredicateArgument)?], options: Options = []
  ) throws(ArborError) -> SortKey {
    let values = arguments.map { $0?.predicateValue ?? .null }
    return SortKey(
      try PredicateParser.expressionText(format, arguments: values), isAscending: true,
      options: options)
  }

  /// Greater values of an expression first, with arguments for its `%` specifications; see
  /// ``ascending(expression:arguments:options:)``.
  public static func descending(
    expression format: String, arguments: [(any PredicateArgument)?], options: Options = []
  ) throws(ArborError) -> SortKey {
    try .ascending(expression: format, arguments: arguments, options: options).reversed
  }
}

extension SortKey {
  /// Resolves what the key computes.
  ///
  /// - Returns: nil where the text is a mere path that leads to no single value; the code that
  ///   resolved it as a path knows better why.
  /// - Throws: ``ArborError`` `invalidPredicate` where the text does not parse or bind,
  ///   `invalidArgument` where it gives what has no order.
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
    case .object, .list, .many, .composite, .binary:
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
