import ArborModel

/// The index in a list as a coding key.
struct ListIndex: CodingKey {
  let intValue: Int?
  var stringValue: String { "\(intValue ?? 0)" }
  init(intValue: Int) { self.intValue = intValue }
  init?(stringValue: String) { nil }
}

/// Decodes the parts of a list one after the other.
struct ModelElements<Source: ValueModelSource>: UnkeyedDecodingContainer {
  let decoder: ModelDecoder<Source>
  let sources: [Source]
  private(set) var currentIndex = 0

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { sources.count }
  var isAtEnd: Bool { currentIndex >= sources.count }

  /// The present part, which is passed over where it was read.
  private mutating func next<R>(_ read: (Source) throws -> R) throws -> R {
    guard !isAtEnd else {
      throw decoder.source.fault(
        "The list has \(sources.count) parts, and one more is asked for; add it.", Source.mismatch)
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

/// Decodes a value that is no list and has no members.
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
