import ArborModel

/// A container that decodes the properties of a model or the members of any other value by key.
struct ModelMembers<Source: ValueModelSource, Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: ModelDecoder<Source>

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { decoder.source.keys().compactMap { Key(stringValue: $0) } }

  /// Returns the source of a key's value, or `nil` if it is missing.
  private func source(_ key: any CodingKey, as type: Any.Type? = nil) throws -> Source? {
    try decoder.source.member(
      key.stringValue, as: type, of: decoder.traits, decoder.session, cursor: &decoder.cursor)
  }

  private func transformer(_ key: Key) -> PropertyTransformer<Source.Raw>? {
    decoder.traits.flatMap { Source.transformer(key.stringValue, of: $0) }
  }

  private func value<T>(_ type: T.Type, _ key: Key, _ read: (Source) throws -> T) throws -> T {
    guard let source = try source(key, as: type) else {
      if let standard = try standard(type, key) { return standard }
      throw decoder.missing(key: key)
    }
    guard let transformer = transformer(key) else { return try naming(key) { try read(source) } }
    let value = try naming(key) { try decoder.transformed(type, source, by: transformer) }
    if let value { return value }
    guard let nothing = nothing(of: type) else { throw decoder.missing(key: key) }
    return nothing
  }

  private func nothing<T>(of type: T.Type) -> T? {
    (type as? any OptionalModelValue.Type).flatMap { $0.nothing as? T }
  }

  /// Returns a value, the default value if it is missing, or `nil` if it is null.
  private func present<T>(_ type: T.Type, _ key: Key, _ read: (Source) throws -> T) throws -> T? {
    guard let source = try source(key, as: type) else { return try standard(type, key) }
    if let transformer = transformer(key) {
      return try naming(key) { try decoder.transformed(type, source, by: transformer) }
    }
    return source.isNull ? nil : try naming(key) { try read(source) }
  }

  /// Returns the default value of a missing property, or `nil` if there isn't one.
  private func standard<T>(_ type: T.Type, _ key: Key) throws -> T? {
    try decoder.traits?.standard(key.stringValue, as: type)
  }

  /// Adds the name of the property to errors that don't already contain the name of a nested
  /// property.
  @inline(__always)
  private func naming<T>(_ key: Key, _ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as ArborError {
      throw error.with(
        entity: error.entity ?? decoder.traits?.entityName,
        keyPath: error.keyPath ?? key.stringValue)
    }
  }

  func contains(_ key: Key) -> Bool {
    // A path that cannot be resolved counts as present, so that reading it throws the error.
    do { return try source(key) != nil } catch { return true }
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    guard let source = try source(key) else { return true }
    guard let transformer = transformer(key) else { return source.isNull }
    return try naming(key) { try decoder.transformed(Any.self, source, by: transformer) } == nil
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try value(type, key) { try $0.boolean() }
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try value(type, key) { try $0.string() }
  }
  func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try value(type, key) { try $0.integer(type) }
  }
  func decode<T: BinaryFloatingPoint & Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try value(type, key) { try $0.floating(type) }
  }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    if let optional = type as? any OptionalModelValue.Type, let nothing = nothing(of: type),
      try decoder.source.isPostponed(key.stringValue, optional.wrappedType, decoder)
    {
      return nothing
    }
    return try value(type, key) { try decoder.read(type, $0, key: key) }
  }

  private func read<T: FixedWidthInteger>(_ type: T.Type, _ key: Key) throws -> T? {
    try present(type, key) { try $0.integer(type) }
  }
  private func read<T: BinaryFloatingPoint>(_ type: T.Type, _ key: Key) throws -> T? {
    try present(type, key) { try $0.floating(type) }
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(type, key) { try $0.boolean() }
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(type, key) { try $0.string() }
  }
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    if try decoder.source.isPostponed(key.stringValue, type, decoder) { return nil }
    return try present(type, key) { try decoder.read(type, $0, key: key) }
  }

  // The default implementations of the standard library would take precedence over a generic
  // method. They look up a value three times and don't pass null to a transformer. Each type
  // therefore needs its own method.
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try read(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try read(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try read(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try read(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try read(type, key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try read(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try read(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try read(type, key)
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try read(type, key)
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try read(type, key)
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try read(type, key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try read(type, key)
  }

  private func nested(_ key: any CodingKey) throws -> ModelDecoder<Source> {
    guard let source = try source(key) else { throw decoder.missing(key: key) }
    return ModelDecoder(source, decoder.session, parent: decoder, key: key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try nested(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try nested(key).unkeyedContainer()
  }

  /// Returns the decoder for a superclass. The superclass of a model shares the object of the
  /// model. The superclass of any other value uses the key `super`, or shares the object if that is
  /// missing.
  func superDecoder() throws -> any Decoder {
    guard decoder.traits == nil, let source = try source(SuperKey()) else { return decoder }
    return ModelDecoder(source, decoder.session, parent: decoder, key: SuperKey())
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }
}

/// The key of the superclass of a value, as in Foundation's coders.
struct SuperKey: CodingKey {
  var stringValue: String { "super" }
  var intValue: Int? { nil }
  init() {}
  init?(stringValue: String) { nil }
  init?(intValue: Int) { nil }
}

/// An index of a list as a coding key.
struct ListIndex: CodingKey {
  let intValue: Int?
  var stringValue: String { "\(intValue ?? 0)" }
  init(intValue: Int) { self.intValue = intValue }
  init?(stringValue: String) { nil }
}

/// A container that decodes the elements of a list in order.
struct ModelElements<Source: ValueModelSource>: UnkeyedDecodingContainer {
  let decoder: ModelDecoder<Source>
  let sources: [Source]
  private(set) var currentIndex = 0

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { sources.count }
  var isAtEnd: Bool { currentIndex >= sources.count }

  /// Reads the current element and advances to the next one, unless reading throws.
  private mutating func next<R>(_ read: (Source) throws -> R) throws -> R {
    guard !isAtEnd else {
      throw decoder.source.fault(
        "Expected an element at index \(sources.count), but the list ends there. Add the element.",
        Source.mismatch)
    }
    let result = try read(sources[currentIndex])
    currentIndex += 1
    return result
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, sources[currentIndex].isNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try $0.boolean() } }
  mutating func decode(_ type: String.Type) throws -> String { try next { try $0.string() } }
  mutating func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T {
    try next { try $0.integer(type) }
  }
  mutating func decode<T: BinaryFloatingPoint & Decodable>(_ type: T.Type) throws -> T {
    try next { try $0.floating(type) }
  }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let decoder = decoder
    let key = ListIndex(intValue: currentIndex)
    return try next { try decoder.read(type, $0, key: key) }
  }

  private mutating func nested() throws -> ModelDecoder<Source> {
    let decoder = decoder
    let key = ListIndex(intValue: currentIndex)
    return try next { ModelDecoder($0, decoder.session, parent: decoder, key: key) }
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> { try nested().container(keyedBy: type) }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try nested().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try nested() }
}

/// Decoding of single values.
extension ModelDecoder: SingleValueDecodingContainer {
  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { source.isNull }
  func decode(_ type: Bool.Type) throws -> Bool { try source.boolean() }
  func decode(_ type: String.Type) throws -> String { try source.string() }
  func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T {
    try source.integer(type)
  }
  func decode<T: BinaryFloatingPoint & Decodable>(_ type: T.Type) throws -> T {
    try source.floating(type)
  }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try read(type, source) }
}
