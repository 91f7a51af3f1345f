public import ArborModel
internal import Foundation

// Codable types that do not name `AttributeValue`, such as those of other modules, are attributes
// all the same. The overloads stand back where a type names the protocol, which is faster: how a
// plain type is kept is found out at each access.

extension ManagedObject {
  /// Reads the attribute that the class numbers `slot`, as any codable type: an enumeration with a
  /// raw value by that, every other type by its JSON.
  ///
  /// A nil value reads as the attribute's default, or as a value of zeros, empty texts and
  /// collections, where the type is not optional.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public final func _attribute<T: Codable>(_ slot: Int) -> T {
    let value = PropertyValue.load(from: self, slot: slot)
    // Where a key path is followed nil would end it.
    if let value = binding.trace?.value(codable: T.self) { return value }
    if let plain = PlainAttribute.plain(value, as: T.self) { return plain }
    let attribute = binding.entity.attributes[binding.attribute(slot).slot]
    guard
      let standard = PlainAttribute.plain(attribute.description.defaultValue, as: T.self)
        ?? PlainAttribute.blank(T.self)
    else {
      stopProgram(
        "\(binding.entity.name).\(attribute.name) doesn't hold a \(T.self), and its default isn't "
          + "one either. Set a default, or make the property optional.")
    }
    return standard
  }

  /// Writes the attribute that the class numbers `slot`, as any codable type. A value that does not
  /// encode, for example because it contains NaN, is refused by the commit.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public final func _setAttribute<T: Codable>(_ slot: Int, _ value: T) {
    let value = PlainAttribute.value(of: value) { CanonicalJSON.encodeForCommit($0) }
    if value.isNull { setNullAttribute(slot) } else { value.store(in: self, slot: slot) }
  }
}

extension AttributeDescription {
  /// Describes an attribute of a typed class by the codable type that its property has: as the raw
  /// value of an enumeration, else as a binary that holds JSON. A model refuses types of numbers
  /// that no attribute holds exactly, such as `Int128`.
  ///
  /// - Parameters:
  ///   - name: The attribute's name, unique in its entity and all it inherits.
  ///   - type: The type that the class reads and writes the attribute as.
  ///   - defaultValue: The value that a new object starts with; nil for none.
  ///   - options: What else is to be said, in any order.
  @_disfavoredOverload
  public init<T: Codable>(
    _ name: String, _ type: T.Type, default defaultValue: T? = nil, _ options: AttributeOption...
  ) {
    var typed: [AttributeOption] = type is any OptionalValue.Type ? [.optional] : []
    if let defaultValue { typed.append(.default(PlainAttribute.value(of: defaultValue))) }
    self.init(name, PlainAttribute.attributeType(of: T.self), options: typed + options)
    unsupportedNumber = AttributeRange.unsupportedNumber(type)
    if self.type == .binary { codableParts = PlainAttribute.parts(of: type) }
  }
}

/// How codable types that do not name ``AttributeValue`` are kept.
enum PlainAttribute {
  /// The raw value's type, or binary.
  static func attributeType(of type: Any.Type) -> AttributeType {
    if let optional = type as? any OptionalValue.Type {
      return attributeType(of: optional.wrappedType)
    }
    guard let type = type as? any RawRepresentable.Type else { return .binary }
    return rawType(of: type)?.attributeType ?? .binary
  }

  /// What stands in the record for a value.
  static func value(
    of value: Any, encode: (any Encodable) throws -> Data = { try CanonicalJSON.encode($0) }
  ) -> PropertyValue {
    if let optional = value as? any OptionalValue {
      return optional.wrapped.map { Self.value(of: $0, encode: encode) } ?? .null
    }
    if let raw = value as? any RawRepresentable, let argument = raw.rawValue as? any AttributeValue
    {
      return argument.predicateValue
    }
    guard let value = value as? any Encodable, let json = try? encode(value) else {
      return .null
    }
    return .binary(json)
  }

  /// The value that a record's value stands for; nil where it stands for none of the type.
  static func plain<T: Decodable>(_ value: PropertyValue, as type: T.Type) -> T? {
    if let optional = type as? any OptionalValue.Type {
      if value.isNull { return optional.nothing as? T }
      guard let wrapped = optional.wrappedType as? any Decodable.Type,
        let plain = plain(value, any: wrapped)
      else { return nil }
      return plain as? T
    }
    if let raw = type as? any RawRepresentable.Type, rawType(of: raw) != nil {
      return rawCase(of: raw, value) as? T
    }
    return Data.fromValue(value).flatMap { try? CanonicalJSON.decode(type, from: $0) }
  }

  /// A value that says nothing, of what an optional wraps too.
  ///
  /// - Parameter marks: The part that says something after all.
  static func blank<T>(_ type: T.Type, marks: BlankDecoder.Marks? = nil) -> T? {
    if let optional = type as? any OptionalValue.Type,
      let wrapped = optional.wrappedType as? any Decodable.Type
    {
      return blank(any: wrapped, marks) as? T
    }
    return BlankDecoder.value(type, marks: marks) ?? PathTracer.placeholder(type)
  }

  private static func blank(any type: any Decodable.Type, _ marks: BlankDecoder.Marks?) -> Any? {
    blank(type, marks: marks)
  }

  /// The parts of the JSON that a property's type is kept as; nil where it is kept otherwise.
  static func parts<T: Codable>(of type: T.Type) -> CodableParts? {
    let plain = CodableType(type)
    if let raw = plain.type as? any RawRepresentable.Type, rawType(of: raw) != nil { return nil }
    // A type that names the protocol may keep its values as it likes.
    guard let kept = plain.type as? any AttributeValue.Type else { return plain.parts }
    guard kept.attributeType == .binary, kept != Data.self, isJSON(kept) else { return nil }
    return plain.parts
  }

  private static func isJSON<T: AttributeValue>(_ type: T.Type) -> Bool {
    guard let blank = BlankDecoder.value(type), let json = try? CanonicalJSON.encode(blank) else {
      return false
    }
    return blank.predicateValue == .binary(json)
  }

  private static func plain(_ value: PropertyValue, any type: any Decodable.Type) -> Any? {
    plain(value, as: type)
  }

  private static func rawType<R: RawRepresentable>(of type: R.Type) -> (any AttributeValue.Type)? {
    R.RawValue.self as? any AttributeValue.Type
  }

  private static func rawCase<R: RawRepresentable>(of type: R.Type, _ value: PropertyValue) -> Any?
  {
    guard let rawValue = rawType(of: type)?.fromValue(value) as? R.RawValue else { return nil }
    return R(rawValue: rawValue)
  }
}

protocol OptionalValue {
  static var wrappedType: Any.Type { get }
  static var nothing: Any { get }
  var wrapped: Any? { get }
}

extension Optional: OptionalValue {
  static var wrappedType: Any.Type { Wrapped.self }
  static var nothing: Any { Self.none as Any }
  var wrapped: Any? { self }
}
