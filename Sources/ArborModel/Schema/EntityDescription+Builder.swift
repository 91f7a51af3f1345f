extension EntityDescription {
  /// Collects the properties of an entity; see ``EntityDescription``.
  @resultBuilder
  public enum Builder {
    /// One property or index of an entity.
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

    /// Takes an attribute in.
    public static func buildExpression(_ attribute: AttributeDescription) -> [Property] {
      [.attribute(attribute)]
    }
    /// Takes a relationship in.
    public static func buildExpression(_ relationship: RelationshipDescription) -> [Property] {
      [.relationship(relationship)]
    }
    /// Takes a fetched property's description in.
    public static func buildExpression(_ property: FetchedPropertyDescription) -> [Property] {
      [.fetched(property)]
    }
    /// Takes an index's description in.
    public static func buildExpression(_ index: FetchIndexDescription) -> [Property] {
      [.index(index)]
    }
    /// Puts properties one after another.
    public static func buildBlock(_ parts: [Property]...) -> [Property] { parts.flatMap { $0 } }
    /// Takes the properties of a condition that held.
    public static func buildOptional(_ parts: [Property]?) -> [Property] { parts ?? [] }
    /// Takes the properties of the first branch.
    public static func buildEither(first parts: [Property]) -> [Property] { parts }
    /// Takes the properties of the other branch.
    public static func buildEither(second parts: [Property]) -> [Property] { parts }
    /// Takes the properties of each round of a loop.
    public static func buildArray(_ parts: [[Property]]) -> [Property] { parts.flatMap { $0 } }
  }
}
