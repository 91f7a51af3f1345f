/// An option of a relationship.
public struct RelationshipOption: Sendable {
  enum Kind: Sendable {
    case toMany, ordered, optional, mandatory, transient
    case count(Int?, Int?)
    case renamed(String)
    case versionHashModifier(String)
    case userInfo([String: String])
  }

  let kind: Kind

  /// The relationship can have more than one member.
  public static let toMany = RelationshipOption(kind: .toMany)
  /// The members of a to-many relationship are ordered.
  public static let ordered = RelationshipOption(kind: .ordered)
  /// The relationship may have no value at commit. This is the default.
  public static let optional = RelationshipOption(kind: .optional)
  /// The relationship must have a value at commit. A to-one relationship must refer to an object.
  /// The empty set is a value, so a to-many relationship may be empty unless it has a minimum count
  /// of at least 1: `.mandatory, .count(1...)`.
  public static let mandatory = RelationshipOption(kind: .mandatory)
  /// The relationship is kept in memory only.
  public static let transient = RelationshipOption(kind: .transient)

  /// Sets the minimum and maximum number of members at commit. A relationship that is not
  /// ``mandatory`` may also be empty.
  public static func count(_ range: ClosedRange<Int>) -> RelationshipOption {
    RelationshipOption(kind: .count(range.lowerBound, range.upperBound))
  }
  /// Sets the minimum number of members at commit. A relationship that is not ``mandatory`` may
  /// also be empty.
  public static func count(_ range: PartialRangeFrom<Int>) -> RelationshipOption {
    RelationshipOption(kind: .count(range.lowerBound, nil))
  }
  /// Sets the maximum number of members at commit.
  public static func count(_ range: PartialRangeThrough<Int>) -> RelationshipOption {
    RelationshipOption(kind: .count(nil, range.upperBound))
  }
  /// Specifies the relationship's name in an earlier version of the model.
  public static func renamed(from name: String) -> RelationshipOption {
    RelationshipOption(kind: .renamed(name))
  }
  /// Sets a string that distinguishes the relationship from its earlier version if nothing else
  /// differs.
  public static func versionHashModifier(_ word: String) -> RelationshipOption {
    RelationshipOption(kind: .versionHashModifier(word))
  }
  /// Sets user-defined entries, which also control importing and tools.
  public static func userInfo(_ notes: [String: String]) -> RelationshipOption {
    RelationshipOption(kind: .userInfo(notes))
  }
}
