/// A predicate whose names have become properties of an entity.
///
/// It holds no arguments, so that one binding serves every use of a shape with an entity.
package final class BoundPredicate: Sendable {
  package let entity: EntitySchema
  package let root: BoundNode
  /// The root as a conjunction in normal form, prepared for planning.
  let shape: BoundConjunction
  /// What the predicate asks for where it names one unique value.
  package let uniqueEquality: UniqueEquality?

  package init(entity: EntitySchema, root: BoundNode) {
    self.entity = entity
    self.root = root
    shape = BoundConjunction(root)
    uniqueEquality = UniqueEquality(root, of: entity)
  }
}

package indirect enum BoundNode: Sendable {
  case constant(Bool)
  case and([BoundNode])
  case or([BoundNode])
  case not(BoundNode)
  case comparison(BoundComparison)
}

package struct BoundComparison: Sendable {
  package let left: BoundExpression
  package let comparison: ComparisonOperator
  package let options: ComparisonOptions
  package let right: BoundExpression
  /// Where the operator stands in the source.
  package let site: PredicateSite
}

package indirect enum BoundExpression: Sendable {
  case path(BoundPath)
  case constant(Value)
  case argument(Int)
  case list([BoundExpression])
}

/// A key path: to-one relationships that are followed, and what is read at their end.
package struct BoundPath: Sendable {
  package enum Leaf: Sendable {
    case attribute(AttributeSchema)
    case toOne(RelationshipSchema)
    /// The object itself: `SELF` and `objectID`.
    case object
    /// The name of the object's concrete entity.
    case entityName
  }

  package let hops: [RelationshipSchema]
  package let leaf: Leaf

  package init(hops: [RelationshipSchema] = [], leaf: Leaf) {
    self.hops = hops
    self.leaf = leaf
  }
}
