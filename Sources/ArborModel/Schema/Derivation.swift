/// A derived attribute: the expression that a commit computes it by, bound to the entity that
/// declares it, and what that expression reads.
package struct Derivation: Sendable {
  /// The attribute's slot, the same in all entities that inherit it.
  package let slot: Int
  package let expression: BoundExpression
  /// Whether the value says when the object was written.
  package let usesNow: Bool
  package let reads: [DerivationRead]
  /// The expression as a figure of members that is kept by difference; nil for other expressions.
  package let aggregate: DerivedAggregate?
}

/// One property that a derivation reads, of the object itself or of others.
package struct DerivationRead: Sendable {
  package enum Property: Sendable {
    /// An attribute by its slot.
    case attribute(Int)
    case toOne(RelationshipSchema)
    /// Who is a member.
    case members(RelationshipSchema)
  }

  /// The relationships that lead from the object to those that are read; none for itself.
  package let hops: [RelationshipSchema]
  package let property: Property
}
