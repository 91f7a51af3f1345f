internal import ArborFoundation
public import ArborModel

// Any codable type can be used for attributes by conforming to the protocol. Its values are stored
// as JSON in a binary attribute, with sorted keys, so that equal values have equal bytes and
// setting an equal value isn't committed as a change. Types with another representation override
// these members.

extension AttributeValue {
  /// Defaults to `binary`.
  public static var attributeType: AttributeType { .binary }

  /// The value as JSON.
  @_disfavoredOverload
  public var predicateValue: PropertyValue {
    (try? CanonicalJSON.encode(self)).map(PropertyValue.binary) ?? .null
  }

  /// Reads a value from its JSON. If the JSON cannot be decoded, because the type has changed or
  /// the attribute is `nil`, the result is the attribute's default or, without one, a value of
  /// zeros, empty strings and empty collections.
  public static func load(from object: ManagedObject, slot: Int) -> Self {
    let bytes = Data.load(from: object, slot: slot)
    if let value = object.binding.trace?.value(codable: Self.self) { return value }
    if let value = try? CanonicalJSON.decode(Self.self, from: bytes) { return value }
    let attribute = object.binding.entity.attributes[object.binding.attribute(slot).slot]
    return fromValue(attribute.description.defaultValue) ?? BlankDecoder.value(Self.self)
      ?? object.defaultCase(slot, Self.self)
  }

  /// Writes a value as JSON. If the value cannot be encoded, for example because it contains NaN,
  /// the commit rejects it.
  public func store(in object: ManagedObject, slot: Int) {
    CanonicalJSON.encodeForCommit(self).store(in: object, slot: slot)
  }

  /// Decodes the JSON bytes of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Self? {
    Data.fromValue(value).flatMap { try? CanonicalJSON.decode(Self.self, from: $0) }
  }
}
