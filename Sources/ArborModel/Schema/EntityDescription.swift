/// An entity of a model: a type of object with its attributes and relationships.
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
  /// The name of the class of its objects, or `nil` for plain `ManagedObject`s.
  public var className: String?
  /// A Boolean value that indicates whether the entity is abstract, so that its objects always
  /// belong to a subentity.
  public var isAbstract: Bool
  /// The name of the parent entity, or `nil` for a root entity.
  public var parent: String?
  /// The entity's own attributes, in order, without inherited ones.
  public var attributes: [AttributeDescription] { didSet { constrainMarkedAttributes() } }
  /// The entity's own relationships, in order, without inherited ones.
  public var relationships: [RelationshipDescription]
  /// The entity's own fetched properties, in order, without inherited ones.
  public var fetchedProperties: [FetchedPropertyDescription]
  /// The indexes declared by this entity.
  public var fetchIndexes: [FetchIndexDescription]
  /// Sets of properties whose combined values are unique among the objects of the entity and its
  /// subentities.
  public var uniquenessConstraints: [[String]]
  /// User-defined entries, which also control importing and tools.
  public var userInfo: [String: String]
  /// The entity's name in an earlier version of the model, or `nil` if it wasn't renamed.
  public var renamingIdentifier: String?
  /// A string that distinguishes the entity from its earlier version if nothing else differs.
  public var versionHashModifier: String?

  /// Creates an entity from a name and properties.
  ///
  /// - Parameters:
  ///   - name: The entity's name, unique in its model.
  ///   - parent: The name of the parent entity, or `nil` for a root entity.
  ///   - isAbstract: Whether the entity is abstract.
  ///   - className: The name of the class of its objects, or `nil` for plain managed objects.
  ///   - uniquenessConstraints: Sets of properties whose combined values are unique. For a single
  ///     attribute, use `.unique` instead.
  ///   - fetchIndexes: Indexes in addition to those among the properties.
  ///   - renamedFrom: The entity's name in an earlier version of the model.
  ///   - versionHashModifier: A string that distinguishes the entity from its earlier version.
  ///   - userInfo: User-defined entries, which also control importing and tools.
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

  /// Creates an entity from all of its properties. Used by parsers of model files.
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

  /// Converts attributes that are marked `.unique` to uniqueness constraints.
  private mutating func constrainMarkedAttributes() {
    let marked = attributes.indices.filter { attributes[$0].isMarkedUnique }
    guard !marked.isEmpty else { return }
    uniquenessConstraints += marked.map { [attributes[$0].name] }
    var unmarked = attributes
    for index in marked { unmarked[index].isMarkedUnique = false }
    attributes = unmarked
  }
}
