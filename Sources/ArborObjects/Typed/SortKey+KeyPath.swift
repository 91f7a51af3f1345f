public import ArborModel
public import Foundation

extension SortKey {
  /// Which values come first.
  public enum Direction: Sendable, Hashable {
    /// Lesser values; nil is the least.
    case ascending
    /// Greater values.
    case descending
  }

  /// Orders by a property of a typed class, or of an object it leads to.
  ///
  /// ```swift
  /// request.sortKeys = [
  ///   SortKey(\Employee.company?.name, options: .caseInsensitive),
  ///   SortKey(\Employee.age, .descending),
  /// ]
  /// ```
  ///
  /// A key path that isn't a path of properties in the class's `entityDescription` makes the fetch
  /// throw `invalidPredicate`.
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

  /// Lesser values of a property first; see ``init(_:_:options:)``.
  public static func ascending<Root: ManagedObject, Property>(
    _ keyPath: KeyPath<Root, Property>, options: Options = []
  ) -> SortKey {
    SortKey(keyPath, .ascending, options: options)
  }

  /// Greater values of a property first; see ``init(_:_:options:)``.
  public static func descending<Root: ManagedObject, Property>(
    _ keyPath: KeyPath<Root, Property>, options: Options = []
  ) -> SortKey {
    SortKey(keyPath, .descending, options: options)
  }

  /// Orders as Foundation's descriptor does.
  ///
  /// ```swift
  /// request.sortKeys = [SortKey(SortDescriptor(\Employee.name, order: .reverse))]
  /// ```
  ///
  /// A descriptor that has no key path of modelled properties, or compares strings in a way that
  /// stores don't, makes the fetch throw `invalidPredicate`.
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
  /// Describes a limit by a property of a typed class.
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
