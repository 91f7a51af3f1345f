/// A side of a bound comparison, or a part of one.
///
/// `@count`, `count(…)` and `[SIZE]` are all `.call(.count, …)`. The other aggregating collection
/// operators are represented by the equivalent functions, too.
package indirect enum BoundExpression: Sendable {
  case path(BoundPath)
  case constant(PropertyValue)
  case argument(Int)
  case list([BoundExpression])
  /// The members of a to-many relationship: in their order if it is ordered, otherwise in ascending
  /// order.
  case collection(BoundCollection)
  /// The value of an expression for each object of a collection, with that object as the candidate.
  /// Values that are collections themselves are concatenated.
  case each(BoundExpression, of: EntitySchema, BoundExpression)
  /// The value of an expression for one object, with that object as the candidate, or `nil` if
  /// there is no object.
  case follow(BoundExpression, of: EntitySchema, BoundExpression)
  /// A collection operator whose result is a collection.
  case union(BoundUnion, BoundExpression)
  /// The objects of an expression, and all objects that are reached from them by following a
  /// relationship repeatedly.
  case closure(BoundExpression, RepeatedRelationship)
  case call(PredicateFunction, [BoundExpression])
  /// A registered function with its target and arguments.
  case custom(String, [BoundExpression], PredicateSite)
  case cast(BoundExpression, ValueCast)
  case ternary(BoundNode, BoundExpression, BoundExpression)
  /// The objects of a collection that satisfy a predicate, with each object as the predicate's
  /// candidate.
  case subquery(BoundExpression, of: EntitySchema, BoundNode)
  /// The values of a list that satisfy a predicate. The predicate reads each value from the slot.
  case filter(BoundExpression, BoundSlot, BoundNode)
  case slot(BoundSlot)
  case element(BoundExpression, BoundPosition)
  /// A part of the JSON of a `Codable` attribute.
  case decoded(BoundPath, CodablePath)
  /// A named part of a composite, or a property of an object whose entity is known only during
  /// evaluation. A collection if the base is one. The associated kind is that of the part in the
  /// model.
  case part(BoundExpression, String, ValueKind)
}

package enum BoundPosition: Sendable {
  case at(BoundExpression)
  case first
  case last
}

/// The collection operators whose result is a collection. They omit `nil`.
package enum BoundUnion: String, Sendable {
  case objects = "@unionOfObjects"
  case distinctObjects = "@distinctUnionOfObjects"
  case arrays = "@unionOfArrays"
  case distinctArrays = "@distinctUnionOfArrays"
  case distinctSets = "@distinctUnionOfSets"

  var isDistinct: Bool { self != .objects && self != .arrays }
  /// Whether elements that are lists are flattened.
  var opensLists: Bool { self != .objects && self != .distinctObjects }
}

/// A slot that contains the current element of a list while a predicate is evaluated for it.
package final class BoundSlot: Sendable {
  let kind: ValueKind

  init(kind: ValueKind) { self.kind = kind }
}

extension BoundExpression {
  /// Whether the expression is syntactically a collection of stored objects.
  package var isObjectCollection: Bool {
    switch self {
    case .collection, .subquery, .closure: true
    case .each(_, _, let inner), .follow(_, _, let inner): inner.isObjectCollection
    case .union(_, let base): base.isObjectCollection
    case .call(.union, let sides), .call(.intersect, let sides), .call(.minus, let sides),
      .call(.distinct, let sides):
      sides.allSatisfy(\.isObjectCollection)
    default: false
    }
  }

  /// Whether the expression is syntactically a collection, rather than a value that may be a list.
  var isCollection: Bool {
    switch self {
    case .collection, .subquery, .closure, .each, .union, .filter, .list, .call(.distinct, _),
      .call(.union, _), .call(.intersect, _), .call(.minus, _), .call(.mode, _):
      true
    case .follow(_, _, let inner): inner.isCollection
    default: false
    }
  }

  /// Whether the expression is a collection without a meaningful order, because its values come
  /// from an unordered relationship.
  var isUnordered: Bool {
    switch self {
    case .collection(let collection): !collection.relationship.isOrdered
    case .closure: true
    case .each(let base, _, let inner): base.isUnordered || inner.isUnordered
    case .follow(_, _, let inner): inner.isUnordered
    case .subquery(let base, _, _), .filter(let base, _, _), .union(_, let base): base.isUnordered
    case .call(.union, let sides), .call(.intersect, let sides), .call(.minus, let sides),
      .call(.distinct, let sides):
      sides.contains(where: \.isUnordered)
    default: false
    }
  }

  /// The first to-many relationship of a path with several values, or `nil` for any other
  /// expression.
  var manyValued: BoundCollection? {
    switch self {
    case .collection(let collection): collection
    case .each(let base, _, _): base.manyValued
    case .follow(_, _, let inner): inner.manyValued
    default: nil
    }
  }

  /// Whether the expression is a composite attribute, or a composite within one. The parts of such
  /// an expression are not properties of another object.
  var isOfComposite: Bool {
    switch self {
    case .path(let path): ValueKind(path.leaf) == .composite
    case .part(let base, _, let kind): kind == .composite && base.isOfComposite
    case .decoded(_, let path): path.scalar == nil
    default: false
    }
  }
}
