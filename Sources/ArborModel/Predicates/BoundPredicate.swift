/// A predicate whose names have become properties of an entity.
///
/// It holds no arguments, so that one binding serves every use of a shape with an entity.
package final class BoundPredicate: ShapeBinding {
  package let entity: EntitySchema
  package let root: BoundNode
  /// What the predicate reads beside the record that it is evaluated for.
  package let dependencies: PredicateDependencies
  /// The root as a conjunction in normal form, prepared for planning.
  let shape: BoundConjunction
  /// What the predicate asks for where it names one unique value.
  package let uniqueEquality: UniqueEquality?

  package init(entity: EntitySchema, root: BoundNode) {
    self.entity = entity
    self.root = root
    dependencies = PredicateDependencies(of: root)
    shape = BoundConjunction(root)
    uniqueEquality = UniqueEquality(root, of: entity)
  }

  func isBound(to entity: AnyObject) -> Bool { self.entity === entity }
}

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

/// A key path that leads to one value: to-one relationships that are followed, and what is read at
/// their end.
package struct BoundPath: Sendable {
  package enum Leaf: Sendable {
    case attribute(AttributeSchema)
    case toOne(RelationshipSchema)
    /// The object itself: `SELF` and `objectID`.
    case object
    case entityName
  }

  /// Where the path starts: 0 for the candidate, 1 for that of the scope around it, and so on.
  package internal(set) var scope = 0
  package internal(set) var hops: [RelationshipSchema] = []
  package let leaf: Leaf
}

/// The members of a to-many relationship at the end of a path over to-one relationships.
package struct BoundCollection: Sendable {
  /// Where the path starts; see ``BoundPath/scope``.
  package internal(set) var scope = 0
  package internal(set) var hops: [RelationshipSchema] = []
  package let relationship: RelationshipSchema
  /// The entity that the path's last hop, or the candidate, is declared to be of.
  package let owner: EntitySchema
  /// The entity that the members are declared to be of.
  package let target: EntitySchema
  package let site: PredicateSite
}

extension BoundPath.Leaf {
  /// Whether this is a binary that may lie outside of the record.
  var isExternal: Bool {
    if case .attribute(let attribute) = self { attribute.field.isExternal } else { false }
  }
}
