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
  /// request.sortKeys = try [
  ///   SortKey(\Employee.company?.name, options: .caseInsensitive),
  ///   SortKey(\Employee.age, .descending),
  /// ]
  /// ```
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where the key path is no path of properties that
  ///   the class's `entityDescription` names.
  public init<Root: ManagedObject, Property>(
    _ keyPath: KeyPath<Root, Property>, _ direction: Direction = .ascending, options: Options = []
  ) throws(ArborError) {
    self.init(
      try Root.propertyPath(of: keyPath), isAscending: direction == .ascending, options: options)
  }

  /// Lesser values of a property first; see ``init(_:_:options:)``.
  public static func ascending<Root: ManagedObject, Property>(
    _ keyPath: KeyPath<Root, Property>, options: Options = []
  ) throws(ArborError) -> SortKey {
    try SortKey(keyPath, .ascending, options: options)
  }

  /// Greater values of a property first; see ``init(_:_:options:)``.
  public static func descending<Root: ManagedObject, Property>(
    _ keyPath: KeyPath<Root, Property>, options: Options = []
  ) throws(ArborError) -> SortKey {
    try SortKey(keyPath, .descending, options: options)
  }

  /// Orders as Foundation's descriptor does.
  ///
  /// ```swift
  /// request.sortKeys = try [SortKey(SortDescriptor(\Employee.name, order: .reverse))]
  /// ```
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where the descriptor has no key path of modelled
  ///   properties, or orders texts in a way that a store has none for.
  public init<Root: ManagedObject>(_ descriptor: SortDescriptor<Root>) throws(ArborError) {
    guard let keyPath = descriptor.keyPath else {
      throw ArborError(
        .invalidPredicate,
        "The sort descriptor orders by a function rather than a property; "
          + "use SortDescriptor(\\\(Root.self).property), or a SortKey.")
    }
    if let comparator = descriptor.stringComparator, comparator != .lexical {
      throw ArborError(
        .invalidPredicate,
        "A store does not order texts by the comparator \(comparator); "
          + "use a SortKey with options such as .localized or .numeric.")
    }
    self.init(try Root.propertyPath(of: keyPath), isAscending: descriptor.order == .forward)
  }
}
