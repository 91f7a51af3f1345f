/// A relationship of an entity.
///
/// By default, a relationship is to-one, unordered and optional.
///
/// ```swift
/// RelationshipDescription(
///   "employees", to: "Employee", inverse: "company", .toMany, deleteRule: .cascade)
/// ```
public struct RelationshipDescription: Sendable, Hashable {
  /// The effect of deleting an object on its related objects.
  public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
    /// The related objects' references to the deleted object are removed.
    case nullify
    /// The related objects are deleted too.
    case cascade
    /// The object cannot be deleted while there are related objects. The commit reports a
    /// violation.
    case deny
    /// The related objects remain unchanged. Their links to the deleted object are dropped, but the
    /// related objects are not marked as updated.
    case noAction
  }

  /// The relationship's name, unique among its entity's properties, including inherited ones.
  public var name: String
  /// The name of the destination entity.
  public var destination: String
  /// The name of the inverse relationship, or `nil` if there isn't one.
  public var inverse: String?
  /// A Boolean value that indicates whether the relationship can have more than one member.
  public var isToMany: Bool
  /// A Boolean value that indicates whether the members of a to-many relationship are ordered.
  public var isOrdered: Bool
  /// The minimum number of members of a to-many relationship at commit, or 0 for none. An optional
  /// relationship may also be empty.
  public var minimumCount: Int
  /// The maximum number of members at commit, or 0 for no limit.
  public var maximumCount: Int
  /// The effect of deleting an object on its related objects.
  public var deleteRule: DeleteRule
  /// A Boolean value that indicates whether the relationship may have no value at commit.
  ///
  /// A mandatory to-one relationship must refer to an object. The empty set is a value: a mandatory
  /// to-many relationship may be empty unless ``minimumCount`` is at least 1.
  public var isOptional: Bool
  /// A Boolean value that indicates whether the relationship is kept in memory only.
  public var isTransient: Bool
  /// The relationship's name in an earlier version of the model, or `nil` if it wasn't renamed.
  public var renamingIdentifier: String?
  /// A string that distinguishes the relationship from its earlier version if nothing else differs.
  public var versionHashModifier: String?
  /// User-defined entries, which also control importing and tools.
  public var userInfo: [String: String]

  /// Creates a relationship from a name, a destination and options.
  ///
  /// - Parameters:
  ///   - name: The relationship's name, unique among its entity's properties, including inherited
  ///     ones.
  ///   - destination: The name of the destination entity.
  ///   - inverse: The name of the inverse relationship, or `nil` for none.
  ///   - options: Further options, in any order.
  ///   - deleteRule: The effect of deleting an object on its related objects.
  public init(
    _ name: String, to destination: String, inverse: String? = nil,
    _ options: RelationshipOption..., deleteRule: DeleteRule = .nullify
  ) {
    self.init(name, to: destination, inverse: inverse, options: options, deleteRule: deleteRule)
  }

  /// Creates a relationship from a name, a destination and an array of options.
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

  /// Creates a relationship from all of its properties. Used by parsers of model files.
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
