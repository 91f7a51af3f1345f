internal import ArborModel
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
      "A #Predicate that captures an object cannot be evaluated by itself. "
        + "Fetch with it, or use FetchPredicate(predicate).matches(object).")
  }
}

extension ObjectConstant: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let values = ids.map { $0.map(Value.objectID) ?? .null }
    return .value(translation.constant(isCollection ? .list(values) : values[0]))
  }
}

/// The expansion of `#Predicate` calls these for what it captures.
extension PredicateExpressions {
  /// Captures an object.
  @_documentation(visibility: internal)
  public static func build_Arg<Object: ManagedObject>(_ object: Object) -> ObjectConstant<Object> {
    ObjectConstant(ids: [object.objectID], isCollection: false)
  }

  /// Captures an object, or nil.
  @_documentation(visibility: internal)
  public static func build_Arg<Object: ManagedObject>(
    _ object: Object?
  ) -> ObjectConstant<Object?> {
    ObjectConstant(ids: [object?.objectID], isCollection: false)
  }

  /// Captures a list of objects.
  @_documentation(visibility: internal)
  public static func build_Arg<Object: ManagedObject>(
    _ objects: [Object]
  ) -> ObjectConstant<[Object]> {
    ObjectConstant(ids: objects.map(\.objectID), isCollection: true)
  }

  /// Captures a list of objects.
  @_documentation(visibility: internal)
  public static func build_Arg<Object: ManagedObject>(
    _ objects: [Object?]
  ) -> ObjectConstant<[Object?]> {
    ObjectConstant(ids: objects.map { $0?.objectID }, isCollection: true)
  }

  /// Captures a set of objects.
  @_documentation(visibility: internal)
  public static func build_Arg<Object: ManagedObject>(
    _ objects: Set<Object>
  ) -> ObjectConstant<Set<Object>> {
    ObjectConstant(ids: objects.map(\.objectID), isCollection: true)
  }

  /// Captures a set of objects.
  @_documentation(visibility: internal)
  public static func build_Arg<Object: ManagedObject>(
    _ objects: Set<Object?>
  ) -> ObjectConstant<Set<Object?>> {
    ObjectConstant(ids: objects.map { $0?.objectID }, isCollection: true)
  }
}
