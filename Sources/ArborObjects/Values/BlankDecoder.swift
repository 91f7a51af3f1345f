internal import Foundation

/// Decodes the value of a type that says nothing: zeros, empty texts and collections, nil.
///
/// It is what a codable attribute reads as while it is nil, as a number reads as zero then, and
/// what stands in for one where a key path is followed that no object is behind.
struct BlankDecoder: Decoder {
  /// Thrown where a type does not take blank parts.
  struct Refused: Error {}

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The blank value of a type; nil where it has none.
  static func value<T>(_ type: T.Type) -> T? {
    guard let type = type as? any Decodable.Type else { return nil }
    return try? decode(type) as? T
  }

  /// The blank value of a type.
  fileprivate static func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let known = known(type) as? T { return known }
    if let value = try? T(from: BlankDecoder()) { return value }
    if type is any RawRepresentable.Type, let value = PathTracer.placeholder(type) { return value }
    throw Refused()
  }

  /// Foundation's types that decode from texts which cannot be empty.
  private static func known(_ type: Any.Type) -> (any Sendable)? {
    switch type {
    case is UUID.Type: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    case is URL.Type: URL(filePath: "/")
    case is Decimal.Type: Decimal(0)
    case is Data.Type: Data()
    case is Date.Type: Date(timeIntervalSinceReferenceDate: 0)
    default: nil
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(BlankFields())
  }
  func unkeyedContainer() -> any UnkeyedDecodingContainer { BlankList() }
  func singleValueContainer() -> any SingleValueDecodingContainer { BlankScalar() }
}

/// Every field there is asked for, each blank.
private struct BlankFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { true }
  func decode(_ type: Bool.Type, forKey key: Key) -> Bool { false }
  func decode(_ type: String.Type, forKey key: Key) -> String { "" }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try BlankDecoder.decode(type)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedDecodingContainer<Nested> { KeyedDecodingContainer(BlankFields<Nested>()) }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { BlankList() }
  func superDecoder() -> any Decoder { BlankDecoder() }
  func superDecoder(forKey key: Key) -> any Decoder { BlankDecoder() }
}

/// No elements.
private struct BlankList: UnkeyedDecodingContainer {
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  var currentIndex: Int { 0 }

  func decodeNil() -> Bool { true }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try BlankDecoder.decode(type) }
  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(BlankFields())
  }
  func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { self }
  func superDecoder() -> any Decoder { BlankDecoder() }
}

/// One value, blank.
private struct BlankScalar: SingleValueDecodingContainer {
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { true }
  func decode(_ type: Bool.Type) -> Bool { false }
  func decode(_ type: String.Type) -> String { "" }
  func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) -> T { 0 }
  func decode<T: BinaryFloatingPoint & Decodable>(_ type: T.Type) -> T { 0 }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try BlankDecoder.decode(type) }
}
