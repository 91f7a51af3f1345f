internal import ArborFoundation
public import ArborModel

extension ObjectQuery {
  /// A value computed over a query's objects without creating them: a count, sum, minimum, maximum
  /// or statistic.
  ///
  /// ```swift
  /// let employees = context.objects(Employee.self).filter(#Predicate { $0.age > 40 })
  /// let oldest = try employees.value(of: .maximum(\.age))                       // Int?
  /// let paid: Decimal? = try employees.value(of: .sum("salary"))
  /// let (people, mean) = try employees.values(of: .count, .average(\.salary))   // one pass
  /// ```
  ///
  /// A property is a key path of the class, or a string: a key path or an expression of the
  /// predicate language. The result of a string is a ``PropertyValue``, or the Swift type inferred
  /// from the context.
  ///
  /// Nil values are skipped: a count of a property is the number of its non-`nil` values. Without
  /// any values the sum is 0, the mode is an empty list and everything else is `nil`. A sum of
  /// integers that overflows 64 bits is a decimal. An average of integers is a floating-point
  /// number. If the query has a limit or an offset, only the objects within it are counted.
  ///
  /// - Complexity: Proportional to the number of matching objects. Minima and maxima read only the
  ///   end of an index with the property's order if there is one. Memory is constant, except that
  ///   median, mode and standard deviation keep all values, and counts of distinct values keep the
  ///   distinct ones.
  public struct Aggregate<Result> {
    let expression: AggregateExpression
    /// The error to throw when the value is requested, or `nil` if the expression is valid.
    let failure: ArborError?
    let result: (AggregateResult) throws(ArborError) -> Result

    init(
      _ function: AggregateExpression.Function, _ keyPath: String? = nil, isDistinct: Bool = false,
      failure: ArborError? = nil,
      _ result: @escaping (AggregateResult) throws(ArborError) -> Result
    ) {
      expression = AggregateExpression(function, keyPath, isDistinct: isDistinct)
      self.failure = failure
      self.result = result
    }
  }

  /// Computes one value over the objects. See ``Aggregate``.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``; also `typeMismatch` if the
  ///   function isn't defined for the property, or the result type cannot hold the value;
  ///   `invalidPredicate` if a key path isn't a path of modeled properties.
  public func value<Result>(of aggregate: Aggregate<Result>) throws(ArborError) -> Result {
    if let failure = aggregate.failure { throw failure }
    let value = try context.aggregate(request, [aggregate.expression])[0]
    return try aggregate.result(AggregateResult(value, aggregate.expression, request.entity))
  }

  /// Computes several values in one pass over the objects, in the order of the aggregates.
  ///
  /// ```swift
  /// let (people, total, mean) = try query.values(of: .count, .sum(\.salary), .average(\.salary))
  /// ```
  ///
  /// - Throws: The same errors as ``value(of:)``.
  public func values<each Result>(
    of aggregates: repeat Aggregate<each Result>
  ) throws(ArborError) -> (repeat each Result) {
    var expressions: [AggregateExpression] = []
    for aggregate in repeat each aggregates {
      if let failure = aggregate.failure { throw failure }
      expressions.append(aggregate.expression)
    }
    var values = try context.aggregate(request, expressions)[...]
    func next<R>(_ aggregate: Aggregate<R>) throws(ArborError) -> R {
      let value = values.removeFirst()
      return try aggregate.result(AggregateResult(value, aggregate.expression, request.entity))
    }
    return (repeat try next(each aggregates))
  }

  /// Returns the plan that the store would use to compute values over the objects.
  ///
  /// ```swift
  /// print(try query.explain(valuesOf: .minimum(\.age)))
  /// // aggregate minimum age
  /// // └ index Employee.age: first key · about 1 row
  /// ```
  ///
  /// - Throws: The same errors as ``value(of:)``.
  public func explain<each Result>(
    valuesOf aggregates: repeat Aggregate<each Result>
  ) throws(ArborError) -> QueryPlan {
    var expressions: [AggregateExpression] = []
    for aggregate in repeat each aggregates {
      if let failure = aggregate.failure { throw failure }
      expressions.append(aggregate.expression)
    }
    return try context.explain(request, expressions)
  }
}

// MARK: By key paths

extension ObjectQuery.Aggregate {
  /// Counts the objects with a non-`nil` value at the key path.
  public static func count(_ keyPath: PartialKeyPath<T>) -> Self where Result == Int {
    Self(.count, keyPath) { result throws(ArborError) in try result.optional() ?? 0 }
  }

  /// Counts the distinct values of a property.
  public static func countDistinct(_ keyPath: PartialKeyPath<T>) -> Self where Result == Int {
    Self(.count, keyPath, isDistinct: true) { result throws(ArborError) in
      try result.optional() ?? 0
    }
  }

  /// Computes the minimum of a property, or `nil` if there are no values.
  public static func minimum<V: AttributeValue>(
    _ keyPath: KeyPath<T, V>
  ) -> Self where Result == V.Unwrapped? {
    Self(.minimum, keyPath) { result throws(ArborError) in try result.optional() }
  }

  /// Computes the maximum of a property, or `nil` if there are no values.
  public static func maximum<V: AttributeValue>(
    _ keyPath: KeyPath<T, V>
  ) -> Self where Result == V.Unwrapped? {
    Self(.maximum, keyPath) { result throws(ArborError) in try result.optional() }
  }

  /// Computes the sum of a property, or 0 if there are no values.
  public static func sum<V: AttributeValue>(
    _ keyPath: KeyPath<T, V>
  ) -> Self where Result == V.Unwrapped, V.Unwrapped: AdditiveArithmetic {
    Self(.sum, keyPath) { result throws(ArborError) in try result.optional() ?? .zero }
  }

  /// Computes the average of a property, or `nil` if there are no values. The average of decimals
  /// is a decimal.
  public static func average<V: AttributeValue>(
    _ keyPath: KeyPath<T, V>
  ) -> Self where Result == V.Unwrapped.Average?, V.Unwrapped: AdditiveArithmetic {
    Self(.average, keyPath) { result throws(ArborError) in try result.optional() }
  }

  /// Computes the median of a property, or `nil` if there are no values. The median of decimals is
  /// a decimal.
  public static func median<V: AttributeValue>(
    _ keyPath: KeyPath<T, V>
  ) -> Self where Result == V.Unwrapped.Average?, V.Unwrapped: AdditiveArithmetic {
    Self(.median, keyPath) { result throws(ArborError) in try result.optional() }
  }

  /// Computes the population standard deviation of a property, or `nil` if there are no values.
  public static func standardDeviation<V: AttributeValue>(
    _ keyPath: KeyPath<T, V>
  ) -> Self where Result == Double?, V.Unwrapped: AdditiveArithmetic {
    Self(.standardDeviation, keyPath) { result throws(ArborError) in try result.optional() }
  }

  /// Computes the most frequent values of a property, sorted.
  public static func mode<V: AttributeValue>(
    _ keyPath: KeyPath<T, V>
  ) -> Self where Result == [V.Unwrapped] {
    Self(.mode, keyPath) { result throws(ArborError) in try result.list() }
  }

  /// Resolves a key path to names when the aggregate is created. An error is thrown when the value
  /// is requested.
  private init(
    _ function: AggregateExpression.Function, _ keyPath: PartialKeyPath<T>,
    isDistinct: Bool = false,
    _ result: @escaping (AggregateResult) throws(ArborError) -> Result
  ) {
    do throws(ArborError) {
      self.init(
        function, try T.propertyPath(of: keyPath), isDistinct: isDistinct, result)
    } catch { self.init(function, failure: error, result) }
  }
}

// MARK: By strings

extension ObjectQuery.Aggregate where Result == Int {
  /// The number of objects.
  public static var count: Self {
    Self(.count) { result throws(ArborError) in try result.optional() ?? 0 }
  }
}

extension ObjectQuery.Aggregate {
  /// Counts the objects with a non-`nil` value at the key path.
  public static func count(_ keyPath: String) -> Self where Result == Int {
    Self(.count, keyPath) { result throws(ArborError) in try result.optional() ?? 0 }
  }

  /// Counts the distinct values.
  public static func countDistinct(_ keyPath: String) -> Self where Result == Int {
    Self(.count, keyPath, isDistinct: true) { result throws(ArborError) in
      try result.optional() ?? 0
    }
  }

  /// Computes the minimum, or `nil` if there are no values.
  public static func minimum(_ keyPath: String) -> Self where Result == PropertyValue? {
    Self(.minimum, keyPath) { $0.optionalValue }
  }

  /// Computes the minimum as a Swift type, or `nil` if there are no values.
  @_disfavoredOverload
  public static func minimum<V: AttributeValue>(_ keyPath: String) -> Self where Result == V? {
    Self(.minimum, keyPath) { result throws(ArborError) in try result.optional() }
  }

  /// Computes the maximum, or `nil` if there are no values.
  public static func maximum(_ keyPath: String) -> Self where Result == PropertyValue? {
    Self(.maximum, keyPath) { $0.optionalValue }
  }

  /// Computes the maximum as a Swift type, or `nil` if there are no values.
  @_disfavoredOverload
  public static func maximum<V: AttributeValue>(_ keyPath: String) -> Self where Result == V? {
    Self(.maximum, keyPath) { result throws(ArborError) in try result.optional() }
  }

  /// Computes the sum, or 0 if there are no values.
  public static func sum(_ keyPath: String) -> Self where Result == PropertyValue? {
    Self(.sum, keyPath) { $0.optionalValue }
  }

  /// Computes the sum as a Swift type, or 0 if there are no values.
  @_disfavoredOverload
  public static func sum<V: AttributeValue>(_ keyPath: String) -> Self where Result == V? {
    Self(.sum, keyPath) { result throws(ArborError) in try result.optional() }
  }

  /// Computes the average, or `nil` if there are no values.
  public static func average(_ keyPath: String) -> Self where Result == PropertyValue? {
    Self(.average, keyPath) { $0.optionalValue }
  }

  /// Computes the average as a Swift type, or `nil` if there are no values.
  @_disfavoredOverload
  public static func average<V: AttributeValue>(_ keyPath: String) -> Self where Result == V? {
    Self(.average, keyPath) { result throws(ArborError) in try result.optional() }
  }

  /// Computes the median, or `nil` if there are no values.
  public static func median(_ keyPath: String) -> Self where Result == PropertyValue? {
    Self(.median, keyPath) { $0.optionalValue }
  }

  /// Computes the median as a Swift type, or `nil` if there are no values.
  @_disfavoredOverload
  public static func median<V: AttributeValue>(_ keyPath: String) -> Self where Result == V? {
    Self(.median, keyPath) { result throws(ArborError) in try result.optional() }
  }

  /// Computes the population standard deviation, or `nil` if there are no values.
  public static func standardDeviation(_ keyPath: String) -> Self where Result == PropertyValue? {
    Self(.standardDeviation, keyPath) { $0.optionalValue }
  }

  /// Computes the population standard deviation as a Swift type, or `nil` if there are no values.
  @_disfavoredOverload
  public static func standardDeviation<V: AttributeValue>(_ keyPath: String) -> Self
  where Result == V? {
    Self(.standardDeviation, keyPath) { result throws(ArborError) in try result.optional() }
  }

  /// Computes the most frequent values, sorted.
  public static func mode(_ keyPath: String) -> Self where Result == [PropertyValue] {
    Self(.mode, keyPath) { $0.values }
  }

  /// Computes the most frequent values as a Swift type, sorted.
  @_disfavoredOverload
  public static func mode<V: AttributeValue>(_ keyPath: String) -> Self where Result == [V] {
    Self(.mode, keyPath) { result throws(ArborError) in try result.list() }
  }

  /// Computes a value with a named function: `sum`, `average` or `avg`, `minimum` or `min`,
  /// `maximum` or `max`, `count`, `median`, `mode` or `stddev`. The result is `nil` if there are no
  /// values. With another name, requesting the value throws `unknownName`.
  ///
  /// ```swift
  /// let mean = try query.value(of: .function("average", of: "salary"))
  /// ```
  public static func function(_ name: String, of keyPath: String) -> Self
  where Result == PropertyValue? {
    guard let function = AggregateExpression.Function(named: name) else {
      let names = AggregateExpression.Function.allCases.map(\.rawValue)
      let error = ArborError(
        .unknownName,
        "There is no aggregate function \"\(name)\". Use one of \(names.joined(separator: ", "))."
          + NearestName.hint(name, in: names))
      return Self(.count, failure: error) { $0.optionalValue }
    }
    return Self(function, keyPath) { $0.optionalValue }
  }
}

/// A computed value to be converted to a Swift type.
struct AggregateResult {
  private let value: PropertyValue
  private let expression: AggregateExpression
  private let entity: String?

  init(_ value: PropertyValue, _ expression: AggregateExpression, _ entity: String?) {
    self.value = value
    self.expression = expression
    self.entity = entity
  }

  // `PropertyValue?.none`, because a `nil` literal would be inferred as `.null`.
  var optionalValue: PropertyValue? { value.isNull ? PropertyValue?.none : value }

  var values: [PropertyValue] { if case .list(let values) = value { values } else { [] } }

  func optional<V: AttributeValue>() throws(ArborError) -> V? {
    value.isNull ? V?.none : try typed(value)
  }

  func list<V: AttributeValue>() throws(ArborError) -> [V] {
    var typed: [V] = []
    for value in values { typed.append(try self.typed(value)) }
    return typed
  }

  private func typed<V: AttributeValue>(_ value: PropertyValue) throws(ArborError) -> V {
    if let typed = V.fromNumber(value) { return typed }
    throw ArborError(
      .typeMismatch,
      "The \(expression.function.rawValue) of \(expression.keyPath ?? "objects") cannot be read as "
        + "\(V.self). Read it as a PropertyValue, or as a type that can hold it."
    ).with(entity: entity, keyPath: expression.keyPath, offending: "\(value)")
  }
}

extension AttributeValue {
  /// Returns a dynamic value as this type, or `nil` if it doesn't fit. Numbers are converted
  /// between numeric types if the value is preserved, approximately for floating-point types.
  static func fromNumber(_ value: PropertyValue) -> Self? {
    if let typed = fromValue(value) { return typed }
    switch value {
    case .integer(let number):
      return fromValue(.decimal(Decimal(number))) ?? fromValue(.double(Double(number)))
    case .double(let number):
      return Int64(exactly: number).flatMap { fromValue(.integer($0)) }
        ?? Decimal(string: "\(number)").flatMap { fromValue(.decimal($0)) }
    case .decimal(let number):
      return Int64(number.description).flatMap { fromValue(.integer($0)) }
        ?? fromValue(.double(number.approximation))
    default: return nil
    }
  }
}
