public import ArborModel
internal import Foundation

/// One value made of a query's objects, without making them. Of the limited objects where the query
/// has a limit or an offset.
///
/// Time in proportion to the objects that fulfil the filters; but ``minimum(_:)->Value?`` and
/// ``maximum(_:)->Value?`` look at the ends of an index where one has the attribute's order, see
/// ``ManagedObjectContext/aggregate(_:_:)``. ``explain(_:_:)`` says which way is taken.
///
/// Each is a ``Value``, or by context the Swift type that is wanted:
/// `let oldest: Int? = try query.maximum("age")`.
extension Query {
  /// The least value that a key path leads to; nil where there is none.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/aggregate(_:_:)``.
  public func minimum(_ keyPath: String) throws(ArborError) -> Value? {
    try value(.minimum(keyPath))
  }

  /// The greatest value that a key path leads to; nil where there is none.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/aggregate(_:_:)``.
  public func maximum(_ keyPath: String) throws(ArborError) -> Value? {
    try value(.maximum(keyPath))
  }

  /// The sum of the values that a key path leads to; 0 where there are none. A sum of whole numbers
  /// that 64 bits have no room for is a decimal.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/aggregate(_:_:)``.
  public func sum(_ keyPath: String) throws(ArborError) -> Value? { try value(.sum(keyPath)) }

  /// The average of the values that a key path leads to; nil where there are none. That of whole
  /// numbers is not truncated.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/aggregate(_:_:)``.
  public func average(_ keyPath: String) throws(ArborError) -> Value? {
    try value(.average(keyPath))
  }

  /// The number in the middle of the values that a key path leads to, of an even number of them the
  /// mean of the two; nil where there are none. The values are kept while they are looked at.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/aggregate(_:_:)``.
  public func median(_ keyPath: String) throws(ArborError) -> Value? { try value(.median(keyPath)) }

  /// The values that a key path leads to most often, in their order; none where there are none. The
  /// values are kept while they are looked at.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/aggregate(_:_:)``.
  public func mode(_ keyPath: String) throws(ArborError) -> [Value] {
    guard case .list(let modes)? = try value(.mode(keyPath)) else { return [] }
    return modes
  }

  /// The standard deviation of the values that a key path leads to, that of the whole population;
  /// nil where there are none. The values are kept while they are looked at.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/aggregate(_:_:)``.
  public func standardDeviation(_ keyPath: String) throws(ArborError) -> Value? {
    try value(.standardDeviation(keyPath))
  }

  /// The least value as a Swift type; nil where there is none.
  ///
  /// - Throws: As for a ``Value``; `typeMismatch` where the type has no room for it.
  @_disfavoredOverload
  public func minimum<V: AttributeValue>(_ keyPath: String) throws(ArborError) -> V? {
    try typed(.minimum(keyPath))
  }

  /// The greatest value as a Swift type; nil where there is none.
  ///
  /// - Throws: As for a ``Value``; `typeMismatch` where the type has no room for it.
  @_disfavoredOverload
  public func maximum<V: AttributeValue>(_ keyPath: String) throws(ArborError) -> V? {
    try typed(.maximum(keyPath))
  }

  /// The sum as a Swift type.
  ///
  /// - Throws: As for a ``Value``; `typeMismatch` where the type has no room for it.
  @_disfavoredOverload
  public func sum<V: AttributeValue>(_ keyPath: String) throws(ArborError) -> V? {
    try typed(.sum(keyPath))
  }

  /// The average as a Swift type; nil where there is none.
  ///
  /// - Throws: As for a ``Value``; `typeMismatch` where the type has no room for it.
  @_disfavoredOverload
  public func average<V: AttributeValue>(_ keyPath: String) throws(ArborError) -> V? {
    try typed(.average(keyPath))
  }

  /// The number in the middle as a Swift type; nil where there is none.
  ///
  /// - Throws: As for a ``Value``; `typeMismatch` where the type has no room for it.
  @_disfavoredOverload
  public func median<V: AttributeValue>(_ keyPath: String) throws(ArborError) -> V? {
    try typed(.median(keyPath))
  }

  /// The most frequent values as Swift values.
  ///
  /// - Throws: As for a ``Value``; `typeMismatch` where the type has no room for one of them.
  @_disfavoredOverload
  public func mode<V: AttributeValue>(_ keyPath: String) throws(ArborError) -> [V] {
    var modes: [V] = []
    for value in try mode(keyPath) as [Value] { modes.append(try typed(value, .mode(keyPath))) }
    return modes
  }

  /// The standard deviation as a Swift type; nil where there are no values.
  ///
  /// - Throws: As for a ``Value``; `typeMismatch` where the type has no room for it.
  @_disfavoredOverload
  public func standardDeviation<V: AttributeValue>(_ keyPath: String) throws(ArborError) -> V? {
    try typed(.standardDeviation(keyPath))
  }

  /// One value by the name of its function: `sum`, `average` or `avg`, `minimum` or `min`,
  /// `maximum` or `max`, `count`, `median`, `stddev`; nil where there is none. `mode` gives a list.
  ///
  /// ```swift
  /// let mean = try query.aggregate("average", "salary")
  /// ```
  ///
  /// - Throws: ``ArborError`` `unknownName` for another name, and as
  ///   ``ManagedObjectContext/aggregate(_:_:)``.
  public func aggregate(_ function: String, _ keyPath: String) throws(ArborError) -> Value? {
    try value(named(function, keyPath))
  }

  /// One value by the name of its function, as a Swift type.
  ///
  /// - Throws: As for a ``Value``; `typeMismatch` where the type has no room for it.
  @_disfavoredOverload
  public func aggregate<V: AttributeValue>(
    _ function: String, _ keyPath: String
  ) throws(ArborError) -> V? {
    try typed(named(function, keyPath))
  }

  /// Several values in one pass over the objects, in the order of the aggregates.
  ///
  /// ```swift
  /// let figures = try query.aggregates(.count, .sum("salary"), .average("salary"))
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/aggregate(_:_:)``.
  public func aggregates(_ aggregates: Aggregate...) throws(ArborError) -> [Value] {
    try context.aggregate(request, aggregates)
  }

  private func named(_ function: String, _ keyPath: String) throws(ArborError) -> Aggregate {
    guard let known = Aggregate.Function(named: function) else {
      let names = Aggregate.Function.allCases.map(\.rawValue)
      throw ArborError(
        .unknownName,
        "There is no aggregate \(function); use one of \(names.joined(separator: ", "))."
          + NearestName.hint(function, in: names))
    }
    return Aggregate(known, keyPath)
  }

  private func value(_ aggregate: Aggregate) throws(ArborError) -> Value? {
    let value = try context.aggregate(request, [aggregate]).first
    // Written without `nil`, which a value reads as null.
    return value?.isNull ?? true ? Value?.none : value
  }

  private func typed<V: AttributeValue>(_ aggregate: Aggregate) throws(ArborError) -> V? {
    guard let value = try value(aggregate) else { return nil }
    return try typed(value, aggregate)
  }

  private func typed<V: AttributeValue>(
    _ value: Value, _ aggregate: Aggregate
  ) throws(ArborError) -> V {
    if let typed = V.fromNumber(value) { return typed }
    throw ArborError(
      .typeMismatch,
      "The \(aggregate.function.rawValue) of \(aggregate.keyPath ?? "objects") cannot be had as "
        + "\(V.self); ask for it as a Value, or as a type with room for it."
    ).with(entity: request.entity, keyPath: aggregate.keyPath, offending: "\(value)")
  }
}

extension AttributeValue {
  /// The Swift value of a dynamic one, where need be as a number of another type that is worth the
  /// same, or nearly the same where it is a floating-point number.
  static func fromNumber(_ value: Value) -> Self? {
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
