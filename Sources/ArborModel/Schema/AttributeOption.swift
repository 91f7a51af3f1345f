/// One thing said about an attribute beyond name and type.
public struct AttributeOption: Sendable {
  enum Kind: Sendable {
    case optional, indexed, unique, transient, externalStorage, preservedOnDeletion
    case mandatory
    case `default`(PropertyValue)
    case bounds(PropertyValue, PropertyValue)
    case pattern(String)
    case derived(String)
    case renamed(String)
    case versionHashModifier(String)
    case type(AttributeType)
    case valueClass(String)
    case userInfo([String: String])
  }

  let kind: Kind

  /// The attribute may be nil when its object is committed.
  public static let optional = AttributeOption(kind: .optional)
  /// The attribute has to have a value when its object is committed, whatever its Swift type.
  public static let mandatory = AttributeOption(kind: .mandatory)
  /// The attribute has an index of its own.
  public static let indexed = AttributeOption(kind: .indexed)
  /// No two objects of the entity and its subentities have the same value.
  public static let unique = AttributeOption(kind: .unique)
  /// The attribute lives in memory only.
  public static let transient = AttributeOption(kind: .transient)
  /// Large binaries may be kept outside the record.
  public static let externalStorage = AttributeOption(kind: .externalStorage)
  /// The history keeps the value when the object is deleted; see
  /// ``AttributeDescription/isPreservedOnDeletion``.
  public static let preservedOnDeletion = AttributeOption(kind: .preservedOnDeletion)

  /// The value a new object starts with.
  public static func `default`(_ value: PropertyValue) -> AttributeOption {
    AttributeOption(kind: .default(value))
  }
  /// The value a new object starts with.
  public static func `default`(_ value: some PredicateArgument) -> AttributeOption {
    AttributeOption(kind: .default(value.predicateValue))
  }
  /// The least and the greatest value allowed; for texts, the lengths in characters.
  public static func bounds(_ range: ClosedRange<some PredicateArgument & Comparable>)
    -> AttributeOption
  {
    AttributeOption(kind: .bounds(range.lowerBound.predicateValue, range.upperBound.predicateValue))
  }
  /// The least value allowed; for texts, the least length in characters.
  public static func bounds(_ range: PartialRangeFrom<some PredicateArgument & Comparable>)
    -> AttributeOption
  {
    AttributeOption(kind: .bounds(range.lowerBound.predicateValue, .null))
  }
  /// The greatest value allowed; for texts, the greatest length in characters.
  public static func bounds(_ range: PartialRangeThrough<some PredicateArgument & Comparable>)
    -> AttributeOption
  {
    AttributeOption(kind: .bounds(.null, range.upperBound.predicateValue))
  }
  /// A regular expression that a text has to match as a whole.
  public static func pattern(_ regularExpression: String) -> AttributeOption {
    AttributeOption(kind: .pattern(regularExpression))
  }
  /// An expression that computes the attribute at commit, such as `employees.@count`.
  public static func derived(_ expression: String) -> AttributeOption {
    AttributeOption(kind: .derived(expression))
  }
  /// The name the attribute had in an earlier version of the model.
  public static func renamed(from name: String) -> AttributeOption {
    AttributeOption(kind: .renamed(name))
  }
  /// A word that makes the attribute differ from its earlier version although nothing else does.
  public static func versionHashModifier(_ word: String) -> AttributeOption {
    AttributeOption(kind: .versionHashModifier(word))
  }
  /// The type the attribute is kept as, where it is not the one that its Swift type has.
  public static func type(_ type: AttributeType) -> AttributeOption {
    AttributeOption(kind: .type(type))
  }
  /// The attribute is kept as the bytes that a registered transformer makes of its values.
  public static func transformable(_ transformer: String) -> AttributeOption {
    .type(.transformable(transformer))
  }
  /// The name of the Swift or Objective-C type of a transformable attribute.
  public static func valueClass(_ name: String) -> AttributeOption {
    AttributeOption(kind: .valueClass(name))
  }
  /// Notes that steer importing and tools.
  public static func userInfo(_ notes: [String: String]) -> AttributeOption {
    AttributeOption(kind: .userInfo(notes))
  }
}
