public import ArborModel

extension SortKey {
  /// The direction of a sort key.
  public enum Direction: Sendable, Hashable {
    /// From the smallest to the largest value. `nil` sorts first.
    case ascending
    /// From the largest to the smallest value.
    case descending
  }

  /// Creates a sort key from a property of a typed class or of a related object.
  ///
  /// ```swift
  /// request.sortKeys = [
  ///   SortKey(\Employee.company?.name, options: .caseInsensitive),
  ///   SortKey(\Employee.age, .descending),
  /// ]
  /// ```
  ///
  /// If the key path isn't a path of properties in the class's `entityDescription`, the fetch
  /// throws `invalidPredicate`.
  public init<Root: ManagedObject, Property>(
    _ keyPath: KeyPath<Root, Property>, _ direction: Direction = .ascending, options: Options = []
  ) {
    self.init(keyPath as PartialKeyPath<Root>, direction, options: options)
  }

  init<Root: ManagedObject>(
    _ keyPath: PartialKeyPath<Root>, _ direction: Direction, options: Options
  ) {
    do throws(ArborError) {
      self.init(
        try Root.propertyPath(of: keyPath), isAscending: direction == .ascending, options: options)
    } catch { self.init(failing: error) }
  }

  /// Returns a sort key that sorts by a property in ascending order. See ``init(_:_:options:)``.
  public static func ascending<Root: ManagedObject, Property>(
    _ keyPath: KeyPath<Root, Property>, options: Options = []
  ) -> SortKey {
    SortKey(keyPath, .ascending, options: options)
  }

  /// Returns a sort key that sorts by a property in descending order. See ``init(_:_:options:)``.
  public static func descending<Root: ManagedObject, Property>(
    _ keyPath: KeyPath<Root, Property>, options: Options = []
  ) -> SortKey {
    SortKey(keyPath, .descending, options: options)
  }
}

extension GroupLimit {
  /// Creates a group limit with a property of a typed class.
  ///
  /// ```swift
  /// request.limitPerGroup = GroupLimit(3, per: \City.country, by: [.descending(\City.population)])
  /// ```
  public init<Root: ManagedObject, Property>(
    _ count: Int, per keyPath: KeyPath<Root, Property>, by sortKeys: [SortKey] = []
  ) {
    self.init(count, per: SortKey(keyPath), by: sortKeys)
  }
}
