/// One entity of a model: a kind of object with its attributes and relationships.
///
/// ```swift
/// EntityDescription("Employee", parent: "Person", uniquenessConstraints: [["company", "number"]]) {
///   AttributeDescription("number", .integer32)
///   RelationshipDescription("company", to: "Company", inverse: "employees")
/// }
/// ```
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
  public var attributes: [AttributeDescription] { didSet { constrainMarkedAttributes() } }
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

  /// Describes an entity by name and properties.
  ///
  /// - Parameters:
  ///   - name: The entity's name, unique in its model.
  ///   - parent: The name of the entity it inherits from.
  ///   - isAbstract: Whether no object can be of exactly this entity.
  ///   - className: The name of the class that represents it, or `nil` for plain managed objects.
  ///   - uniquenessConstraints: Sets of properties whose values together are unique. Mark a single
  ///     attribute `.unique` instead.
  ///   - renamedFrom: The name the entity had in an earlier version of the model.
  ///   - versionHashModifier: A word that makes the entity differ from its earlier version.
  ///   - userInfo: Notes that steer importing and tools.
  ///   - properties: Attributes, relationships, fetched properties and indexes.
  public init(
    _ name: String, parent: String? = nil, isAbstract: Bool = false, className: String? = nil,
    uniquenessConstraints: [[String]] = [], fetchIndexes: [FetchIndexDescription] = [],
    renamedFrom: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:],
    @EntityDescription.Builder _ properties: () -> [EntityDescription.Builder.Property] = { [] }
  ) {
    var parts = EntityDescription(
      name: name, className: className, isAbstract: isAbstract, parent: parent,
      fetchIndexes: fetchIndexes, userInfo: userInfo, renamingIdentifier: renamedFrom,
      versionHashModifier: versionHashModifier)
    for property in properties() {
      switch property {
      case .attribute(let attribute): parts.attributes.append(attribute)
      case .relationship(let relationship): parts.relationships.append(relationship)
      case .fetched(let property): parts.fetchedProperties.append(property)
      case .index(let index): parts.fetchIndexes.append(index)
      }
    }
    self = parts
    self.uniquenessConstraints += uniquenessConstraints
  }

  /// Describes an entity by all of its properties, as readers of model files do.
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
    constrainMarkedAttributes()
  }

  /// Turns attributes that are marked `.unique` into uniqueness constraints.
  private mutating func constrainMarkedAttributes() {
    let marked = attributes.indices.filter { attributes[$0].isMarkedUnique }
    guard !marked.isEmpty else { return }
    uniquenessConstraints += marked.map { [attributes[$0].name] }
    var unmarked = attributes
    for index in marked { unmarked[index].isMarkedUnique = false }
    attributes = unmarked
  }
}
