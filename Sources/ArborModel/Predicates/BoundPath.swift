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
