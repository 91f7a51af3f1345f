internal import ArborFoundation

/// An encoding of any value as tagged bytes, for attributes without a type.
///
/// A value consists of a one-byte tag and its payload; lengths and counts are 32-bit little-endian
/// integers. The tags are stored and must never change.
package enum ValueCodec {
  private enum Tag: UInt8 {
    case null, no, yes, integer, double, decimal, string, date, binary, uuid, uri, objectID, list
    case composite
  }

  /// More than the levels of JSON.
  private static let maximumDepth = 192

  /// Returns whether a value can be encoded and decoded: it must not be nested too deeply and must
  /// not contain NaN.
  package static func canEncode(_ value: PropertyValue) -> Bool { canEncode(value, depth: 0) }

  private static func canEncode(_ value: PropertyValue, depth: Int) -> Bool {
    guard depth < maximumDepth else { return false }
    switch value {
    case .double, .decimal, .date: return !value.containsNaN
    case .list(let values): return values.allSatisfy { canEncode($0, depth: depth + 1) }
    case .composite(let parts): return parts.values.allSatisfy { canEncode($0, depth: depth + 1) }
    default: return true
    }
  }

  package static func encode(_ value: PropertyValue) -> [UInt8] {
    var bytes: [UInt8] = []
    append(value, to: &bytes)
    return bytes
  }

  private static func append(_ value: PropertyValue, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes.append(Tag.null.rawValue)
    case .boolean(let flag): bytes.append((flag ? Tag.yes : Tag.no).rawValue)
    case .integer(let number): append(.integer, UInt64(bitPattern: number), to: &bytes)
    case .double(let number): append(.double, number.bitPattern, to: &bytes)
    case .date(let date): append(.date, date.timeIntervalSinceReferenceDate.bitPattern, to: &bytes)
    case .decimal(let number):
      append(.decimal, DecimalCodec.encode(number) ?? DecimalCodec.notANumber, to: &bytes)
    case .string(let text): append(.string, Array(text.utf8), to: &bytes)
    case .binary(let data): append(.binary, Array(data), to: &bytes)
    case .uuid(let uuid): append(.uuid, Array(uuid.uuidString.utf8), to: &bytes)
    case .uri(let url): append(.uri, Array(url.absoluteString.utf8), to: &bytes)
    case .objectID(let id): append(.objectID, Array(id.description.utf8), to: &bytes)
    case .list(let values):
      append(.list, count: values.count, to: &bytes)
      for value in values { append(value, to: &bytes) }
    case .composite(let parts):
      append(.composite, count: parts.count, to: &bytes)
      for (name, value) in parts.sorted(by: { $0.key < $1.key }) {
        append(.string(name), to: &bytes)
        append(value, to: &bytes)
      }
    }
  }

  private static func append(_ tag: Tag, _ word: UInt64, to bytes: inout [UInt8]) {
    bytes.append(tag.rawValue)
    withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private static func append(_ tag: Tag, _ payload: [UInt8], to bytes: inout [UInt8]) {
    append(tag, count: payload.count, to: &bytes)
    bytes.append(contentsOf: payload)
  }

  private static func append(_ tag: Tag, count: Int, to bytes: inout [UInt8]) {
    bytes.append(tag.rawValue)
    withUnsafeBytes(of: UInt32(count).littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Returns the value encoded by ``encode(_:)``, or `nil` if the bytes are invalid.
  package static func decode(_ bytes: UnsafeRawBufferPointer) -> PropertyValue? {
    var reader = Reader(bytes: bytes)
    guard let value = reader.value(depth: 0), reader.position == bytes.count else { return nil }
    return value
  }

  private struct Reader {
    let bytes: UnsafeRawBufferPointer
    var position = 0

    mutating func value(depth: Int) -> PropertyValue? {
      guard depth < maximumDepth, let tag = take(1)?.first.flatMap(Tag.init) else { return nil }
      switch tag {
      case .null: return .null
      case .no: return .boolean(false)
      case .yes: return .boolean(true)
      case .integer: return word().map { .integer(Int64(bitPattern: $0)) }
      case .double: return word().map { .double(Double(bitPattern: $0)) }
      case .date:
        return word().map {
          .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)))
        }
      case .list: return list(depth: depth)
      case .composite: return composite(depth: depth)
      default: return payload().flatMap { Self.leaf(tag, $0) }
      }
    }

    private static func leaf(_ tag: Tag, _ payload: UnsafeRawBufferPointer) -> PropertyValue? {
      let text = String(decoding: payload, as: UTF8.self)
      switch tag {
      case .decimal: return DecimalCodec.decode(payload).map(PropertyValue.decimal)
      case .string: return .string(text)
      case .binary: return .binary(Data(payload))
      case .uuid: return UUID(uuidString: text).map(PropertyValue.uuid)
      case .uri: return URL(string: text).map(PropertyValue.uri)
      case .objectID: return (try? ObjectID(text)).map(PropertyValue.objectID)
      default: return nil
      }
    }

    private mutating func list(depth: Int) -> PropertyValue? {
      guard let count = count() else { return nil }
      var values: [PropertyValue] = []
      for _ in 0..<count {
        guard let value = value(depth: depth + 1) else { return nil }
        values.append(value)
      }
      return .list(values)
    }

    private mutating func composite(depth: Int) -> PropertyValue? {
      guard let count = count() else { return nil }
      var parts: [String: PropertyValue] = [:]
      for _ in 0..<count {
        guard case .string(let name)? = value(depth: depth + 1), let value = value(depth: depth + 1)
        else { return nil }
        parts[name] = value
      }
      return .composite(parts)
    }

    private mutating func word() -> UInt64? {
      take(8).map { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    }

    private mutating func count() -> Int? {
      take(4).map { Int(UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self))) }
    }

    private mutating func payload() -> UnsafeRawBufferPointer? { count().flatMap { take($0) } }

    private mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
      guard count <= bytes.count - position else { return nil }
      defer { position += count }
      return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count)])
    }
  }
}
