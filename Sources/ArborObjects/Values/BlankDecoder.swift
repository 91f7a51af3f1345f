internal import ArborFoundation

/// A decoder of blank values: zeros, empty strings, empty collections, `nil`.
///
/// A codable attribute without a value is read as its blank value, just as a missing number is read
/// as zero. Blank values are also placeholders for tracing key paths without an object. A decoder
/// with marks assigns a different value to one part, to distinguish it from the others. A decoder
/// with a record notes the keys and types that the outermost value requests. A decoder with a missing
/// key shows whether the outermost value requires it.
struct BlankDecoder: Decoder {
  /// The error thrown if a type rejects blank parts.
  struct Refused: Error {}

  /// The path of keys to the part with a different value. An empty path marks the whole value,
  /// `nil` no part.
  typealias Marks = ArraySlice<String>

  fileprivate var marks: Marks?
  fileprivate var record: CodableRecord?
  /// The key of a member that the outermost value lacks.
  fileprivate var missing: String?
  /// The number of enclosing values.
  fileprivate var depth = 0

  /// The number of enclosing values from which optional parts are nil although every part is marked.
  /// Recursive types would never end.
  private static let maximumMarkedDepth = 4

  fileprivate var isMarked: Bool { marks?.isEmpty ?? false }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Returns the blank value of a type, or `nil` if it has none.
  static func value<T>(_ type: T.Type, marks: Marks? = nil) -> T? {
    guard let type = type as? any Decodable.Type else { return nil }
    return try? decode(type, marks) as? T
  }

  /// Decodes a blank value to record the keys and types it requests. Returns `false` if the type
  /// rejects a part.
  ///
  /// - Parameter isMarked: Whether every part has its other value.
  static func read(
    _ type: any Decodable.Type, into record: CodableRecord, isMarked: Bool = false
  ) -> Bool {
    (try? type.init(from: BlankDecoder(marks: isMarked ? [] : nil, record: record))) != nil
  }

  /// Returns whether the type accepts an object without a member.
  static func canRead(_ type: any Decodable.Type, without key: String) -> Bool {
    (try? type.init(from: BlankDecoder(missing: key))) != nil
  }

  fileprivate static func decode<T: Decodable>(
    _ type: T.Type, _ marks: Marks?, depth: Int = 0
  ) throws -> T {
    let isTooDeep = depth > maximumMarkedDepth && marks?.isEmpty ?? false
    let marks = isTooDeep ? nil : marks
    if let known = known(type, marks?.isEmpty ?? false) as? T { return known }
    if let value = try? T(from: BlankDecoder(marks: marks, depth: depth)) { return value }
    if type is any RawRepresentable.Type,
      let value = PathTracer.placeholder(type, isLast: marks?.isEmpty ?? false)
    {
      return value
    }
    throw Refused()
  }

  /// Returns the blank value of a Foundation type that cannot be decoded from blank parts, or `nil`
  /// for other types.
  private static func known(_ type: Any.Type, _ isMarked: Bool) -> (any Sendable)? {
    switch type {
    case is UUID.Type: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, isMarked ? 1 : 0))
    case is URL.Type: URL(filePath: isMarked ? "/1" : "/")
    case is Decimal.Type: Decimal(isMarked ? 1 : 0)
    case is Data.Type: Data(isMarked ? [1] : [])
    case is Date.Type: Date(timeIntervalSinceReferenceDate: isMarked ? 1 : 0)
    default: nil
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    record?.isObject = true
    return KeyedDecodingContainer(BlankFields(decoder: self))
  }
  func unkeyedContainer() -> any UnkeyedDecodingContainer {
    record?.isOpaque = true
    return BlankList()
  }
  func singleValueContainer() -> any SingleValueDecodingContainer { BlankScalar(decoder: self) }
}

/// A container in which every requested key exists with a blank value.
private struct BlankFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: BlankDecoder

  var codingPath: [any CodingKey] { [] }
  /// The first case of an enumeration of keys, so that an enumeration with associated values is decoded
  /// as its first case. Dictionaries have other keys, and are decoded as empty ones.
  var allKeys: [Key] { PathTracer.placeholder(Key.self).map { [$0] } ?? [] }

  private func marks(_ key: Key) -> BlankDecoder.Marks? {
    guard let marks = decoder.marks, let first = marks.first else { return decoder.marks }
    return first == key.stringValue ? marks.dropFirst() : nil
  }

  private func isMissing(_ key: Key) -> Bool { decoder.missing == key.stringValue }

  func contains(_ key: Key) -> Bool { !isMissing(key) }
  // When recording, no field is nil, so that its type is requested.
  func decodeNil(forKey key: Key) -> Bool { decoder.record == nil && marks(key) == nil }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try field(type, key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try field(type, key) }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try field(type, key) }
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    decoder.record?.note(key.stringValue, type)
    if isMissing(key) { return nil }
    return try marks(key).map { try BlankDecoder.decode(type, $0, depth: decoder.depth + 1) }
  }

  private func field<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T {
    decoder.record?.note(key.stringValue, type)
    if isMissing(key) {
      throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "Missing."))
    }
    return try BlankDecoder.decode(type, marks(key), depth: decoder.depth + 1)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedDecodingContainer<Nested> {
    decoder.record?.isOpaque = true
    return KeyedDecodingContainer(BlankFields<Nested>(decoder: BlankDecoder(marks: marks(key))))
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
    decoder.record?.isOpaque = true
    return BlankList()
  }
  func superDecoder() -> any Decoder { BlankDecoder() }
  func superDecoder(forKey key: Key) -> any Decoder { BlankDecoder(marks: marks(key)) }
}

/// A container without elements.
private struct BlankList: UnkeyedDecodingContainer {
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  var currentIndex: Int { 0 }

  func decodeNil() -> Bool { true }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try BlankDecoder.decode(type, nil) }
  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(BlankFields(decoder: BlankDecoder()))
  }
  func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { self }
  func superDecoder() -> any Decoder { BlankDecoder() }
}

private struct BlankScalar: SingleValueDecodingContainer {
  let decoder: BlankDecoder

  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { decoder.marks == nil && decoder.record == nil }
  func decode(_ type: Bool.Type) -> Bool {
    decoder.record?.note(type)
    return decoder.isMarked
  }
  func decode(_ type: String.Type) -> String {
    decoder.record?.note(type)
    return decoder.isMarked ? "1" : ""
  }
  func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) -> T {
    decoder.record?.note(type)
    return decoder.isMarked ? 1 : 0
  }
  func decode<T: BinaryFloatingPoint & Decodable>(_ type: T.Type) -> T {
    decoder.record?.note(type)
    return decoder.isMarked ? 1 : 0
  }
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    decoder.record?.note(type)
    return try BlankDecoder.decode(type, decoder.marks, depth: decoder.depth + 1)
  }
}
