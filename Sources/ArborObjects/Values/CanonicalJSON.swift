package import ArborFoundation
internal import ArborJSON
package import ArborModel

/// The canonical form in which `Codable` values are stored: that of ``JSONValue/canonicalBytes``, with
/// the elements of sets and dictionaries in the order of their encoded bytes. Infinite numbers are
/// the strings `"Infinity"` and `"-Infinity"`.
///
/// Dates, bytes, URLs and decimals are encoded as by default by `JSONEncoder`.
package enum CanonicalJSON {
  /// The string used for NaN in uncommitted objects. Never committed. The first character has no
  /// meaning in Unicode.
  private static let notANumber = "\u{F8FE}NaN"
  /// The string for NaN as JSON.
  static let unencodable = Data("\"\(notANumber)\"".utf8)

  package static func encode(_ value: some Encodable) throws -> Data {
    let data = try encodeWithNaN(value)
    guard !isUnencodable(data) else {
      throw error(value, "NaN cannot be represented in JSON.")
    }
    return data
  }

  private static func error(_ value: Any, _ message: String) -> EncodingError {
    .invalidValue(value, .init(codingPath: [], debugDescription: message))
  }

  /// Returns the JSON of a value, which the commit checks with ``isUnencodable(_:)``.
  static func encodeForCommit(_ value: some Encodable) -> Data {
    (try? encodeWithNaN(value)) ?? unencodable
  }

  /// Returns whether JSON created by ``encodeForCommit(_:)`` contains NaN or represents a value
  /// that could not be encoded.
  static func isUnencodable(_ data: some DataProtocol) -> Bool {
    data.firstRange(of: unencodable) != nil
  }

  /// Returns the attribute value for a `Codable` value.
  package static func attributeValue(of value: some Encodable) throws -> PropertyValue {
    guard let stored = try encode(value).withUnsafeBytes(JSONKind.value) else {
      throw error(value, "The value has too many levels or equal keys.")
    }
    return stored
  }

  /// Returns the attribute value for a `Codable` value, or null if it cannot be encoded.
  static func value(of value: some Encodable) -> PropertyValue {
    (try? attributeValue(of: value)) ?? .null
  }

  /// Decodes the value of a JSON attribute.
  package static func decoded<T: Decodable>(
    _ type: T.Type, from value: PropertyValue
  ) throws -> T {
    try decode(type, from: Data(value.json?.canonicalBytes ?? []))
  }

  /// Decodes the value of a JSON attribute. Returns `nil` if it is null or the type cannot represent
  /// it.
  static func decode<T: Decodable>(_ type: T.Type, from value: PropertyValue) -> T? {
    value.isNull ? nil : try? decoded(type, from: value)
  }

  private static func encodeWithNaN(_ value: some Encodable) throws -> Data {
    Data(try JSONValue(encoding: value, notANumber: notANumber).canonicalBytes)
  }

  package static func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: notANumber)
    return try decoder.decode(type, from: data)
  }
}

extension ManagedObject {
  /// Returns whether an attribute's JSON contains NaN or represents a value that could not be
  /// encoded.
  final func holdsUnencodable(_ field: RecordField, in record: RecordView) -> Bool {
    CanonicalJSON.isUnencodable(Data(record.bytes(field)))
  }
}
