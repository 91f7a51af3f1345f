public import ArborModel

/// A Swift type that attributes are read and written as.
///
/// Numbers, texts, dates and the other scalars conform, and optionals of them. An enumeration with
/// such a raw value conforms by naming the protocol:
///
/// ```swift
/// enum Rank: String, AttributeValue { case junior, senior }
/// var rank: Rank { get { _attribute(3) } set { _setAttribute(3, newValue) } }
/// ```
///
/// So does any `Codable` type, which is then kept as JSON in a binary attribute. Codable types that
/// do not name the protocol are attributes too, with accessors that take somewhat longer.
///
/// The protocol includes `Codable`, which `#Predicate` asks of the values it compares; the compiler
/// makes the conformance of an enumeration with a raw value.
///
/// ```swift
/// let senior = Rank.senior
/// let predicate = #Predicate<Employee> { $0.rank == senior }
/// ```
public protocol AttributeValue: PredicateArgument, Codable {
  /// The type of values that are not nil: what an optional type wraps, else the type itself.
  associatedtype Unwrapped: AttributeValue = Self
  /// The type of the attribute that a property of this type describes, unless it names another.
  static var attributeType: AttributeType { get }
  /// Reads an attribute for an accessor of a typed class.
  static func load(from object: ManagedObject, slot: Int) -> Self
  /// Writes an attribute for an accessor of a typed class.
  func store(in object: ManagedObject, slot: Int)
  /// The Swift value that a dynamic value holds, or nil where it holds something else.
  static func fromValue(_ value: PropertyValue) -> Self?
}

extension ManagedObject {
  /// Reads the attribute that the class numbers `slot`.
  ///
  /// A nil value reads as zero, false, the empty text or the like where the type is not optional: a
  /// mandatory attribute may be nil until the commit. A type that the attribute does not have is a
  /// programmer's error and stops with a sentence.
  @_documentation(visibility: internal)
  @inlinable @inline(__always)
  public final func _attribute<T: AttributeValue>(_ slot: Int) -> T {
    T.load(from: self, slot: slot)
  }

  /// Writes the attribute that the class numbers `slot`.
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

  /// Stops an access with a type that the attribute does not have.
  @inline(never)
  final func wrongType<T>(_ slot: Int, _ type: T.Type) -> Never {
    let attribute = binding.entity.attributes[binding.attribute(slot).slot]
    stopProgram(
      "The attribute \(binding.entity.name).\(attribute.name) has type "
        + "\(attribute.description.type) and cannot be accessed as \(type). Correct the accessor's "
        + "type.")
  }

  /// Stops a write of a number that the attribute has no room for.
  @inline(never)
  final func outOfRange(_ slot: Int) -> Never {
    let attribute = binding.entity.attributes[binding.attribute(slot).slot]
    stopProgram(
      "The number doesn't fit the attribute \(binding.entity.name).\(attribute.name), which takes "
        + "\(attribute.description.type.expectation). Check it before setting it.")
  }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  /// That of the wrapped type.
  public typealias Unwrapped = Wrapped.Unwrapped

  /// That of the wrapped type.
  public static var attributeType: AttributeType { Wrapped.attributeType }

  /// Reads an attribute; nil where it has no value.
  public static func load(from object: ManagedObject, slot: Int) -> Wrapped? {
    object.isNullAttribute(slot) ? nil : Wrapped.load(from: object, slot: slot)
  }

  /// Writes an attribute, or makes it nil.
  public func store(in object: ManagedObject, slot: Int) {
    if let self { self.store(in: object, slot: slot) } else { object.setNullAttribute(slot) }
  }

  /// The value a dynamic value holds; nil inside for null.
  public static func fromValue(_ value: PropertyValue) -> Wrapped?? {
    if value.isNull { return .some(nil) }
    return Wrapped.fromValue(value).map { .some($0) }
  }
}

// An enumeration with a raw value is kept as that.
extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// That of the raw value.
  public static var attributeType: AttributeType { RawValue.attributeType }

  /// The raw value as a constant.
  public var predicateValue: PropertyValue { rawValue.predicateValue }

  /// Reads the raw value; one that has no case reads as the attribute's default.
  public static func load(from object: ManagedObject, slot: Int) -> Self {
    if let value = Self(rawValue: RawValue.load(from: object, slot: slot)) { return value }
    return object.defaultCase(slot, Self.self)
  }

  /// Writes the raw value.
  public func store(in object: ManagedObject, slot: Int) { rawValue.store(in: object, slot: slot) }

  /// The case whose raw value a dynamic value holds.
  public static func fromValue(_ value: PropertyValue) -> Self? {
    RawValue.fromValue(value).flatMap(Self.init)
  }
}

extension ManagedObject {
  /// The case that an attribute's default value stands for.
  @inline(never)
  final func defaultCase<T: AttributeValue>(_ slot: Int, _ type: T.Type) -> T {
    let attribute = binding.entity.attributes[binding.attribute(slot).slot]
    guard
      let value = T.fromValue(attribute.description.defaultValue)
        ?? (binding.trace == nil ? nil : PathTracer.placeholder(T.self))
    else {
      stopProgram(
        "\(binding.entity.name).\(attribute.name) doesn't hold a case of \(type), and its default "
          + "isn't one either. Set a default, or make the property optional.")
    }
    return value
  }
}

/// The dynamic value, for attributes that no single Swift type fits: composites and those without a
/// type.
///
/// ```swift
/// AttributeDescription("address", PropertyValue.self, .type(.composite("Address")))
/// ```
extension PropertyValue: AttributeValue {
  /// `undefined`
  public static var attributeType: AttributeType { .undefined }

  /// Reads an attribute of any type; ``PropertyValue/null`` where it has no value.
  public static func load(from object: ManagedObject, slot: Int) -> PropertyValue {
    object.currentRecord.value(object.binding.attribute(slot, of: object).field)
  }

  /// Writes an attribute of any type.
  ///
  /// - Precondition: The attribute takes the value. NaN is refused by the commit.
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

  /// The value itself; nil for null, which optional values hold.
  public static func fromValue(_ value: PropertyValue) -> PropertyValue? {
    value.isNull ? PropertyValue?.none : value
  }
}
