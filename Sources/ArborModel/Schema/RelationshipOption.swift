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
