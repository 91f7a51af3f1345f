public import ArborModel
public import Foundation

extension SortKey {
  /// The direction of a sort key.
  public enum Direction: Sendable, Hashable {
    /// From small to large values. Nil sorts first.
    case ascending
    /// From large to small values.
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

  /// Creates a sort key from a Foundation sort descriptor.
  ///
  /// ```swift
  /// request.sortKeys = [SortKey(SortDescriptor(\Employee.name, order: .reverse))]
  /// ```
  ///
  /// If the descriptor has no key path of modeled properties or uses a string comparison that the
  /// store doesn't support, the fetch throws `invalidPredicate`.
  public init<Root: ManagedObject>(_ descriptor: SortDescriptor<Root>) {
    do throws(ArborError) { self = try Self.key(for: descriptor) } catch {
      self.init(failing: error)
    }
  }

  private static func key<Root: ManagedObject>(
    for descriptor: SortDescriptor<Root>
  ) throws(ArborError) -> SortKey {
    guard let keyPath = descriptor.keyPath else {
      throw ArborError(
        .invalidPredicate,
        "The sort descriptor sorts by a function, not a property. Use "
          + "SortDescriptor(\\\(Root.self).property), or a SortKey.")
    }
    if let comparator = descriptor.stringComparator, comparator != .lexical {
      throw ArborError(
        .invalidPredicate,
        "A store cannot sort strings by the comparator \(comparator). Use a SortKey with options "
          + "such as .localized or .numeric.")
    }
    return SortKey(
      try Root.propertyPath(of: keyPath), isAscending: descriptor.order == .forward)
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
