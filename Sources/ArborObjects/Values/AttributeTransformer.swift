public import ArborFoundation

/// A type that converts the Swift values of a transformable attribute to stored bytes and back.
///
/// A model refers to the transformer of each transformable attribute by name. The application
/// registers a transformer under that name (see ``AttributeTransformers``). The bytes are stored in
/// the record, compared by predicates and returned by `value(forKey:)`.
///
/// ```swift
/// struct PNGTransformer: AttributeTransformer {
///   func data(from image: Image) throws -> Data { try image.pngData() }
///   func value(from data: Data) throws -> Image { try Image(png: data) }
/// }
/// AttributeTransformers.register(PNGTransformer(), named: "PNG")
/// ```
///
/// Equal values should have equal bytes; otherwise, setting an equal value counts as a change. The
/// methods are called on any thread that reads or writes the attribute, but never inside a write
/// transaction.
///
/// This is not Foundation's `ValueTransformer`, which is an untyped class that isn't thread-safe.
public protocol AttributeTransformer<Transformed>: Sendable {
  /// The Swift type of the values.
  associatedtype Transformed

  /// Returns the stored bytes of a value.
  ///
  /// - Throws: Any error if the value cannot be converted.
  func data(from value: Transformed) throws -> Data

  /// Returns the value decoded from bytes that ``data(from:)`` created, possibly in an earlier
  /// version of the program.
  ///
  /// - Throws: Any error if the bytes are invalid.
  func value(from data: Data) throws -> Transformed
}

/// A transformer that stores any `Codable` value as JSON in canonical form, so that equal values
/// have equal bytes.
///
/// ```swift
/// AttributeTransformers.register(CodableTransformer<Address>(), named: "Address")
/// ```
public struct CodableTransformer<Transformed: Codable>: AttributeTransformer {
  /// Creates a transformer.
  public init() {}

  /// Returns the JSON of a value. Infinite numbers are encoded as strings.
  ///
  /// - Throws: `EncodingError`, for example for NaN.
  public func data(from value: Transformed) throws -> Data { try CanonicalJSON.encode(value) }

  /// Returns the value of JSON data.
  ///
  /// - Throws: `DecodingError` if the data isn't a valid value.
  public func value(from data: Data) throws -> Transformed {
    try CanonicalJSON.decode(Transformed.self, from: data)
  }
}
