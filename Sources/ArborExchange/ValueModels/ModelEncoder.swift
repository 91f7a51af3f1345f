import ArborFoundation
import ArborModel

/// A destination that the properties of a model are written to: a document or a store.
protocol ModelWriting: AnyObject {
  var shapes: ModelShapes { get }
  /// Returns whether a property is included. The type is `nil` if it is unknown.
  func includes(_ key: String, as type: Any.Type?, of traits: ModelTraits) throws -> Bool
  /// Returns the result of a property's transformer, or `nil` if the property has no transformer.
  func transformed(_ key: String, _ value: Any?, of traits: ModelTraits) throws -> EncodedValue?
  /// Returns the representation of a property that implements its own coding, or `nil` if the
  /// destination has no special representation for it.
  func special<T: Encodable>(_ key: String, _ value: T, _ shape: ModelShape, of traits: ModelTraits)
    throws -> EncodedValue?
}

/// An encoder of one value.
final class ModelEncoder: Encoder {
  let writing: any ModelWriting
  /// The traits of the model being encoded, or `nil` for any other value.
  let traits: ModelTraits?
  let parent: ModelEncoder?
  let key: (any CodingKey)?
  /// The encoded value, or `nil` if nothing was written.
  var result: EncodedValue? { didSet { if let result { deliver?(result) } } }
  /// A closure that puts the encoded value into the container of the parent.
  fileprivate var deliver: ((EncodedValue) -> Void)?

  init(
    _ writing: any ModelWriting, traits: ModelTraits? = nil, parent: ModelEncoder? = nil,
    key: (any CodingKey)? = nil
  ) {
    self.writing = writing
    self.traits = traits
    self.parent = parent
    self.key = key
  }

  var codingPath: [any CodingKey] { (parent?.codingPath ?? []) + (key.map { [$0] } ?? []) }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Returns the encoded form of a value.
  func encoded<T: Encodable>(_ value: T, key: (any CodingKey)? = nil) throws -> EncodedValue {
    let shape = writing.shapes.shape(of: type(of: value))
    switch shape.kind {
    case .boolean: if let value = value as? Bool { return .value(.boolean(value)) }
    case .integer: if let value = value as? Int { return .value(.integer(Int64(value))) }
    case .double: if let value = value as? Double { return .value(.double(value)) }
    case .string: if let value = value as? String { return .value(.string(value)) }
    case .date: if let value = value as? Date { return .value(.date(value)) }
    case .data: if let value = value as? Data { return .value(.binary(value)) }
    case .url: if let value = value as? URL { return .value(.uri(value)) }
    case .uuid: if let value = value as? UUID { return .value(.uuid(value)) }
    case .decimal: if let value = value as? Decimal { return .value(.decimal(value)) }
    case .model: if let value = value as? any ValueModel { return .model(value) }
    case .plain: break
    }
    if let traits, let key,
      let special = try writing.special(key.stringValue, value, shape, of: traits)
    {
      return special
    }
    let encoder = ModelEncoder(writing, parent: self, key: key)
    try value.encode(to: encoder)
    return encoder.result ?? .members(EncodedParts())
  }

  static func members<M: ValueModel>(
    of model: M, _ traits: ModelTraits, _ writing: any ModelWriting
  ) throws -> EncodedParts {
    let encoder = ModelEncoder(writing, traits: traits)
    try model.encode(to: encoder)
    try traits.checkKeys()
    guard case .members(let parts)? = encoder.result else {
      throw ArborError(
        .unsupportedProperty,
        "\(M.self) encodes itself without keys. A value model must encode its properties by coding "
          + "keys."
      ).with(entity: traits.entityName)
    }
    return parts
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    traits?.note(type)
    return KeyedEncodingContainer(WrittenMembers<Key>(encoder: self, parts: parts(isList: false)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    WrittenElements(encoder: self, parts: parts(isList: true))
  }

  /// Returns the parts to write into. Repeated requests for the same kind of container return the
  /// same parts.
  private func parts(isList: Bool) -> EncodedParts {
    switch result {
    case .members(let parts) where !isList: return parts
    case .list(let parts) where isList: return parts
    default:
      let parts = EncodedParts()
      result = isList ? .list(parts) : .members(parts)
      return parts
    }
  }
}

/// Encoding of single values.
extension ModelEncoder: SingleValueEncodingContainer {
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { result = .value(.null) }
  func encode(_ value: Bool) { result = .value(.boolean(value)) }
  func encode(_ value: String) { result = .value(.string(value)) }
  func encode(_ value: Double) { result = .value(.double(value)) }
  func encode(_ value: Float) { result = .float(value) }
  func encode<T: FixedWidthInteger & Encodable>(_ value: T) throws {
    result = try EncodedValue(integer: value)
  }
  func encode<T: Encodable>(_ value: T) throws { result = try encoded(value) }
}

/// A container that encodes the elements of a list.
struct WrittenElements: UnkeyedEncodingContainer {
  let encoder: ModelEncoder
  let parts: EncodedParts

  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { parts.values.count }
  private var index: any CodingKey { ListIndex(intValue: count) }

  func encodeNil() { parts.append(.value(.null)) }
  func encode(_ value: Bool) { parts.append(.value(.boolean(value))) }
  func encode(_ value: String) { parts.append(.value(.string(value))) }
  func encode(_ value: Double) { parts.append(.value(.double(value))) }
  func encode(_ value: Float) { parts.append(.float(value)) }
  func encode<T: FixedWidthInteger & Encodable>(_ value: T) throws {
    parts.append(try EncodedValue(integer: value))
  }
  func encode<T: Encodable>(_ value: T) throws {
    // Elements aren't properties of a model, even if the model encodes only a list.
    parts.append(try encoder.encoded(value, key: encoder.traits == nil ? index : nil))
  }

  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    nest { $0.container(keyedBy: type) }
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nest { $0.unkeyedContainer() } }

  /// Returns an encoder of an element with members.
  func superEncoder() -> any Encoder {
    nest { nested in
      _ = nested.container(keyedBy: ListIndex.self)
      return nested
    }
  }

  private func nest<Nested>(_ begin: (ModelEncoder) -> Nested) -> Nested {
    let nested = ModelEncoder(encoder.writing, parent: encoder, key: index)
    let (parts, position) = (parts, count)
    parts.append(.value(.null))
    nested.deliver = { parts.replace(at: position, $0) }
    return begin(nested)
  }
}

/// A container that encodes the properties of a model or the members of any other value by key.
struct WrittenMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: ModelEncoder
  let parts: EncodedParts

  var codingPath: [any CodingKey] { encoder.codingPath }

  /// Writes a property with its transformer or, if it has none, as `value`. Excluded properties are
  /// skipped.
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

  // The default implementations of the standard library skip nil, which must be recorded. Each type
  // therefore needs its own method.
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

  /// Returns a nested container for a key and adds its parts to this container.
  private func nest<Nested>(_ key: any CodingKey, _ begin: (ModelEncoder) -> Nested) -> Nested {
    let nested = ModelEncoder(encoder.writing, parent: encoder, key: key)
    let (parts, name) = (parts, key.stringValue)
    // A key that cannot be resolved throws when a value is written for it.
    let isExcluded = encoder.traits.map {
      (try? encoder.writing.includes(name, as: nil, of: $0)) == false
    }
    if isExcluded != true { nested.deliver = { parts.set($0, for: name) } }
    return begin(nested)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { nest(key) { $0.container(keyedBy: type) } }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nest(key) { $0.unkeyedContainer() }
  }

  /// Returns the encoder for a superclass. The superclass of a model shares the object of the
  /// model. The superclass of any other value uses the key `super`.
  func superEncoder() -> any Encoder {
    encoder.traits == nil ? nestedEncoder(SuperKey()) : encoder
  }

  func superEncoder(forKey key: Key) -> any Encoder { nestedEncoder(key) }

  private func nestedEncoder(_ key: any CodingKey) -> any Encoder {
    nest(key) { nested in
      _ = nested.container(keyedBy: Key.self)
      return nested
    }
  }
}
