import ArborModel

/// Encodes by keys: the properties of a model, or the members of any other value.
struct WrittenMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: ModelEncoder
  let parts: EncodedParts

  var codingPath: [any CodingKey] { encoder.codingPath }

  /// Writes a property in the form that it has where it goes; `value` stands in where its model has
  /// nothing to say about that.
  private func write<T>(_ key: Key, _ property: T?, _ value: () throws -> EncodedValue) throws {
    try write(key, property, as: T.self, value)
  }

  private func write(
    _ key: Key, _ property: Any?, as type: Any.Type?, _ value: () throws -> EncodedValue
  ) throws {
    let name = key.stringValue
    guard let traits = encoder.traits else { return parts.set(try value(), for: name) }
    guard try encoder.writing.includes(name, as: type, of: traits) else { return }
    let transformed = try encoder.writing.transformed(name, property, of: traits)
    parts.set(try transformed ?? value(), for: name)
  }

  private func write<T>(ifPresent property: T?, _ key: Key, _ value: (T) throws -> EncodedValue)
    throws
  {
    try write(key, property) { try property.map(value) ?? .missing }
    if property == nil { parts.omitNull(for: key.stringValue) }
  }

  private func write<T: BinaryInteger>(ifPresent property: T?, _ key: Key) throws {
    try write(ifPresent: property, key) { try EncodedValue(integer: $0) }
  }

  func encodeNil(forKey key: Key) throws { try write(key, nil, as: nil) { .value(.null) } }
  func encode(_ value: Bool, forKey key: Key) throws {
    try write(key, value) { .value(.boolean(value)) }
  }
  func encode(_ value: String, forKey key: Key) throws {
    try write(key, value) { .value(.string(value)) }
  }
  func encode(_ value: Double, forKey key: Key) throws {
    try write(key, value) { .value(.double(value)) }
  }
  func encode(_ value: Float, forKey key: Key) throws { try write(key, value) { .float(value) } }
  func encode<T: FixedWidthInteger & Encodable>(_ value: T, forKey key: Key) throws {
    try write(key, value) { try EncodedValue(integer: value) }
  }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try write(key, value) { try encoder.encoded(value, key: key) }
  }

  // One for each type: the standard library's own pass over nil, which has to be known.
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    try write(ifPresent: value, key) { .value(.boolean($0)) }
  }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    try write(ifPresent: value, key) { .value(.string($0)) }
  }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    try write(ifPresent: value, key) { .value(.double($0)) }
  }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    try write(ifPresent: value, key) { .float($0) }
  }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try write(ifPresent: value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try write(ifPresent: value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try write(ifPresent: value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try write(ifPresent: value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try write(ifPresent: value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try write(ifPresent: value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try write(ifPresent: value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    try write(ifPresent: value, key)
  }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    try write(ifPresent: value, key)
  }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    try write(ifPresent: value, key)
  }
  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    try write(ifPresent: value, key) { try encoder.encoded($0, key: key) }
  }

  /// Begins what stands within a key, and writes it.
  private func nest<Nested>(_ key: Key, _ begin: (ModelEncoder) -> Nested) -> Nested {
    let nested = ModelEncoder(encoder.writing, parent: encoder, key: key)
    let begun = begin(nested)
    let name = key.stringValue
    // A key that cannot be looked up fails where a value is written under it.
    let isExcluded = encoder.traits.map {
      (try? encoder.writing.includes(name, as: nil, of: $0)) == false
    }
    if isExcluded != true { parts.set(nested.result ?? .value(.null), for: name) }
    return begun
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { nest(key) { $0.container(keyedBy: type) } }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nest(key) { $0.unkeyedContainer() }
  }

  /// The superclass of a model shares its object; that of any other value has the key `super`.
  func superEncoder() -> any Encoder {
    guard encoder.traits == nil, let key = Key(stringValue: "super") else { return encoder }
    return superEncoder(forKey: key)
  }

  func superEncoder(forKey key: Key) -> any Encoder {
    nest(key) { nested in
      _ = nested.container(keyedBy: Key.self)
      return nested
    }
  }
}
