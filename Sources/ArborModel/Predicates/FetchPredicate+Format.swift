extension FetchPredicate {
  /// Creates a predicate from a format string and arguments for its `%` specifiers.
  ///
  /// ```swift
  /// try FetchPredicate(format: "age > %@ AND %K BEGINSWITH[cd] %@", 40, "name", "M")
  /// ```
  ///
  /// - Parameters:
  ///   - format: The format string. `%@` and the numeric specifiers of `printf` represent
  ///     constants, and `%K` represents a key path.
  ///   - limits: The limits for the text. Use `.untrusted` for text from outside the program.
  ///   - arguments: One argument for each specifier, in order.
  /// - Throws: ``ArborError`` `invalidPredicate`, with line and column if the text is malformed, or
  ///   if the number of arguments doesn't match the number of specifiers.
  public init(
    format: String, limits: PredicateLimits = .standard,
    _ arguments: (any PredicateArgument)?...
  ) throws(ArborError) {
    try self.init(format: format, limits: limits, arguments: arguments)
  }

  /// Creates a predicate from a format string and an array of arguments for its `%` specifiers.
  ///
  /// See ``init(format:limits:_:)``.
  public init(
    format: String, limits: PredicateLimits = .standard, arguments: [(any PredicateArgument)?]
  ) throws(ArborError) {
    let shape = PredicateCache.shape(
      of: PredicateSegments(first: format), isFormat: true, limits: limits)
    let values = arguments.map { $0?.predicateValue ?? .null }
    try self.init(format: shape, values: values)
  }

  private init(format shape: ParsedPredicate, values: [PropertyValue]) throws(ArborError) {
    if case .failure(let error) = shape.outcome { throw error }
    guard values.count == shape.argumentCount else {
      let placeholders = shape.argumentCount == 1 ? "placeholder" : "placeholders"
      let arguments = values.count == 1 ? "argument" : "arguments"
      throw ArborError(
        .invalidPredicate,
        "The format has \(shape.argumentCount) \(placeholders) but \(values.count) \(arguments). "
          + "Pass one argument for each placeholder.")
    }
    guard !shape.pathArguments.isEmpty else {
      self.init(shape: shape, arguments: values)
      return
    }
    var keyPaths: [String] = []
    for index in shape.pathArguments {
      guard case .string(let keyPath) = values[index] else {
        throw ArborError(
          .invalidPredicate,
          "The argument for %K is not a string. Pass a key path, such as \"company.name\".")
      }
      keyPaths.append(keyPath)
    }
    let constants = values.indices.filter { !shape.pathArguments.contains($0) }.map { values[$0] }
    self.init(shape: shape.resolvingPaths(keyPaths), arguments: constants)
  }
}
