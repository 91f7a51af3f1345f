/// A predicate with its names resolved for an entity.
///
/// It contains no arguments, so all uses of a shape with the same entity share one binding.
package final class BoundPredicate: Sendable {
  package let entity: EntitySchema
  package let root: BoundNode
  /// The data that the predicate reads besides the evaluated record.
  package let dependencies: PredicateDependencies
  /// The root as a conjunction in normal form, prepared for query planning.
  let shape: BoundConjunction
  /// The comparison with a unique value that the predicate consists of, or `nil` for any other
  /// predicate.
  package let uniqueEquality: UniqueEquality?
  /// Whether a `CLOSURE` starts at constant objects, and can be replaced by a list of objects.
  package let hasConstantClosures: Bool

  package init(entity: EntitySchema, root: BoundNode) {
    self.entity = entity
    self.root = root
    dependencies = PredicateDependencies(of: root)
    shape = BoundConjunction(root)
    uniqueEquality = UniqueEquality(root, of: entity)
    // A closure is compared as a set, and a list in order.
    hasConstantClosures =
      root.contains { expression, _ in expression.isConstantClosure }
      && !root.containsComparison { comparison in
        [.equal, .notEqual].contains(comparison.comparison)
          && (comparison.left.isConstantClosure || comparison.right.isConstantClosure)
      }
  }

  /// Returns the predicate with each `CLOSURE` of constant objects replaced by the list of its
  /// objects, so that an index can find what refers to them.
  package func resolvingClosures(
    arguments: [PropertyValue], _ environment: PredicateEnvironment, _ resolver: any RecordResolver
  ) -> BoundPredicate {
    let constants = PredicateConstants(arguments: arguments)
    let resolved = root.mapped { expression, _ in
      guard case .closure(let base, let step) = expression, base.isConstant,
        let start = constants.value(of: base)
      else { return nil }
      var objects = (start.list ?? [start]).compactMap(environment.object).filter {
        resolver.record(of: $0) != nil
      }
      guard step.follow(&objects, resolver) else { return .constant(.list([])) }
      return .constant(.list(objects.map(environment.value(of:))))
    }
    return BoundPredicate(entity: entity, root: resolved)
  }
}

/// A bound predicate or a part of one.
///
/// Each part refers to one object, its candidate. The candidate of the root is the fetched object.
/// A quantifier, a subquery and a path after a collection each open a scope, whose candidate is a
/// member of the collection. Candidates of enclosing scopes are identified by the number of scopes
/// in between: ``BoundPath/scope``.
package indirect enum BoundNode: Sendable {
  case constant(Bool)
  case and([BoundNode])
  case or([BoundNode])
  case not(BoundNode)
  case comparison(BoundComparison)
  /// Any or all members of a to-many relationship satisfy a predicate, with each member as the
  /// predicate's candidate. `NONE` is the negation of `any`. A path with several to-many
  /// relationships consists of nested quantifiers.
  case quantified(BoundQuantifier, BoundCollection, BoundNode)
}

package enum BoundQuantifier: Sendable {
  /// At least one member; `false` if there are none.
  case any
  /// Every member; `true` if there are none.
  case all
}

package struct BoundComparison: Sendable {
  package internal(set) var left: BoundExpression
  package internal(set) var comparison: ComparisonOperator
  package internal(set) var options: ComparisonOptions = []
  package internal(set) var right: BoundExpression
  package internal(set) var site: PredicateSite = .none
}

/// A key path with a single value: the to-one relationships to follow, and the property to read at
/// the end.
package struct BoundPath: Sendable {
  package enum Leaf: Sendable {
    case attribute(AttributeSchema)
    case toOne(RelationshipSchema)
    /// The object itself: `SELF` and `objectID`.
    case object
    case entityName
  }

  /// The number of scopes between the expression and the start of the path: 0 for the candidate, 1
  /// for that of the enclosing scope, and so on.
  package internal(set) var scope = 0
  package internal(set) var hops: [RelationshipSchema] = []
  package let leaf: Leaf
}

/// The members of a to-many relationship at the end of a path of to-one relationships.
package struct BoundCollection: Sendable {
  /// The start of the path; see ``BoundPath/scope``.
  package internal(set) var scope = 0
  package internal(set) var hops: [RelationshipSchema] = []
  package let relationship: RelationshipSchema
  /// The declared entity of the object at the end of the hops, or of the candidate if there are
  /// none.
  package let owner: EntitySchema
  /// The declared entity of the members.
  package let target: EntitySchema
  package let site: PredicateSite
}

extension BoundExpression {
  fileprivate var isConstantClosure: Bool {
    if case .closure(let base, _) = self { base.isConstant } else { false }
  }
}

extension BoundPath.Leaf {
  /// Whether this is a binary attribute whose value may be stored outside the record.
  package var isExternal: Bool {
    if case .attribute(let attribute) = self { attribute.field.isExternal } else { false }
  }
}
