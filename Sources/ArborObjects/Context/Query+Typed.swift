public import ArborModel
public import Foundation

/// Steps and results by what the compiler knows of a class: Foundation's predicates, and key paths.
extension Query {
  /// The objects that fulfil a typed condition too.
  ///
  /// ```swift
  /// let young = context.objects(Employee.self).filter(#Predicate { $0.age < 40 })
  /// ```
  ///
  /// What the store cannot express throws from the first result that is asked for, before anything
  /// is read; see ``FetchPredicate/init(_:)``.
  public func filter(_ predicate: Predicate<T>) -> Query { filter(Self.condition(predicate)) }

  /// The objects that do not fulfil a typed condition.
  public func exclude(_ predicate: Predicate<T>) -> Query { exclude(Self.condition(predicate)) }

  private static func condition(_ predicate: Predicate<T>) -> FetchPredicate {
    do throws(ArborError) { return try FetchPredicate(predicate) } catch {
      return FetchPredicate(failing: error)
    }
  }

  /// The least value of a property; nil where there is none.
  ///
  /// ```swift
  /// let youngest = try context.objects(Employee.self).minimum(\.age)   // Int?
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``minimum(_:)->Value?``; `invalidPredicate` for a key path that
  ///   is no path of modelled properties.
  public func minimum<V: AttributeValue>(_ keyPath: KeyPath<T, V>) throws(ArborError) -> V? {
    try minimum(T.propertyPath(of: keyPath))
  }

  /// The least value of an optional property; nil where there is none.
  ///
  /// - Throws: As for a property that is not optional.
  public func minimum<V: AttributeValue>(_ keyPath: KeyPath<T, V?>) throws(ArborError) -> V? {
    try minimum(T.propertyPath(of: keyPath))
  }

  /// The greatest value of a property; nil where there is none.
  ///
  /// - Throws: As ``minimum(_:)-(KeyPath<T,V>)``.
  public func maximum<V: AttributeValue>(_ keyPath: KeyPath<T, V>) throws(ArborError) -> V? {
    try maximum(T.propertyPath(of: keyPath))
  }

  /// The greatest value of an optional property; nil where there is none.
  ///
  /// - Throws: As ``minimum(_:)-(KeyPath<T,V>)``.
  public func maximum<V: AttributeValue>(_ keyPath: KeyPath<T, V?>) throws(ArborError) -> V? {
    try maximum(T.propertyPath(of: keyPath))
  }

  /// The sum of a property; 0 where there are no values.
  ///
  /// - Throws: As ``minimum(_:)-(KeyPath<T,V>)``; `typeMismatch` where the type has no room for it.
  public func sum<V: AttributeValue & AdditiveArithmetic>(
    _ keyPath: KeyPath<T, V>
  ) throws(ArborError) -> V {
    try sum(T.propertyPath(of: keyPath)) ?? .zero
  }

  /// The sum of an optional property; 0 where there are no values.
  ///
  /// - Throws: As for a property that is not optional.
  public func sum<V: AttributeValue & AdditiveArithmetic>(
    _ keyPath: KeyPath<T, V?>
  ) throws(ArborError) -> V {
    try sum(T.propertyPath(of: keyPath)) ?? .zero
  }

  /// The average of a property; nil where there are no values.
  ///
  /// - Throws: As ``minimum(_:)-(KeyPath<T,V>)``.
  public func average<V: AttributeValue & AdditiveArithmetic>(
    _ keyPath: KeyPath<T, V>
  ) throws(ArborError) -> Double? {
    try average(T.propertyPath(of: keyPath))
  }

  /// The average of an optional property; nil where there are no values.
  ///
  /// - Throws: As ``minimum(_:)-(KeyPath<T,V>)``.
  public func average<V: AttributeValue & AdditiveArithmetic>(
    _ keyPath: KeyPath<T, V?>
  ) throws(ArborError) -> Double? {
    try average(T.propertyPath(of: keyPath))
  }
  /// The number in the middle of a property's values; nil where there are no values.
  ///
  /// - Throws: As ``minimum(_:)-(KeyPath<T,V>)``.
  public func median<V: AttributeValue & AdditiveArithmetic>(
    _ keyPath: KeyPath<T, V>
  ) throws(ArborError) -> Double? {
    try median(T.propertyPath(of: keyPath))
  }

  /// The number in the middle of an optional property's values; nil where there are no values.
  ///
  /// - Throws: As ``minimum(_:)-(KeyPath<T,V>)``.
  public func median<V: AttributeValue & AdditiveArithmetic>(
    _ keyPath: KeyPath<T, V?>
  ) throws(ArborError) -> Double? {
    try median(T.propertyPath(of: keyPath))
  }

  /// The values that a property has most often, in their order.
  ///
  /// ```swift
  /// let usual = try context.objects(Employee.self).mode(\.age)   // [Int]
  /// ```
  ///
  /// - Throws: As ``minimum(_:)-(KeyPath<T,V>)``.
  public func mode<V: AttributeValue>(_ keyPath: KeyPath<T, V>) throws(ArborError) -> [V] {
    try mode(T.propertyPath(of: keyPath))
  }

  /// The values that an optional property has most often, nil not among them, in their order.
  ///
  /// - Throws: As ``minimum(_:)-(KeyPath<T,V>)``.
  public func mode<V: AttributeValue>(_ keyPath: KeyPath<T, V?>) throws(ArborError) -> [V] {
    try mode(T.propertyPath(of: keyPath))
  }

  /// The standard deviation of a property, that of the whole population; nil where there are no
  /// values.
  ///
  /// - Throws: As ``minimum(_:)-(KeyPath<T,V>)``.
  public func standardDeviation<V: AttributeValue & AdditiveArithmetic>(
    _ keyPath: KeyPath<T, V>
  ) throws(ArborError) -> Double? {
    try standardDeviation(T.propertyPath(of: keyPath))
  }

  /// The standard deviation of an optional property, that of the whole population; nil where there
  /// are no values.
  ///
  /// - Throws: As ``minimum(_:)-(KeyPath<T,V>)``.
  public func standardDeviation<V: AttributeValue & AdditiveArithmetic>(
    _ keyPath: KeyPath<T, V?>
  ) throws(ArborError) -> Double? {
    try standardDeviation(T.propertyPath(of: keyPath))
  }
}
