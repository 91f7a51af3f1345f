public import ArborFoundation
public import ArborModel

/// Objects captured by a typed predicate.
///
/// ```swift
/// let inFeed = #Predicate<Episode> { $0.feed == feed }
/// let inFeeds = #Predicate<Episode> { feeds.contains($0.feed) }
/// ```
///
/// A predicate can be passed to another task, but objects cannot, so the expression contains their
/// IDs. It can only be evaluated by a store. ``FetchPredicate/matches(_:)`` evaluates it for one
/// object.
public struct ObjectConstant<Output>: StandardPredicateExpression {
  /// The ID of an object, or the IDs of a collection.
  let ids: [ObjectID?]
  private let isCollection: Bool

  fileprivate init(ids: [ObjectID?], isCollection: Bool) {
    self.ids = ids
    self.isCollection = isCollection
  }

  /// Throws `notAllowed`, because the expression contains only the IDs of its objects.
  public func evaluate(_ bindings: PredicateBindings) throws -> Output {
    throw ArborError(
      .notAllowed,
      "A #Predicate that captures an object cannot be evaluated directly. Fetch with it, or use "
        + "FetchPredicate(predicate).matches(object).")
  }
}

extension ObjectConstant: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let values = ids.map { $0.map(PropertyValue.objectID) ?? .null }
    return .value(translation.constant(isCollection ? .list(values) : values[0]))
  }
}

/// An object, an optional object, or a collection of these, captured by a typed predicate.
@_documentation(visibility: internal)
public protocol PredicateObjects {
  /// The IDs of the objects, which the predicate stores instead of the objects.
  var _objectIDs: [ObjectID?] { get }
  /// Whether the value is a collection.
  static var _isCollection: Bool { get }
}

extension PredicateObjects {
  /// Always `false`.
  @_documentation(visibility: internal)
  public static var _isCollection: Bool { false }
}

extension ManagedObject: PredicateObjects {
  /// The object's ID.
  @_documentation(visibility: internal)
  public final var _objectIDs: [ObjectID?] { [objectID] }
}

extension Optional: PredicateObjects where Wrapped: ManagedObject {
  /// The ID of the object, or `nil`.
  @_documentation(visibility: internal)
  public var _objectIDs: [ObjectID?] { [self?.objectID] }
}

extension Array: PredicateObjects where Element: PredicateObjects {
  /// The IDs of the objects.
  @_documentation(visibility: internal)
  public var _objectIDs: [ObjectID?] { flatMap(\._objectIDs) }
  /// Always `true`.
  @_documentation(visibility: internal)
  public static var _isCollection: Bool { true }
}

extension Set: PredicateObjects where Element: PredicateObjects {
  /// The IDs of the objects.
  @_documentation(visibility: internal)
  public var _objectIDs: [ObjectID?] { flatMap(\._objectIDs) }
  /// Always `true`.
  @_documentation(visibility: internal)
  public static var _isCollection: Bool { true }
}

extension PredicateExpressions {
  /// Captures objects in the expansion of `#Predicate`.
  ///
  /// There is a single, disfavored overload, because each additional one slows down type checking
  /// of all predicates.
  @_documentation(visibility: internal) @_disfavoredOverload
  public static func build_Arg<Objects: PredicateObjects>(
    _ objects: Objects
  ) -> ObjectConstant<Objects> {
    ObjectConstant(ids: objects._objectIDs, isCollection: Objects._isCollection)
  }
}

extension Array where Element: ManagedObject {
  /// Returns whether the array contains an optional object. Returns `false` for `nil`. Used in a
  /// `#Predicate` with a relationship: `companies.contains($0.company)`.
  public func contains(_ object: Element?) -> Bool { object.map { contains($0) } ?? false }
}

extension Set where Element: ManagedObject {
  /// Returns whether the set contains an optional object. Returns `false` for `nil`. Used in a
  /// `#Predicate` with a relationship: `companies.contains($0.company)`.
  public func contains(_ object: Element?) -> Bool { object.map { contains($0) } ?? false }
}
