/// An aggregate: a function of the values of a key path over many objects.
///
/// `nil` values are ignored: the count of a key path is the number of values that aren't `nil`.
/// Without values, the count and the sum are 0, the mode is an empty list, and all other aggregates
/// are `nil`.
package struct AggregateExpression: Sendable, Hashable {
  package enum Function: String, Sendable, Hashable, CaseIterable {
    case count, sum, average, minimum, maximum, median, mode, standardDeviation

    /// Creates the function with one of its names: the library's, Core Data's or SQL's, with an
    /// optional `@` or colon, such as `min:`, `avg` or `@sum`. Returns `nil` for an unknown name.
    package init?(named name: String) {
      var name = name.lowercased()
      if name.hasPrefix("@") { name.removeFirst() }
      if name.hasSuffix(":") { name.removeLast() }
      switch name {
      case "count": self = .count
      case "sum": self = .sum
      case "average", "avg", "mean": self = .average
      case "minimum", "min": self = .minimum
      case "maximum", "max": self = .maximum
      case "median": self = .median
      case "mode": self = .mode
      case "standarddeviation", "stddev": self = .standardDeviation
      default: return nil
      }
    }
  }

  package var function: Function
  /// The key path to aggregate, or `nil` for the objects themselves, which can only be counted.
  package var keyPath: String?
  /// Whether duplicate values are ignored.
  package var isDistinct: Bool

  package init(_ function: Function, _ keyPath: String? = nil, isDistinct: Bool = false) {
    self.function = function
    self.keyPath = keyPath
    self.isDistinct = isDistinct
  }

  package static let count = AggregateExpression(.count)

  package static func count(_ keyPath: String) -> Self { Self(.count, keyPath) }
  package static func countDistinct(_ keyPath: String) -> Self {
    Self(.count, keyPath, isDistinct: true)
  }
  package static func sum(_ keyPath: String) -> Self { Self(.sum, keyPath) }
  package static func average(_ keyPath: String) -> Self { Self(.average, keyPath) }
  package static func minimum(_ keyPath: String) -> Self { Self(.minimum, keyPath) }
  package static func maximum(_ keyPath: String) -> Self { Self(.maximum, keyPath) }
  package static func median(_ keyPath: String) -> Self { Self(.median, keyPath) }
  package static func mode(_ keyPath: String) -> Self { Self(.mode, keyPath) }
  package static func standardDeviation(_ keyPath: String) -> Self {
    Self(.standardDeviation, keyPath)
  }
}

/// An aggregate with its key path resolved for an entity.
package struct BoundAggregate: Sendable {
  package enum Source: Sendable {
    /// The objects themselves, which can only be counted.
    case objects
    case path(BoundPath)
    /// An expression to compute for each object.
    case expression(BoundExpression)
  }

  package let function: AggregateExpression.Function
  package let source: Source
  /// The key path as written. It identifies the source.
  package let text: String
  package let isDistinct: Bool
}

extension AggregateExpression {
  /// Resolves the key path.
  ///
  /// - Throws: ``ArborError`` `unknownName` if a name is unknown, `invalidArgument` if the path has
  ///   several values or is required but missing, `typeMismatch` if the function is not defined for
  ///   the property's type, or `invalidPredicate` if an expression is malformed or cannot be bound.
  package func bind(
    to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundAggregate {
    guard let keyPath else {
      guard function == .count, !isDistinct else {
        throw ArborError(
          .invalidArgument,
          "\(function.rawValue) requires a key path. Pass the attribute to aggregate."
        ).with(entity: entity.name)
      }
      return BoundAggregate(function: function, source: .objects, text: "", isDistinct: false)
    }
    let source = try source(keyPath, of: entity, in: schema)
    return BoundAggregate(function: function, source: source, text: keyPath, isDistinct: isDistinct)
  }

  private func source(
    _ keyPath: String, of entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundAggregate.Source {
    if keyPath.utf8.allSatisfy(\.isOfPlainPath) {
      let path: BoundPath
      do throws(ArborError) {
        path = try KeyPathBinder.bind(keyPath, to: entity, in: schema)
      } catch {
        guard KeyPathBinder.leadsIntoParts(keyPath, of: entity, in: schema) else { throw error }
        return try expression(keyPath, of: entity, in: schema)
      }
      let kind = ValueKind(path.leaf)
      guard function.isDefined(for: kind) else { throw undefined(keyPath, entity, kind) }
      // Values that may be stored outside the record require a reader.
      if !path.leaf.isExternal { return .path(path) }
    }
    return try expression(keyPath, of: entity, in: schema)
  }

  private func expression(
    _ keyPath: String, of entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundAggregate.Source {
    let parsed = try PredicateParser.column(keyPath)
    guard parsed.name == nil else {
      throw ArborError(
        .invalidArgument, "An aggregate cannot have a name here. Remove AS and the name."
      ).with(entity: entity.name, keyPath: keyPath)
    }
    let bound = try PredicateBinder.bind(parsed.expression, to: entity, in: schema)
    guard function.isDefined(for: bound.kind) else {
      throw undefined(keyPath, entity, bound.kind)
    }
    return .expression(bound.expression)
  }

  private func undefined(
    _ keyPath: String, _ entity: EntitySchema, _ kind: ValueKind
  ) -> ArborError {
    ArborError(
      .typeMismatch,
      "\(function.rawValue) cannot be computed for \(entity.name).\(keyPath), which is "
        + "\(kind.name). Aggregate a number instead."
    ).with(entity: entity.name, keyPath: keyPath)
  }
}

extension AggregateExpression.Function {
  /// Whether all values must be kept in memory.
  package var takesAllValues: Bool {
    switch self {
    case .count, .sum, .average, .minimum, .maximum: false
    case .median, .mode, .standardDeviation: true
    }
  }

  /// Creates the function that corresponds to one of the predicate language, or returns `nil` if
  /// that isn't an aggregate.
  package init?(_ function: PredicateFunction) {
    switch function {
    case .count: self = .count
    case .sum: self = .sum
    case .average: self = .average
    case .min: self = .minimum
    case .max: self = .maximum
    case .median: self = .median
    case .mode: self = .mode
    case .stddev: self = .standardDeviation
    default: return nil
    }
  }

  /// Returns whether the function is defined for values of a kind.
  fileprivate func isDefined(for kind: ValueKind) -> Bool {
    switch (kind, self) {
    case (.number, _), (.any, _): true
    case (.list, _), (.many, _): false
    case (_, .count): true
    case (.object, _), (.composite, _): false
    case (_, .minimum), (_, .maximum), (_, .mode): true
    case (_, .average): kind == .date
    case (_, .sum), (_, .median), (_, .standardDeviation): false
    }
  }
}
