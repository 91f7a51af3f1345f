/// A bound predicate or a part of one.
///
/// Every part is about one object, its candidate. The root's candidate is the object that is
/// fetched. A quantifier, a subquery and a path behind a collection each open a scope, whose
/// candidate is a member of the collection. Outer candidates are named by how many scopes they lie
/// further out: ``BoundPath/scope``.
package indirect enum BoundNode: Sendable {
  case constant(Bool)
  case and([BoundNode])
  case or([BoundNode])
  case not(BoundNode)
  case comparison(BoundComparison)
  /// Any or all members of a to-many relationship fulfil a predicate, whose candidate they are.
  /// NONE is the opposite of any; a path over several relationships is as many quantifiers.
  case quantified(BoundQuantifier, BoundCollection, BoundNode)
}

package enum BoundQuantifier: Sendable {
  /// At least one member; false of none.
  case any
  /// Every member; true of none.
  case all
}

package struct BoundComparison: Sendable {
  package internal(set) var left: BoundExpression
  package internal(set) var comparison: ComparisonOperator
  package internal(set) var options: ComparisonOptions = []
  package internal(set) var right: BoundExpression
  package internal(set) var site: PredicateSite = .none
}
