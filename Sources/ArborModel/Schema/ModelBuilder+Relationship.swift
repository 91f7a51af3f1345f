/// A relationship of an entity written in code; see ``ModelBuilder``.
///
/// A relationship is to-one, unordered and may be empty unless an option says otherwise.
///
/// ```swift
/// Relationship("employees", to: "Employee", inverse: "company", .toMany, deleteRule: .cascade)
/// ```
public struct Relationship: Sendable {
  /// What the relationship says.
  public var description: RelationshipDescription

  /// Describes a relationship.
  ///
  /// - Parameters:
  ///   - name: The relationship's name, unique in its entity and all it inherits.
  ///   - destination: The name of the entity at the other end.
  ///   - inverse: The name of the relationship back; nil for none.
  ///   - options: What else is to be said, in any order.
  ///   - deleteRule: What happens to the objects at the other end when an object is deleted.
  public init(
    _ name: String, to destination: String, inverse: String? = nil,
    _ options: RelationshipOption...,
    deleteRule: RelationshipDescription.DeleteRule = .nullify
  ) {
    self.init(name, to: destination, inverse: inverse, options: options, deleteRule: deleteRule)
  }

  /// Describes a relationship with a list of options.
  public init(
    _ name: String, to destination: String, inverse: String? = nil, options: [RelationshipOption],
    deleteRule: RelationshipDescription.DeleteRule = .nullify
  ) {
    description = RelationshipDescription(
      name: name, destination: destination, inverse: inverse, deleteRule: deleteRule)
    for option in options { apply(option) }
  }

  private mutating func apply(_ option: RelationshipOption) {
    switch option.kind {
    case .toMany: description.isToMany = true
    case .ordered: description.isOrdered = true
    case .optional: description.isOptional = true
    case .mandatory: description.isOptional = false
    case .transient: description.isTransient = true
    case .count(let minimum, let maximum):
      description.minimumCount = minimum ?? description.minimumCount
      description.maximumCount = maximum ?? description.maximumCount
    case .renamed(let name): description.renamingIdentifier = name
    case .versionHashModifier(let word): description.versionHashModifier = word
    case .userInfo(let notes): description.userInfo.merge(notes) { _, new in new }
    }
  }
}

/// One thing said about a relationship beyond its ends.
public struct RelationshipOption: Sendable {
  enum Kind: Sendable {
    case toMany, ordered, optional, mandatory, transient
    case count(Int?, Int?)
    case renamed(String)
    case versionHashModifier(String)
    case userInfo([String: String])
  }

  let kind: Kind

  /// There may be more than one object at the other end.
  public static let toMany = RelationshipOption(kind: .toMany)
  /// The members of a to-many relationship keep their order.
  public static let ordered = RelationshipOption(kind: .ordered)
  /// The relationship may be without a value at commit, which it may without this option too.
  public static let optional = RelationshipOption(kind: .optional)
  /// A to-one relationship has to lead to an object at commit. A to-many relationship with a least
  /// count of 1 or more may not be empty: `.mandatory, .count(1...)`; without one, the empty set is
  /// a value like any other.
  public static let mandatory = RelationshipOption(kind: .mandatory)
  /// The relationship lives in memory only.
  public static let transient = RelationshipOption(kind: .transient)

  /// The least and the greatest number of members at commit. A relationship that is not
  /// ``mandatory`` may be empty as well.
  public static func count(_ range: ClosedRange<Int>) -> RelationshipOption {
    RelationshipOption(kind: .count(range.lowerBound, range.upperBound))
  }
  /// The least number of members at commit. A relationship that is not ``mandatory`` may be empty
  /// as well.
  public static func count(_ range: PartialRangeFrom<Int>) -> RelationshipOption {
    RelationshipOption(kind: .count(range.lowerBound, nil))
  }
  /// The greatest number of members at commit.
  public static func count(_ range: PartialRangeThrough<Int>) -> RelationshipOption {
    RelationshipOption(kind: .count(nil, range.upperBound))
  }
  /// The name the relationship had in an earlier version of the model.
  public static func renamed(from name: String) -> RelationshipOption {
    RelationshipOption(kind: .renamed(name))
  }
  /// A word that makes the relationship differ from its earlier version although nothing else does.
  public static func versionHashModifier(_ word: String) -> RelationshipOption {
    RelationshipOption(kind: .versionHashModifier(word))
  }
  /// Notes that steer importing and tools.
  public static func userInfo(_ notes: [String: String]) -> RelationshipOption {
    RelationshipOption(kind: .userInfo(notes))
  }
}
