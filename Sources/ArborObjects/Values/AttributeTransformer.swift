internal import ArborModel
public import Foundation

/// Turns the Swift values of a transformable attribute into the bytes that are stored, and back.
///
/// A model names the transformer of each transformable attribute; the application registers one
/// under that name (see ``AttributeTransformers``). The bytes are what the record holds, what
/// predicates compare and what `value(forKey:)` gives.
///
/// ```swift
/// struct PNGTransformer: AttributeTransformer {
///   func data(from image: Image) throws -> Data { try image.pngData() }
///   func value(from data: Data) throws -> Image { try Image(png: data) }
/// }
/// AttributeTransformers.register(PNGTransformer(), named: "PNG")
/// ```
///
/// Equal values should give equal bytes, else setting a value anew counts as a change. The methods
/// are called on whatever thread reads or writes the attribute, and never inside of a write
/// transaction.
///
/// The name is not Foundation's `ValueTransformer`, which exists wherever Foundation does: that is
/// a class whose instances may not cross threads and which knows no types.
public protocol AttributeTransformer<Transformed>: Sendable {
  /// What the application sees.
  associatedtype Transformed

  /// The bytes that are stored for a value.
  ///
  /// - Throws: Any error where the value has no such form.
  func data(from value: Transformed) throws -> Data

  /// The value of bytes that ``data(from:)`` gave, perhaps of an earlier version of the program.
  ///
  /// - Throws: Any error where the bytes are no such value.
  func value(from data: Data) throws -> Transformed
}

/// Keeps any `Codable` value as JSON, its keys sorted so that equal values have equal bytes.
///
/// ```swift
/// AttributeTransformers.register(CodableTransformer<Address>(), named: "Address")
/// ```
public struct CodableTransformer<Transformed: Codable>: AttributeTransformer {
  /// Makes a transformer; it has no state.
  public init() {}

  /// The JSON of a value.
  ///
  /// - Throws: `EncodingError`, for example for NaN. Infinite numbers become texts.
  public func data(from value: Transformed) throws -> Data { try CanonicalJSON.encode(value) }

  /// The value of a JSON text.
  ///
  /// - Throws: `DecodingError` where the text is no such value.
  public func value(from data: Data) throws -> Transformed {
    try CanonicalJSON.decode(Transformed.self, from: data)
  }
}

/// The one form in which `Codable` values are stored: JSON with sorted keys and no white space.
/// Infinite numbers are the texts `"Infinity"` and `"-Infinity"`.
package enum CanonicalJSON {
  /// The text in place of NaN, in uncommitted objects alone: no commit writes it.
  private static let notANumber = "\u{0}NaN"
  /// That text as JSON.
  private static let unencodable = Data(#""\u0000NaN""#.utf8)

  package static func encode(_ value: some Encodable) throws -> Data {
    let data = try encodeWithNaN(value)
    guard !isUnencodable(data) else {
      throw EncodingError.invalidValue(
        value,
        EncodingError.Context(
          codingPath: [], debugDescription: "NaN cannot be represented in JSON."))
    }
    return data
  }

  /// The JSON of a value for the commit to check; see ``isUnencodable(_:)``.
  static func encodeForCommit(_ value: some Encodable) -> Data {
    (try? encodeWithNaN(value)) ?? unencodable
  }

  /// Whether JSON of ``encodeForCommit(_:)`` contains NaN, or its value did not encode.
  static func isUnencodable(_ data: some DataProtocol) -> Bool {
    data.firstRange(of: unencodable) != nil
  }

  private static func encodeWithNaN(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: notANumber)
    return try encoder.encode(value)
  }

  package static func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: notANumber)
    return try decoder.decode(type, from: data)
  }
}

extension ManagedObject {
  /// Whether an attribute's JSON contains NaN, or is that of a value which did not encode.
  final func holdsUnencodable(_ field: RecordField, in record: RecordView) -> Bool {
    guard field.isExternal else {
      return CanonicalJSON.isUnencodable(Data(record.bytes(field)))
    }
    return value(of: field, in: record).data.map(CanonicalJSON.isUnencodable) ?? false
  }
}
