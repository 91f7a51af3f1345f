internal import ArborFoundation
internal import ArborJSON
public import ArborModel

// Codable types that don't conform to `AttributeValue`, such as those of other modules, can be used
// for attributes nevertheless. These overloads are disfavored for types that conform, which are
// faster: the representation of a plain type is determined on each access.

extension ManagedObject {
  /// Reads the attribute with the given slot as any codable type: an enumeration from its raw
  /// value, every other type from its JSON.
  ///
  /// If the type isn't optional, a `nil` value is read as the attribute's default, or as a value of
  /// zeros, empty strings and empty collections. So is a value that the type cannot represent, after
  /// recording the error; see ``AttributeValue/load(from:slot:)``.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public final func _attribute<T: Codable>(_ slot: Int) -> T {
    let field = binding.attribute(slot, of: self).field
    // While a key path is being traced, a `nil` value would end the path.
    if let value = binding.trace?.value(codable: T.self) { return value }
    let isNull = currentRecord.isNull(field)
    if !isNull, field.kind == .json {
      if let value = decodeJSON(field, slot, as: T.self) { return value }
    } else if !isNull {
      let value = value(of: field, in: currentRecord)
      if let plain = PlainAttribute.plain(value, as: T.self) { return plain }
    }
    if let optional = T.self as? any OptionalValue.Type, let nothing = optional.nothing as? T {
      return nothing
    }
    if !isNull, field.kind != .json { noteUnknownCase(slot, T.self) }
    let attribute = binding.entity.attributes[binding.attribute(slot).slot]
    guard
      let standard = PlainAttribute.plain(attribute.description.defaultValue, as: T.self)
        ?? PlainAttribute.blank(T.self)
    else {
      stopProgram(
        "The value of \(binding.entity.name).\(attribute.name) is not a \(T.self), and neither is "
          + "its default value. Set a default value, or make the property optional.")
    }
    return standard
  }

  /// Writes the attribute with the given slot as any codable type. If the value cannot be encoded,
  /// for example because it contains NaN, the commit rejects it.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public final func _setAttribute<T: Codable>(_ slot: Int, _ value: T) {
    switch PlainAttribute.stored(value) {
    case .null: setNullAttribute(slot)
    case .raw(let value): value.store(in: self, slot: slot)
    case .json(let value): encodeJSON(value, slot)
    }
  }
}

extension AttributeDescription {
  /// Creates an attribute of a typed class from the codable type of its property. An enumeration is
  /// stored as its raw value, any other type as JSON. Model validation rejects numeric types that no
  /// attribute can represent exactly, such as `Int128`.
  ///
  /// - Parameters:
  ///   - name: The attribute's name, unique among all properties of its entity, including inherited
  ///     ones.
  ///   - type: The Swift type of the property.
  ///   - defaultValue: The value of new objects, or `nil` for none.
  ///   - options: Further options, in any order.
  @_disfavoredOverload
  public init<T: Codable>(
    _ name: String, _ type: T.Type, default defaultValue: T? = nil, _ options: AttributeOption...
  ) {
    var typed: [AttributeOption] = type is any OptionalValue.Type ? [.optional] : []
    if let defaultValue { typed.append(.default(PlainAttribute.value(of: defaultValue))) }
    self.init(name, PlainAttribute.attributeType(of: T.self), options: typed + options)
    unsupportedNumber = AttributeRange.unsupportedNumber(type)
    findShape(of: type)
    rawCases = PlainAttribute.rawCases(of: type)
  }
}

extension AttributeDescription {
  /// Finds the structure of the type's JSON, unless it was stated. `.json(.any)` states that it is
  /// unknown.
  mutating func findShape<T: Codable>(of type: T.Type) {
    guard self.type == .json else { return }
    anyShape = shape ?? PlainAttribute.shape(of: type) ?? .any
  }
}

/// The representation of codable types that don't conform to ``AttributeValue``.
enum PlainAttribute {
  /// Returns the attribute type of a type's raw values, or `json` if it has none.
  static func attributeType(of type: Any.Type) -> AttributeType {
    if let optional = type as? any OptionalValue.Type {
      return attributeType(of: optional.wrappedType)
    }
    guard let type = type as? any RawRepresentable.Type else { return .json }
    return rawType(of: type)?.attributeType ?? .json
  }

  /// A value in the form in which it is stored.
  enum Stored {
    case null
    case raw(PropertyValue)
    case json(any Encodable)
  }

  static func stored(_ value: Any) -> Stored {
    if let optional = value as? any OptionalValue {
      return optional.wrapped.map(stored) ?? .null
    }
    if let raw = value as? any RawRepresentable, let argument = raw.rawValue as? any AttributeValue
    {
      return .raw(argument.predicateValue)
    }
    return (value as? any Encodable).map(Stored.json) ?? .null
  }

  /// Returns the dynamic value of a value, or null if it cannot be encoded.
  static func value(of value: Any) -> PropertyValue {
    switch stored(value) {
    case .null: .null
    case .raw(let value): value
    case .json(let value): CanonicalJSON.value(of: value)
    }
  }

  /// Returns the value with a stored form, or `nil` if the stored form doesn't represent a value of
  /// the type.
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
    return CanonicalJSON.decode(type, from: value)
  }

  /// Returns a blank value, of the wrapped type for an optional, or `nil` if the type has none.
  ///
  /// - Parameter marks: The path of the part with a different value, or `nil` for none.
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

  /// Returns the structure of the JSON that a property's type is stored as, or `nil` if the type
  /// doesn't reveal it or isn't stored as JSON.
  static func shape<T: Codable>(of type: T.Type) -> JSONShape? {
    let plain = CodableType(type)
    if let raw = plain.type as? any RawRepresentable.Type, rawType(of: raw) != nil { return nil }
    // A type that conforms to the protocol may have its own representation.
    if let kept = plain.type as? any AttributeValue.Type {
      guard kept.attributeType == .json, isJSON(kept) else { return nil }
    }
    let shape = plain.shape
    // A type may encode other JSON than it decodes.
    guard shape != .any, let blank = blank(any: plain.type, nil),
      let json = value(of: blank).json, shape.misfit(in: json) == nil
    else { return nil }
    return shape
  }

  /// Returns the raw values of an enumeration, or `nil` for any other type.
  static func rawCases<T: Codable>(of type: T.Type) -> RawCases? {
    let plain = CodableType(type)
    guard let raw = plain.type as? any RawRepresentable.Type, rawType(of: raw) != nil else {
      return nil
    }
    let known = (plain.type as? any CaseIterable.Type).map { allCases(of: $0) } ?? []
    return RawCases(of: "\(plain.type)", known: known) { value in
      Self.plain(value, any: plain.type) != nil
    }
  }

  static func allCases<C: CaseIterable>(of type: C.Type) -> [PropertyValue] {
    type.allCases.map { value(of: $0) }
  }

  private static func isJSON<T: AttributeValue>(_ type: T.Type) -> Bool {
    guard let blank = BlankDecoder.value(type) else { return false }
    return blank.predicateValue == CanonicalJSON.value(of: blank)
  }

  private static func plain(_ value: PropertyValue, any type: any Decodable.Type) -> Any? {
    plain(value, as: type)
  }

  static func rawType<R: RawRepresentable>(of type: R.Type) -> (any AttributeValue.Type)? {
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
