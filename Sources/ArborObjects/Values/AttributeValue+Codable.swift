internal import ArborFoundation
public import ArborModel

// Any codable type can be used for attributes by conforming to the protocol. Its values are stored
// as JSON in canonical form, so that equal values have equal bytes and setting an equal value isn't
// committed as a change. Types with another representation override these members.

extension AttributeValue {
  /// Defaults to `json`.
  public static var attributeType: AttributeType { .json }

  /// The value as JSON, or ``PropertyValue/null`` if it cannot be encoded.
  @_disfavoredOverload
  public var predicateValue: PropertyValue { CanonicalJSON.value(of: self) }

  /// Reads a value from its JSON.
  ///
  /// Members that the type requires and an object lacks are taken from the attribute's default. If
  /// the JSON cannot be decoded nevertheless, the result is the default or, without one, a value of
  /// zeros, empty strings and empty collections; the context's next throwing operation throws
  /// `unreadableValue`, and commits fail until a rollback, so that the stored value isn't replaced. A
  /// `nil` value is read in the same way, without an error.
  public static func load(from object: ManagedObject, slot: Int) -> Self {
    // Notes the access, also while a key path is being traced.
    let field = object.binding.attribute(slot, of: object).field
    if let value = object.binding.trace?.value(codable: Self.self) { return value }
    if let value = object.decodeJSON(field, slot, as: Self.self) { return value }
    let attribute = object.binding.entity.attributes[object.binding.attribute(slot).slot]
    return fromValue(attribute.description.defaultValue) ?? BlankDecoder.value(Self.self)
      ?? object.defaultCase(slot, Self.self)
  }

  /// Reads a value from its JSON, or an attribute of another type. Returns `nil` for JSON that cannot
  /// be decoded, after recording the error; see ``load(from:slot:)``.
  public static func loadIfKnown(from object: ManagedObject, slot: Int) -> Self? {
    let field = object.binding.attribute(slot).field
    guard field.kind == .json else { return load(from: object, slot: slot) }
    if let value = object.binding.trace?.value(codable: Self.self) { return value }
    return object.decodeJSON(field, slot, as: Self.self)
  }

  /// Writes a value as JSON. If the value cannot be encoded, for example because it contains NaN,
  /// the commit rejects it.
  public func store(in object: ManagedObject, slot: Int) { object.encodeJSON(self, slot) }

  /// Decodes the value of a JSON attribute.
  public static func fromValue(_ value: PropertyValue) -> Self? {
    CanonicalJSON.decode(Self.self, from: value)
  }
}
