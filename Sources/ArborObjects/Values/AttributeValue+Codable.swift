public import ArborModel
internal import Foundation

// Any codable type becomes an attribute by naming the protocol. Its values are kept as JSON in a
// binary attribute, with sorted keys, so that equal values have equal bytes and no change of none
// is committed. Types that are kept otherwise have members of their own.

extension AttributeValue {
  /// `binary`
  public static var attributeType: AttributeType { .binary }

  /// The value as JSON.
  @_disfavoredOverload
  public var predicateValue: PropertyValue {
    (try? CanonicalJSON.encode(self)).map(PropertyValue.binary) ?? .null
  }

  /// Reads a value from its JSON. One that cannot be read, since the type has changed since or the
  /// attribute is nil, reads as the attribute's default, or as a value of zeros, empty texts and
  /// collections where it has none.
  public static func load(from object: ManagedObject, slot: Int) -> Self {
    let bytes = Data.load(from: object, slot: slot)
    if let value = object.binding.trace?.value(codable: Self.self) { return value }
    if let value = try? CanonicalJSON.decode(Self.self, from: bytes) { return value }
    let attribute = object.binding.entity.attributes[object.binding.attribute(slot).slot]
    return fromValue(attribute.description.defaultValue) ?? BlankDecoder.value(Self.self)
      ?? object.defaultCase(slot, Self.self)
  }

  /// Writes a value as JSON. One that does not encode, for example because it contains NaN, is
  /// refused by the commit.
  public func store(in object: ManagedObject, slot: Int) {
    CanonicalJSON.encodeForCommit(self).store(in: object, slot: slot)
  }

  /// The value that a dynamic value's bytes hold.
  public static func fromValue(_ value: PropertyValue) -> Self? {
    Data.fromValue(value).flatMap { try? CanonicalJSON.decode(Self.self, from: $0) }
  }
}
