/// One side of a bound comparison, or a part of one.
///
/// `@count`, `count(…)` and `[SIZE]` are all `.call(.count, …)`; the other collection operators
/// that compute one value are the functions of their meaning likewise.
package indirect enum BoundExpression: Sendable {
  case path(BoundPath)
  case constant(PropertyValue)
  case argument(Int)
  case list([BoundExpression])
  /// The members of a to-many relationship: in their order where it is ordered, else ascending.
  case collection(BoundCollection)
  /// What an expression gives of each object of a collection, whose candidate the object is. Where
  /// the expression gives a collection itself, all of them joined.
  case each(BoundExpression, of: EntitySchema, BoundExpression)
  /// What an expression gives of one object, which is its candidate; nil of none.
  case follow(BoundExpression, of: EntitySchema, BoundExpression)
  /// A collection operator that gives a collection.
  case union(BoundUnion, BoundExpression)
  case call(PredicateFunction, [BoundExpression])
  /// A registered function with target and arguments.
  case custom(String, [BoundExpression], PredicateSite)
  case cast(BoundExpression, ValueCast)
  case ternary(BoundNode, BoundExpression, BoundExpression)
  /// The objects of a collection that fulfil a predicate, whose candidate they are.
  case subquery(BoundExpression, of: EntitySchema, BoundNode)
  /// The values of a list that fulfil a predicate, which reads them from the slot.
  case filter(BoundExpression, BoundSlot, BoundNode)
  /// The value that stands in a slot at present.
  case slot(BoundSlot)
  case element(BoundExpression, BoundPosition)
  /// A part of the JSON that an attribute of a `Codable` type keeps.
  case decoded(BoundPath, CodablePath)
  /// A named part of a composite, or a property of an object whose entity shows only when it is
  /// there; of many, when its base is many. What the model says of the part's kind.
  case part(BoundExpression, String, ValueKind)
}

package enum BoundPosition: Sendable {
  case at(BoundExpression)
  case first
  case last
}

/// The collection operators that give collections. None of them keeps nil.
package enum BoundUnion: String, Sendable {
  case objects = "@unionOfObjects"
  case distinctObjects = "@distinctUnionOfObjects"
  case arrays = "@unionOfArrays"
  case distinctArrays = "@distinctUnionOfArrays"
  case distinctSets = "@distinctUnionOfSets"

  var isDistinct: Bool { self != .objects && self != .arrays }
  /// Whether elements that are lists are opened.
  var opensLists: Bool { self != .objects && self != .distinctObjects }
}

/// A slot that holds the values of a list in turn, for the predicate that is evaluated for each.
package final class BoundSlot: Sendable {
  let kind: ValueKind

  init(kind: ValueKind) { self.kind = kind }
}

extension BoundExpression {
  /// Whether this is a collection of objects of the store, by its form alone.
  package var isObjectCollection: Bool {
    switch self {
    case .collection, .subquery: true
    case .each(_, _, let inner), .follow(_, _, let inner): inner.isObjectCollection
    case .union(_, let base): base.isObjectCollection
    case .call(.union, let sides), .call(.intersect, let sides), .call(.minus, let sides),
      .call(.distinct, let sides):
      sides.allSatisfy(\.isObjectCollection)
    default: false
    }
  }

  /// Whether this is a collection by its form, rather than a value that may be a list.
  var isCollection: Bool {
    switch self {
    case .collection, .subquery, .each, .union, .filter, .list, .call(.distinct, _),
      .call(.union, _), .call(.intersect, _), .call(.minus, _), .call(.mode, _):
      true
    case .follow(_, _, let inner): inner.isCollection
    default: false
    }
  }

  /// Whether this is a collection whose order says nothing: its values come from a relationship
  /// that is not ordered.
  var isUnordered: Bool {
    switch self {
    case .collection(let collection): !collection.relationship.isOrdered
    case .each(let base, _, let inner): base.isUnordered || inner.isUnordered
    case .follow(_, _, let inner): inner.isUnordered
    case .subquery(let base, _, _), .filter(let base, _, _), .union(_, let base): base.isUnordered
    case .call(.union, let sides), .call(.intersect, let sides), .call(.minus, let sides),
      .call(.distinct, let sides):
      sides.contains(where: \.isUnordered)
    default: false
    }
  }

  /// The first to-many relationship of a path that gives many values; nil for what gives one.
  var manyValued: BoundCollection? {
    switch self {
    case .collection(let collection): collection
    case .each(let base, _, _): base.manyValued
    case .follow(_, _, let inner): inner.manyValued
    default: nil
    }
  }

  /// Whether this is the value of a composite attribute, or a composite in one: its parts are no
  /// other object's properties.
  var isOfComposite: Bool {
    switch self {
    case .path(let path): ValueKind(path.leaf) == .composite
    case .part(let base, _, let kind): kind == .composite && base.isOfComposite
    case .decoded(_, let path): path.scalar == nil
    default: false
    }
  }
}
