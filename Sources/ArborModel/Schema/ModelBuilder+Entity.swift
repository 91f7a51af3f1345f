/// Collects the properties of an entity that is written in code; see ``Entity``.
@resultBuilder
public enum EntityBuilder {
  /// One property, with what its options say about the entity.
  public enum Part: Sendable {
    /// An attribute, and whether its values are unique.
    case attribute(AttributeDescription, isUnique: Bool)
    /// A relationship.
    case relationship(RelationshipDescription)
    /// A fetched property.
    case fetched(FetchedPropertyDescription)
    /// An index.
    case index(FetchIndexDescription)

    var attribute: AttributeDescription? {
      if case .attribute(let attribute, _) = self { attribute } else { nil }
    }
  }

  /// Takes an attribute in.
  public static func buildExpression(_ attribute: Attribute) -> [Part] {
    [.attribute(attribute.description, isUnique: attribute.isUnique)]
  }
  /// Takes a relationship in.
  public static func buildExpression(_ relationship: Relationship) -> [Part] {
    [.relationship(relationship.description)]
  }
  /// Takes a fetched property's description in.
  public static func buildExpression(_ property: FetchedPropertyDescription) -> [Part] {
    [.fetched(property)]
  }
  /// Takes an index's description in.
  public static func buildExpression(_ index: FetchIndexDescription) -> [Part] { [.index(index)] }
  /// Puts properties one after another.
  public static func buildBlock(_ parts: [Part]...) -> [Part] { parts.flatMap { $0 } }
  /// Takes the properties of a condition that held.
  public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }
  /// Takes the properties of the first branch.
  public static func buildEither(first parts: [Part]) -> [Part] { parts }
  /// Takes the properties of the other branch.
  public static func buildEither(second parts: [Part]) -> [Part] { parts }
  /// Takes the properties of each round of a loop.
  public static func buildArray(_ parts: [[Part]]) -> [Part] { parts.flatMap { $0 } }
}

/// An entity of a model written in code; see ``ModelBuilder``.
///
/// ```swift
/// Entity("Employee", parent: "Person", uniquenessConstraints: [["company", "number"]]) {
///   Attribute("number", .integer32)
///   Relationship("company", to: "Company", inverse: "employees")
/// }
/// ```
public struct Entity: Sendable {
  /// What the entity says.
  public var description: EntityDescription

  /// Describes an entity.
  ///
  /// - Parameters:
  ///   - name: The entity's name, unique in its model.
  ///   - parent: The name of the entity it inherits from.
  ///   - isAbstract: Whether no object can be of exactly this entity.
  ///   - className: The name of the class that represents it; nil for plain managed objects.
  ///   - uniquenessConstraints: Sets of properties whose values together are unique; single
  ///     attributes are marked `.unique` instead.
  ///   - fetchIndexes: Indexes over several properties; single attributes are marked `.indexed`
  ///     instead.
  ///   - renamedFrom: The name the entity had in an earlier version of the model.
  ///   - versionHashModifier: A word that makes the entity differ from its earlier version.
  ///   - userInfo: Notes that steer importing and tools.
  ///   - properties: Attributes, relationships and fetched properties.
  public init(
    _ name: String, parent: String? = nil, isAbstract: Bool = false, className: String? = nil,
    uniquenessConstraints: [[String]] = [], fetchIndexes: [FetchIndexDescription] = [],
    renamedFrom: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:],
    @EntityBuilder _ properties: () -> [EntityBuilder.Part] = { [] }
  ) {
    description = EntityDescription(
      name: name, className: className, isAbstract: isAbstract, parent: parent,
      fetchIndexes: fetchIndexes, userInfo: userInfo, renamingIdentifier: renamedFrom,
      versionHashModifier: versionHashModifier)
    for part in properties() {
      switch part {
      case .attribute(let attribute, let isUnique):
        description.attributes.append(attribute)
        if isUnique { description.uniquenessConstraints.append([attribute.name]) }
      case .relationship(let relationship): description.relationships.append(relationship)
      case .fetched(let property): description.fetchedProperties.append(property)
      case .index(let index): description.fetchIndexes.append(index)
      }
    }
    description.uniquenessConstraints += uniquenessConstraints
  }

  /// Describes an entity, by an earlier spelling of two arguments.
  @available(
    *, deprecated, message: "write uniquenessConstraints: and fetchIndexes:, as descriptions do"
  ) public init(
    _ name: String, parent: String? = nil, isAbstract: Bool = false, className: String? = nil,
    uniqueness: [[String]], indexes: [FetchIndexDescription] = [], renamedFrom: String? = nil,
    versionHashModifier: String? = nil, userInfo: [String: String] = [:],
    @EntityBuilder _ properties: () -> [EntityBuilder.Part] = { [] }
  ) {
    self.init(
      name, parent: parent, isAbstract: isAbstract, className: className,
      uniquenessConstraints: uniqueness, fetchIndexes: indexes, renamedFrom: renamedFrom,
      versionHashModifier: versionHashModifier, userInfo: userInfo, properties)
  }

  /// Describes an entity, by an earlier spelling of an argument.
  @available(*, deprecated, message: "write fetchIndexes:, as descriptions do")
  public init(
    _ name: String, parent: String? = nil, isAbstract: Bool = false, className: String? = nil,
    indexes: [FetchIndexDescription], renamedFrom: String? = nil,
    versionHashModifier: String? = nil, userInfo: [String: String] = [:],
    @EntityBuilder _ properties: () -> [EntityBuilder.Part] = { [] }
  ) {
    self.init(
      name, parent: parent, isAbstract: isAbstract, className: className, fetchIndexes: indexes,
      renamedFrom: renamedFrom, versionHashModifier: versionHashModifier, userInfo: userInfo,
      properties)
  }
}
