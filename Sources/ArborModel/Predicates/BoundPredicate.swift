/// A predicate whose names have become properties of an entity.
///
/// It holds no arguments, so that one binding serves every use of a shape with an entity.
package final class BoundPredicate: Sendable {
  package let entity: EntitySchema
  package let root: BoundNode
  /// What the predicate reads beside the record that it is evaluated for.
  package let dependencies: PredicateDependencies
  /// The root as a conjunction in normal form, prepared for planning.
  let shape: BoundConjunction
  /// What the predicate asks for where it names one unique value.
  package let uniqueEquality: UniqueEquality?

  package init(entity: EntitySchema, root: BoundNode, schema: ModelSchema) {
    self.entity = entity
    self.root = root
    dependencies = PredicateDependencies(of: root, schema: schema)
    shape = BoundConjunction(root)
    uniqueEquality = UniqueEquality(root, of: entity)
  }
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
  package let left: BoundExpression
  package let comparison: ComparisonOperator
  package let options: ComparisonOptions
  package let right: BoundExpression
  /// Where the operator stands in the source.
  package let site: PredicateSite

  package init(
    left: BoundExpression, comparison: ComparisonOperator, options: ComparisonOptions = [],
    right: BoundExpression, site: PredicateSite = .none
  ) {
    self.left = left
    self.comparison = comparison
    self.options = options
    self.right = right
    self.site = site
  }
}

/// A key path that leads to one value: to-one relationships that are followed, and what is read at
/// their end.
package struct BoundPath: Sendable {
  package enum Leaf: Sendable {
    case attribute(AttributeSchema)
    case toOne(RelationshipSchema)
    /// The object itself: `SELF` and `objectID`.
    case object
    /// The name of the object's concrete entity.
    case entityName
  }

  /// Where the path starts: 0 for the candidate, 1 for that of the scope around it, and so on.
  package let scope: Int
  package let hops: [RelationshipSchema]
  package let leaf: Leaf

  package init(scope: Int = 0, hops: [RelationshipSchema] = [], leaf: Leaf) {
    self.scope = scope
    self.hops = hops
    self.leaf = leaf
  }
}

/// The members of a to-many relationship at the end of a path over to-one relationships.
package struct BoundCollection: Sendable {
  /// Where the path starts; see ``BoundPath/scope``.
  package let scope: Int
  package let hops: [RelationshipSchema]
  package let relationship: RelationshipSchema
  /// The entity that the path's last hop, or the candidate, is declared to be of.
  package let owner: EntitySchema
  /// The entity that the members are declared to be of.
  package let target: EntitySchema
  /// Where the relationship's name stands in the source.
  package let site: PredicateSite

  package init(
    scope: Int = 0, hops: [RelationshipSchema] = [], relationship: RelationshipSchema,
    owner: EntitySchema, target: EntitySchema, site: PredicateSite = .none
  ) {
    self.scope = scope
    self.hops = hops
    self.relationship = relationship
    self.owner = owner
    self.target = target
    self.site = site
  }
}

extension BoundPath.Leaf {
  /// Whether this is a binary that may lie outside of the record.
  var isExternal: Bool {
    if case .attribute(let attribute) = self { attribute.field.isExternal } else { false }
  }
}
