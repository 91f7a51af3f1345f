public import ArborModel

/// A Swift type that properties for attributes can have.
///
/// Numbers, strings, dates and the other scalar types conform, and so do optionals of them. An
/// enumeration with such a raw value conforms by declaring the conformance:
///
/// ```swift
/// enum Rank: String, AttributeValue { case junior, senior }
/// var rank: Rank { get { _attribute(3) } set { _setAttribute(3, newValue) } }
/// ```
///
/// So does any `Codable` type, whose values are then stored as JSON. Codable types that don't
/// declare the conformance can be used for attributes, too, but access is somewhat slower.
///
/// The protocol inherits from `Codable`, which `#Predicate` requires of the values it compares. For
/// an enumeration with a raw value, the compiler synthesizes the conformance.
///
/// ```swift
/// let senior = Rank.senior
/// let predicate = #Predicate<Employee> { $0.rank == senior }
/// ```
public protocol AttributeValue: PredicateArgument, Codable {
  /// The type of non-`nil` values: the wrapped type of an optional, otherwise the type itself.
  associatedtype Unwrapped: AttributeValue = Self
  /// The type of averages and medians: `Decimal` for decimals, otherwise `Double`.
  associatedtype Average: AttributeValue = Double
  /// The default attribute type of properties of this type.
  static var attributeType: AttributeType { get }
  /// Reads an attribute for an accessor of a typed class.
  static func load(from object: ManagedObject, slot: Int) -> Self
  /// Reads an attribute that isn't `nil` for an optional accessor of a typed class. Returns `nil` for
  /// a value that the type cannot represent.
  static func loadIfKnown(from object: ManagedObject, slot: Int) -> Self?
  /// Writes an attribute for an accessor of a typed class.
  func store(in object: ManagedObject, slot: Int)
  /// Returns the Swift value of a dynamic value, or `nil` if it has another type.
  static func fromValue(_ value: PropertyValue) -> Self?
}

extension ManagedObject {
  /// Reads the attribute with the given slot.
  ///
  /// If the type isn't optional, a `nil` value is read as zero, false, an empty string or the like,
  /// because a mandatory attribute may be `nil` until the commit. Using a type that doesn't match
  /// the attribute is a programming error and traps.
  @_documentation(visibility: internal)
  @inlinable @inline(__always)
  public final func _attribute<T: AttributeValue>(_ slot: Int) -> T {
    T.load(from: self, slot: slot)
  }

  /// Writes the attribute with the given slot.
  @_documentation(visibility: internal)
  @inlinable @inline(__always)
  public final func _setAttribute<T: AttributeValue>(_ slot: Int, _ value: T) {
    value.store(in: self, slot: slot)
  }

  @inline(__always)
  final func isNullAttribute(_ slot: Int) -> Bool {
    let field = binding.attribute(slot, of: self).field
    return currentRecord.isNull(field)
  }

  final func setNullAttribute(_ slot: Int) {
    let field = binding.attribute(slot, changing: self).field
    write { buffer, _ in buffer.setNull(field) }
  }

  /// Traps on an access with a type that doesn't match the attribute.
  @inline(never)
  final func wrongType<T>(_ slot: Int, _ type: T.Type) -> Never {
    let attribute = binding.entity.attributes[binding.attribute(slot).slot]
    stopProgram(
      "The attribute \(binding.entity.name).\(attribute.name) has type "
        + "\(attribute.description.type) and cannot be accessed as \(type). Correct the accessor's "
        + "type.")
  }

  /// Traps on a number that the attribute cannot hold.
  @inline(never)
  final func outOfRange(_ slot: Int) -> Never {
    let attribute = binding.entity.attributes[binding.attribute(slot).slot]
    stopProgram(
      "The number doesn't fit the attribute \(binding.entity.name).\(attribute.name), which takes "
        + "\(attribute.description.type.expectation). Check the number before setting the "
        + "attribute.")
  }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  /// The wrapped type's type of non-`nil` values.
  public typealias Unwrapped = Wrapped.Unwrapped

  /// The attribute type of the wrapped type.
  public static var attributeType: AttributeType { Wrapped.attributeType }

  /// Reads an attribute. Returns `nil` if it has no value, or if it has one that no case of the
  /// wrapped enumeration has.
  public static func load(from object: ManagedObject, slot: Int) -> Wrapped? {
    object.isNullAttribute(slot) ? nil : Wrapped.loadIfKnown(from: object, slot: slot)
  }

  /// Writes an attribute, or sets it to `nil`.
  public func store(in object: ManagedObject, slot: Int) {
    if let self { self.store(in: object, slot: slot) } else { object.setNullAttribute(slot) }
  }

  /// Returns the value of a dynamic value, or `.some(nil)` for null.
  public static func fromValue(_ value: PropertyValue) -> Wrapped?? {
    if value.isNull { return .some(nil) }
    return Wrapped.fromValue(value).map { .some($0) }
  }
}

// An enumeration with a raw value is stored as its raw value.
extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// The attribute type of the raw value.
  public static var attributeType: AttributeType { RawValue.attributeType }

  /// The raw value as a constant.
  public var predicateValue: PropertyValue { rawValue.predicateValue }

  /// Reads the raw value. If it matches no case, the result is the attribute's default, the context's
  /// next throwing operation throws `unreadableValue`, and commits fail until a rollback, so that the
  /// stored value isn't replaced.
  public static func load(from object: ManagedObject, slot: Int) -> Self {
    if let value = Self(rawValue: RawValue.load(from: object, slot: slot)) { return value }
    return object.unknownCase(slot, Self.self)
  }

  /// Reads the raw value. Returns `nil` if it matches no case.
  public static func loadIfKnown(from object: ManagedObject, slot: Int) -> Self? {
    if let value = Self(rawValue: RawValue.load(from: object, slot: slot)) { return value }
    return object.binding.trace == nil ? nil : object.defaultCase(slot, Self.self)
  }

  /// Writes the raw value.
  public func store(in object: ManagedObject, slot: Int) { rawValue.store(in: object, slot: slot) }

  /// Returns the case with the raw value of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Self? {
    RawValue.fromValue(value).flatMap(Self.init)
  }
}

extension ManagedObject {
  /// Returns the case to use for a raw value that no case has, or for `nil`.
  @inline(never)
  final func unknownCase<T: AttributeValue>(_ slot: Int, _ type: T.Type) -> T {
    if binding.trace == nil, !isNullAttribute(slot) { noteUnknownCase(slot, type) }
    return defaultCase(slot, type)
  }

  /// Returns the case of an attribute's default value.
  final func defaultCase<T: AttributeValue>(_ slot: Int, _ type: T.Type) -> T {
    let attribute = binding.entity.attributes[binding.attribute(slot).slot]
    guard
      let value = T.fromValue(attribute.description.defaultValue)
        ?? PathTracer.placeholder(T.self)
    else {
      stopProgram(
        "The value of \(binding.entity.name).\(attribute.name) is not a case of \(type), and "
          + "neither is its default value. Set a default value, or make the property optional.")
    }
    return value
  }
}

/// The dynamic value, for attributes without a single matching Swift type: composites and
/// attributes of undefined type.
///
/// ```swift
/// AttributeDescription("address", PropertyValue.self, .type(.composite("Address")))
/// ```
extension PropertyValue: AttributeValue {
  /// Always `undefined`.
  public static var attributeType: AttributeType { .undefined }

  /// Reads an attribute of any type. Returns ``PropertyValue/null`` if it has no value.
  public static func load(from object: ManagedObject, slot: Int) -> PropertyValue {
    object.currentRecord.value(object.binding.attribute(slot, of: object).field)
  }

  /// Reads an attribute of any type.
  public static func loadIfKnown(from object: ManagedObject, slot: Int) -> PropertyValue? {
    load(from: object, slot: slot)
  }

  /// Writes an attribute of any type. The commit rejects NaN.
  ///
  /// - Precondition: The value fits the attribute.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.binding.attribute(slot, changing: object).field
    var fits = true
    object.write { buffer, allocator in
      fits = buffer.set(field, self, allocator: allocator)
    }
    guard fits || containsNaN && object.storeNaN(self, in: field) else {
      object.wrongType(slot, PropertyValue.self)
    }
  }

  /// Returns the value itself, or `nil` for null, which is represented by optionals.
  public static func fromValue(_ value: PropertyValue) -> PropertyValue? {
    value.isNull ? PropertyValue?.none : value
  }
}
