/// One relationship of an entity.
///
/// A relationship is to-one, unordered and may be empty unless an option says otherwise.
///
/// ```swift
/// RelationshipDescription(
///   "employees", to: "Employee", inverse: "company", .toMany, deleteRule: .cascade)
/// ```
public struct RelationshipDescription: Sendable, Hashable {
  /// What happens to the objects at the other end when an object is deleted.
  public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
    /// They stay and no longer point back.
    case nullify
    /// They are deleted too.
    case cascade
    /// The deletion is a violation while there are any.
    case deny
    /// They stay as they are; links to the deleted object are dropped without a change of theirs.
    case noAction
  }

  /// The relationship's name, unique among its entity's properties, inherited ones included.
  public var name: String
  /// The name of the entity at the other end.
  public var destination: String
  /// The name of the relationship back; nil for none.
  public var inverse: String?
  /// Whether there may be more than one object at the other end.
  public var isToMany: Bool
  /// Whether the members of a to-many relationship keep their order.
  public var isOrdered: Bool
  /// The least number of members of a to-many relationship at commit; 0: none. An optional
  /// relationship may be empty as well.
  public var minimumCount: Int
  /// The greatest number of members at commit; 0: unbounded.
  public var maximumCount: Int
  /// What happens to the objects at the other end when an object is deleted.
  public var deleteRule: DeleteRule
  /// Whether the relationship may be without a value at commit.
  ///
  /// A to-one relationship that is not optional has to lead to an object. The empty set is a value:
  /// a to-many relationship that is not optional may be empty unless ``minimumCount`` is 1 or more.
  public var isOptional: Bool
  /// Whether the relationship lives in memory only.
  public var isTransient: Bool
  /// The name the relationship had in an earlier version of the model.
  public var renamingIdentifier: String?
  /// A word that makes the relationship differ from its earlier version although nothing else does.
  public var versionHashModifier: String?
  /// Notes that steer importing and tools.
  public var userInfo: [String: String]

  /// Describes a relationship by name, destination and options.
  ///
  /// - Parameters:
  ///   - name: The relationship's name, unique in its entity and all it inherits.
  ///   - destination: The name of the entity at the other end.
  ///   - inverse: The name of the inverse relationship, or `nil` for none.
  ///   - options: Everything else, in any order.
  ///   - deleteRule: What happens to the objects at the other end when an object is deleted.
  public init(
    _ name: String, to destination: String, inverse: String? = nil,
    _ options: RelationshipOption..., deleteRule: DeleteRule = .nullify
  ) {
    self.init(name, to: destination, inverse: inverse, options: options, deleteRule: deleteRule)
  }

  /// Describes a relationship by name, destination and a list of options.
  public init(
    _ name: String, to destination: String, inverse: String? = nil, options: [RelationshipOption],
    deleteRule: DeleteRule = .nullify
  ) {
    self.init(name: name, destination: destination, inverse: inverse, deleteRule: deleteRule)
    for option in options { apply(option) }
  }

  private mutating func apply(_ option: RelationshipOption) {
    switch option.kind {
    case .toMany: isToMany = true
    case .ordered: isOrdered = true
    case .optional: isOptional = true
    case .mandatory: isOptional = false
    case .transient: isTransient = true
    case .count(let minimum, let maximum):
      minimumCount = minimum ?? minimumCount
      maximumCount = maximum ?? maximumCount
    case .renamed(let name): renamingIdentifier = name
    case .versionHashModifier(let word): versionHashModifier = word
    case .userInfo(let notes): userInfo.merge(notes) { _, new in new }
    }
  }

  /// Describes a relationship by all of its properties, as readers of model files do.
  public init(
    name: String, destination: String, inverse: String? = nil, isToMany: Bool = false,
    isOrdered: Bool = false, minimumCount: Int = 0, maximumCount: Int = 0,
    deleteRule: DeleteRule = .nullify, isOptional: Bool = true, isTransient: Bool = false,
    renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.isToMany = isToMany
    self.isOrdered = isOrdered
    self.minimumCount = minimumCount
    self.maximumCount = maximumCount
    self.deleteRule = deleteRule
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
  }
}
