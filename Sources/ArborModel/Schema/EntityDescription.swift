/// One entity of a model: a kind of object with its attributes and relationships.
public struct EntityDescription: Sendable, Hashable {
  /// The entity's name, unique in its model.
  public var name: String
  /// The name of the class that represents it; nil for plain `ManagedObject`s.
  public var className: String?
  /// Whether no object can be of exactly this entity.
  public var isAbstract: Bool
  /// The name of the entity this one inherits from.
  public var parent: String?
  /// The entity's own attributes, in order; inherited ones are not listed.
  public var attributes: [AttributeDescription]
  /// The entity's own relationships, in order; inherited ones are not listed.
  public var relationships: [RelationshipDescription]
  /// The entity's own fetched properties, in order; inherited ones are not listed.
  public var fetchedProperties: [FetchedPropertyDescription]
  /// The indexes declared at this entity.
  public var fetchIndexes: [FetchIndexDescription]
  /// Sets of properties whose values together are unique among the entity's objects and those of
  /// its subentities.
  public var uniquenessConstraints: [[String]]
  /// Notes that steer importing and tools.
  public var userInfo: [String: String]
  /// The name the entity had in an earlier version of the model.
  public var renamingIdentifier: String?
  /// A word that makes the entity differ from its earlier version although nothing else does.
  public var versionHashModifier: String?

  /// Describes an entity.
  public init(
    name: String, className: String? = nil, isAbstract: Bool = false, parent: String? = nil,
    attributes: [AttributeDescription] = [], relationships: [RelationshipDescription] = [],
    fetchIndexes: [FetchIndexDescription] = [], uniquenessConstraints: [[String]] = [],
    userInfo: [String: String] = [:], renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil, fetchedProperties: [FetchedPropertyDescription] = []
  ) {
    self.name = name
    self.className = className
    self.isAbstract = isAbstract
    self.parent = parent
    self.attributes = attributes
    self.relationships = relationships
    self.fetchedProperties = fetchedProperties
    self.fetchIndexes = fetchIndexes
    self.uniquenessConstraints = uniquenessConstraints
    self.userInfo = userInfo
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
  }
}
