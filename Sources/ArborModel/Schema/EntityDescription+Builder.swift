extension EntityDescription {
  /// A result builder for the properties of an entity; see ``EntityDescription``.
  @resultBuilder
  public enum Builder {
    /// A property or an index of an entity.
    public enum Property: Sendable {
      /// An attribute.
      case attribute(AttributeDescription)
      /// A relationship.
      case relationship(RelationshipDescription)
      /// A fetched property.
      case fetched(FetchedPropertyDescription)
      /// An index.
      case index(FetchIndexDescription)

      var attribute: AttributeDescription? {
        if case .attribute(let attribute) = self { attribute } else { nil }
      }
    }

    /// Adds an attribute.
    public static func buildExpression(_ attribute: AttributeDescription) -> [Property] {
      [.attribute(attribute)]
    }
    /// Adds a relationship.
    public static func buildExpression(_ relationship: RelationshipDescription) -> [Property] {
      [.relationship(relationship)]
    }
    /// Adds a fetched property.
    public static func buildExpression(_ property: FetchedPropertyDescription) -> [Property] {
      [.fetched(property)]
    }
    /// Adds an index.
    public static func buildExpression(_ index: FetchIndexDescription) -> [Property] {
      [.index(index)]
    }
    /// Combines the properties of a block.
    public static func buildBlock(_ parts: [Property]...) -> [Property] { parts.flatMap { $0 } }
    /// Adds the properties of an `if` statement whose condition is met.
    public static func buildOptional(_ parts: [Property]?) -> [Property] { parts ?? [] }
    /// Adds the properties of the first branch.
    public static func buildEither(first parts: [Property]) -> [Property] { parts }
    /// Adds the properties of the second branch.
    public static func buildEither(second parts: [Property]) -> [Property] { parts }
    /// Adds the properties of each iteration of a loop.
    public static func buildArray(_ parts: [[Property]]) -> [Property] { parts.flatMap { $0 } }
  }
}
