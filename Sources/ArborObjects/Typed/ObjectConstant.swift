public import ArborModel
public import Foundation

/// Objects that a typed predicate captures.
///
/// ```swift
/// let inFeed = #Predicate<Episode> { $0.feed == feed }
/// let inFeeds = #Predicate<Episode> { feeds.contains($0.feed) }
/// ```
///
/// A predicate may cross to another task, and objects may not: the expression holds their IDs. It
/// is for stores to evaluate; ``FetchPredicate/matches(_:)`` evaluates it for one object.
public struct ObjectConstant<Output>: StandardPredicateExpression {
  /// The ID of an object, or those of a collection.
  let ids: [ObjectID?]
  private let isCollection: Bool

  fileprivate init(ids: [ObjectID?], isCollection: Bool) {
    self.ids = ids
    self.isCollection = isCollection
  }

  /// Throws `notAllowed`: the expression has no objects, only their IDs.
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

/// An object, an optional object, or a collection of these, which a typed predicate captures.
@_documentation(visibility: internal)
public protocol PredicateObjects {
  /// The objects' identities, which the predicate holds in their place.
  var _objectIDs: [ObjectID?] { get }
  /// Whether the value is a collection.
  static var _isCollection: Bool { get }
}

extension PredicateObjects {
  /// False: the value is an object.
  @_documentation(visibility: internal)
  public static var _isCollection: Bool { false }
}

extension ManagedObject: PredicateObjects {
  /// The object's ID.
  @_documentation(visibility: internal)
  public final var _objectIDs: [ObjectID?] { [objectID] }
}

extension Optional: PredicateObjects where Wrapped: ManagedObject {
  /// The IDs of the objects, nil for none.
  @_documentation(visibility: internal)
  public var _objectIDs: [ObjectID?] { [self?.objectID] }
}

extension Array: PredicateObjects where Element: PredicateObjects {
  /// The IDs of the objects, nil for none.
  @_documentation(visibility: internal)
  public var _objectIDs: [ObjectID?] { flatMap(\._objectIDs) }
  /// True: the value is a collection.
  @_documentation(visibility: internal)
  public static var _isCollection: Bool { true }
}

extension Set: PredicateObjects where Element: PredicateObjects {
  /// The IDs of the objects, nil for none.
  @_documentation(visibility: internal)
  public var _objectIDs: [ObjectID?] { flatMap(\._objectIDs) }
  /// True: the value is a collection.
  @_documentation(visibility: internal)
  public static var _isCollection: Bool { true }
}

extension PredicateExpressions {
  /// Captures objects for the expansion of `#Predicate`.
  ///
  /// A single, disfavored overload: every further one makes each predicate of a program harder to
  /// type-check.
  @_documentation(visibility: internal) @_disfavoredOverload
  public static func build_Arg<Objects: PredicateObjects>(
    _ objects: Objects
  ) -> ObjectConstant<Objects> {
    ObjectConstant(ids: objects._objectIDs, isCollection: Objects._isCollection)
  }
}

extension Array where Element: ManagedObject {
  /// Whether an optional object is one of the array's; false for nil. A `#Predicate` asks it of a
  /// relationship: `companies.contains($0.company)`.
  public func contains(_ object: Element?) -> Bool { object.map { contains($0) } ?? false }
}

extension Set where Element: ManagedObject {
  /// Whether an optional object is one of the set's; false for nil. A `#Predicate` asks it of a
  /// relationship: `companies.contains($0.company)`.
  public func contains(_ object: Element?) -> Bool { object.map { contains($0) } ?? false }
}
