/// One attribute of an entity.
///
/// An attribute is mandatory unless it is marked `.optional`.
///
/// ```swift
/// AttributeDescription("name", .string, .indexed, .default(""), .bounds(0...80))
/// ```
public struct AttributeDescription: Sendable, Hashable {
  /// The attribute's name, unique among its entity's properties, inherited ones included.
  public var name: String
  /// The attribute's type.
  public var type: AttributeType
  /// Whether the attribute may be nil when its object is committed.
  public var isOptional: Bool
  /// Whether the attribute lives in memory only.
  public var isTransient: Bool
  /// The value a new object starts with; ``PropertyValue/null`` for none.
  public var defaultValue: PropertyValue
  /// The least value allowed; for strings, the least length in characters. ``PropertyValue/null``:
  /// no bound.
  public var minimum: PropertyValue
  /// The greatest value allowed; for strings, the greatest length in characters.
  public var maximum: PropertyValue
  /// A regular expression that a string has to match as a whole.
  public var regularExpression: String?
  /// Whether the attribute has an index of its own.
  public var isIndexed: Bool
  /// Whether large binaries may be kept outside the record.
  ///
  /// A binary, or a transformable attribute's bytes, of 16 KiB and more then lies in chunks of
  /// 64 KiB beside the records of its entity. Objects are fetched, compared and written without it;
  /// it is read from the store each time the property is, as it is there by then, and for each
  /// object whose value a predicate or a row asks for. Only nil is told without reading it. It is
  /// written, and goes, in the transaction of its object. Such an attribute gets no index, and
  /// objects cannot be sorted by it. Derived and transient attributes are kept in the record.
  public var allowsExternalStorage: Bool
  /// The expression of the predicate language that computes the attribute: `employees.@count`,
  /// `canonical:(name)`, `company.name`, `now()`.
  ///
  /// A commit computes it for every object that it writes, and for those whose value changes since
  /// another object did, or the members of a relationship. Until then the attribute holds what was
  /// committed last. Nobody else sets it: by its name that throws, and what a typed accessor sets
  /// is overwritten. `now()` is the time of the last commit that wrote the object.
  ///
  /// It may read attributes of the object and of others along relationships, but none that are
  /// derived or transient. Objects that were committed before a model had the derivation hold the
  /// attribute's default until they, or what they depend on, change.
  public var derivation: String?
  /// The name the attribute had in an earlier version of the model.
  public var renamingIdentifier: String?
  /// A word that makes the attribute differ from its earlier version although nothing else does.
  public var versionHashModifier: String?
  /// The Swift or Objective-C type of a transformable attribute, where the model names one.
  public var valueClassName: String?
  /// Whether the value is kept in the store's history when its object is deleted, as a tombstone:
  /// see `CommittedChanges.tombstone(of:)`. A commit of more than 10,000 objects, which the history
  /// does not list, keeps none.
  public var isPreservedOnDeletion: Bool
  /// Notes that steer importing and tools.
  public var userInfo: [String: String]
  /// What the JSON consists of that the attribute of a typed class keeps; nil where it keeps none.
  package var codableParts: CodableParts? {
    get { partsAtHand.parts }
    set { partsAtHand.parts = newValue }
  }
  /// The name of the Swift type of a typed class's property whose numbers no attribute holds
  /// exactly; nil for other types.
  package var unsupportedNumber: String? {
    get { partsAtHand.unsupportedNumber }
    set { partsAtHand.unsupportedNumber = newValue }
  }
  /// Whether the attribute was described as `.unique`. Its entity turns the mark into a uniqueness
  /// constraint and clears it.
  var isMarkedUnique: Bool {
    get { partsAtHand.isMarkedUnique }
    set { partsAtHand.isMarkedUnique = newValue }
  }
  private var partsAtHand = PartsAtHand()

  /// Describes an attribute by name, type and options.
  ///
  /// - Parameters:
  ///   - name: The attribute's name, unique in its entity and all it inherits.
  ///   - type: The attribute's type.
  ///   - options: Everything else, in any order.
  public init(_ name: String, _ type: AttributeType, _ options: AttributeOption...) {
    self.init(name, type, options: options)
  }

  /// Describes an attribute by name, type and a list of options.
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
    case .userInfo(let notes): userInfo.merge(notes) { _, new in new }
    }
  }

  /// Describes an attribute by all of its properties, as readers of model files do.
  public init(
    name: String, type: AttributeType, isOptional: Bool = false, isTransient: Bool = false,
    defaultValue: PropertyValue = .null, minimum: PropertyValue = .null,
    maximum: PropertyValue = .null,
    regularExpression: String? = nil, isIndexed: Bool = false, allowsExternalStorage: Bool = false,
    derivation: String? = nil, renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil, valueClassName: String? = nil,
    isPreservedOnDeletion: Bool = false, userInfo: [String: String] = [:]
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
    self.userInfo = userInfo
  }
}
