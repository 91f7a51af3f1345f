/// An attribute of an entity.
///
/// An attribute is mandatory unless it is marked `.optional`.
///
/// ```swift
/// AttributeDescription("name", .string, .indexed, .default(""), .bounds(0...80))
/// ```
public struct AttributeDescription: Sendable, Hashable {
  /// The attribute's name, unique among its entity's properties, including inherited ones.
  public var name: String
  /// The attribute's type.
  public var type: AttributeType
  /// A Boolean value that indicates whether the attribute may be `nil` at commit.
  public var isOptional: Bool
  /// A Boolean value that indicates whether the attribute is kept in memory only.
  public var isTransient: Bool
  /// The initial value of new objects, or ``PropertyValue/null`` for none.
  public var defaultValue: PropertyValue
  /// The minimum value; for strings, the minimum length in characters. ``PropertyValue/null`` means
  /// no bound.
  public var minimum: PropertyValue
  /// The maximum value; for strings, the maximum length in characters. ``PropertyValue/null`` means
  /// no bound.
  public var maximum: PropertyValue
  /// A regular expression that the entire string must match, or `nil` to allow any string.
  public var regularExpression: String?
  /// A Boolean value that indicates whether the attribute has an index of its own.
  public var isIndexed: Bool
  /// A Boolean value that indicates whether large values may be stored outside the record.
  ///
  /// A binary value of 16 KiB or more, or the bytes of a transformable attribute of that size, is
  /// then stored in chunks of 64 KiB next to the entity's records. Objects are fetched, compared
  /// and written without it. Every access to the property reads the value that the store has at
  /// that time. A predicate or a row reads the value for each object, except when it only checks
  /// for `nil`. The value is written and deleted in the same transaction as its object. Such an
  /// attribute cannot be indexed, and sorting by it reads the value of each object. Derived and
  /// transient attributes are never stored outside the record.
  public var allowsExternalStorage: Bool
  /// The expression in the predicate language that computes a derived attribute, such as
  /// `employees.@count`, `canonical:(name)`, `company.name` or `now()`. `nil` for any other
  /// attribute.
  ///
  /// The store maintains it like an index: a commit computes it for every object whose value depends
  /// on a property or on the members of a relationship that the commit changes. Until then the
  /// attribute has the last committed value. It cannot be set: setting it by name throws, and a value
  /// set through a typed accessor stops the program. `now()` is the time of the last commit that
  /// inserted or changed the object itself.
  ///
  /// The expression can read attributes of the object and of related objects, but not derived or
  /// transient ones. A migration that adds or changes the derivation of a stored attribute computes
  /// it for existing objects, in a pass over them. A derived attribute cannot be transient.
  public var derivation: String?
  /// The attribute's name in an earlier version of the model, or `nil` if it wasn't renamed.
  public var renamingIdentifier: String?
  /// A string that distinguishes the attribute from its earlier version if nothing else differs.
  public var versionHashModifier: String?
  /// The name of a transformable attribute's Swift or Objective-C type, or `nil` if the model
  /// doesn't specify one.
  public var valueClassName: String?
  /// A Boolean value that indicates whether the store's history keeps the value as a tombstone when
  /// the object is deleted; see `CommittedChanges.tombstone(of:)`. A commit of more than 10,000
  /// objects, whose objects the history doesn't list, keeps no tombstones.
  public var isPreservedOnDeletion: Bool
  /// The structure of the values of an attribute of the type ``AttributeType/json``, or `nil` for any
  /// JSON. Ignored for other types.
  ///
  /// Imports and values that are set by name must fit the structure. Parts that may be missing, or
  /// that the default value supplies, can be added and removed without a migration: the file keeps
  /// the structure with all parts that programs have used.
  public var shape: JSONShape?
  /// User-defined entries, which also control importing and tools.
  public var userInfo: [String: String]
  /// The raw values of a typed class's enumeration, or `nil` if the property isn't one.
  package var rawCases: RawCases? {
    get { partsAtHand.rawCases }
    set { partsAtHand.rawCases = newValue }
  }
  /// The Swift type of a typed class's numeric property, or `nil` if an attribute type represents
  /// it exactly.
  package var unsupportedNumber: String? {
    get { partsAtHand.unsupportedNumber }
    set { partsAtHand.unsupportedNumber = newValue }
  }
  /// Whether the attribute was described as `.unique`. Its entity converts the mark to a uniqueness
  /// constraint and clears it.
  var isMarkedUnique: Bool {
    get { partsAtHand.isMarkedUnique }
    set { partsAtHand.isMarkedUnique = newValue }
  }
  private var partsAtHand = PartsAtHand()

  /// Creates an attribute from a name, a type and options.
  ///
  /// - Parameters:
  ///   - name: The attribute's name, unique among its entity's properties, including inherited
  ///     ones.
  ///   - type: The attribute's type.
  ///   - options: Further options, in any order.
  public init(_ name: String, _ type: AttributeType, _ options: AttributeOption...) {
    self.init(name, type, options: options)
  }

  /// Creates an attribute from a name, a type and an array of options.
  public init(_ name: String, _ type: AttributeType, options: [AttributeOption]) {
    self.init(name: name, type: type)
    for option in options { apply(option) }
  }

  private mutating func apply(_ option: AttributeOption) {
    switch option.kind {
    case .optional: isOptional = true
    case .default(let value): defaultValue = value
    case .indexed: isIndexed = true
    case .unique: isMarkedUnique = true
    case .transient: isTransient = true
    case .externalStorage: allowsExternalStorage = true
    case .bounds(let minimum, let maximum):
      if !minimum.isNull { self.minimum = minimum }
      if !maximum.isNull { self.maximum = maximum }
    case .pattern(let pattern): regularExpression = pattern
    case .derived(let expression): derivation = expression
    case .renamed(let name): renamingIdentifier = name
    case .versionHashModifier(let word): versionHashModifier = word
    case .preservedOnDeletion: isPreservedOnDeletion = true
    case .type(let type): self.type = type
    case .mandatory: isOptional = false
    case .valueClass(let name): valueClassName = name
    case .shape(let shape):
      type = .json
      self.shape = shape
    case .userInfo(let notes): userInfo.merge(notes) { _, new in new }
    }
  }

  /// Creates an attribute from all of its properties. Used by parsers of model files.
  public init(
    name: String, type: AttributeType, isOptional: Bool = false, isTransient: Bool = false,
    defaultValue: PropertyValue = .null, minimum: PropertyValue = .null,
    maximum: PropertyValue = .null,
    regularExpression: String? = nil, isIndexed: Bool = false, allowsExternalStorage: Bool = false,
    derivation: String? = nil, renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil, valueClassName: String? = nil,
    isPreservedOnDeletion: Bool = false, shape: JSONShape? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.defaultValue = defaultValue
    self.minimum = minimum
    self.maximum = maximum
    self.regularExpression = regularExpression
    self.isIndexed = isIndexed
    self.allowsExternalStorage = allowsExternalStorage
    self.derivation = derivation
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.valueClassName = valueClassName
    self.isPreservedOnDeletion = isPreservedOnDeletion
    self.shape = shape
    self.userInfo = userInfo
  }
}

/// Properties of an attribute's description that aren't part of the model.
///
/// They are ignored when descriptions are compared, because a model file cannot represent them.
private struct PartsAtHand: Sendable, Hashable {
  var rawCases: RawCases?
  var unsupportedNumber: String?
  var isMarkedUnique = false

  static func == (left: Self, right: Self) -> Bool { true }

  func hash(into hasher: inout Hasher) {}
}
