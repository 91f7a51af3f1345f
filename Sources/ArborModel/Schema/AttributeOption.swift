/// An option of an attribute.
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
    case shape(JSONShape)
    case userInfo([String: String])
  }

  let kind: Kind

  /// The attribute may be `nil` at commit.
  public static let optional = AttributeOption(kind: .optional)
  /// The attribute must have a value at commit, regardless of its Swift type.
  public static let mandatory = AttributeOption(kind: .mandatory)
  /// The attribute has an index of its own.
  public static let indexed = AttributeOption(kind: .indexed)
  /// No two objects of the entity and its subentities may have the same value.
  public static let unique = AttributeOption(kind: .unique)
  /// The attribute is kept in memory only.
  public static let transient = AttributeOption(kind: .transient)
  /// Large values may be stored outside the record; see
  /// ``AttributeDescription/allowsExternalStorage``.
  public static let externalStorage = AttributeOption(kind: .externalStorage)
  /// The history keeps the value when the object is deleted; see
  /// ``AttributeDescription/isPreservedOnDeletion``.
  public static let preservedOnDeletion = AttributeOption(kind: .preservedOnDeletion)

  /// Sets the initial value of new objects.
  public static func `default`(_ value: PropertyValue) -> AttributeOption {
    AttributeOption(kind: .default(value))
  }
  /// Sets the initial value of new objects.
  public static func `default`(_ value: some PredicateArgument) -> AttributeOption {
    AttributeOption(kind: .default(value.predicateValue))
  }
  /// Sets the minimum and maximum value; for strings, the minimum and maximum length in characters.
  public static func bounds(_ range: ClosedRange<some PredicateArgument & Comparable>)
    -> AttributeOption
  {
    AttributeOption(kind: .bounds(range.lowerBound.predicateValue, range.upperBound.predicateValue))
  }
  /// Sets the minimum value; for strings, the minimum length in characters.
  public static func bounds(_ range: PartialRangeFrom<some PredicateArgument & Comparable>)
    -> AttributeOption
  {
    AttributeOption(kind: .bounds(range.lowerBound.predicateValue, .null))
  }
  /// Sets the maximum value; for strings, the maximum length in characters.
  public static func bounds(_ range: PartialRangeThrough<some PredicateArgument & Comparable>)
    -> AttributeOption
  {
    AttributeOption(kind: .bounds(.null, range.upperBound.predicateValue))
  }
  /// Sets a regular expression that the entire string must match.
  public static func pattern(_ regularExpression: String) -> AttributeOption {
    AttributeOption(kind: .pattern(regularExpression))
  }
  /// Sets an expression that computes the attribute at commit, such as `employees.@count`.
  public static func derived(_ expression: String) -> AttributeOption {
    AttributeOption(kind: .derived(expression))
  }
  /// Specifies the attribute's name in an earlier version of the model.
  public static func renamed(from name: String) -> AttributeOption {
    AttributeOption(kind: .renamed(name))
  }
  /// Sets a string that distinguishes the attribute from its earlier version if nothing else
  /// differs.
  public static func versionHashModifier(_ word: String) -> AttributeOption {
    AttributeOption(kind: .versionHashModifier(word))
  }
  /// Specifies the type that the attribute is stored as, instead of the default for its Swift type.
  public static func type(_ type: AttributeType) -> AttributeOption {
    AttributeOption(kind: .type(type))
  }
  /// Stores the attribute's values as JSON of the given structure, instead of the one found from its
  /// Swift type. With ``JSONShape/any``, every value is accepted, and the type decides what it can read.
  public static func json(_ shape: JSONShape) -> AttributeOption {
    AttributeOption(kind: .shape(shape))
  }
  /// Converts the attribute's values to bytes with a registered transformer.
  public static func transformable(_ transformer: String) -> AttributeOption {
    .type(.transformable(transformer))
  }
  /// Specifies the name of the Swift or Objective-C type of a transformable attribute.
  public static func valueClass(_ name: String) -> AttributeOption {
    AttributeOption(kind: .valueClass(name))
  }
  /// Sets user-defined entries, which also control importing and tools.
  public static func userInfo(_ notes: [String: String]) -> AttributeOption {
    AttributeOption(kind: .userInfo(notes))
  }
}
