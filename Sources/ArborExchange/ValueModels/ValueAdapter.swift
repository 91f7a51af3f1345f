public import ArborJSON
import ArborModel

/// Decodes value models from JSON and renders them as JSON.
///
/// ```swift
/// let banners = try ValueAdapter.decode([Banner].self, from: .data(response))
/// let json = try ValueAdapter.encode(banners)
/// ```
///
/// A property without a transformer uses the following JSON values:
///
/// | Property | JSON |
/// |---|---|
/// | integer types | an integer in the range of the type; `1.0` is an integer |
/// | `Double`, `Float` | a number in the range of the type |
/// | `Decimal` | a number of at most 38 digits |
/// | `Bool`, `String` | `true` or `false`, a string |
/// | `Date` | an ISO 8601 string, such as `"2024-05-01T12:30:00Z"` |
/// | `Data`, `URL`, `UUID` | a base64 string, a URL string, a UUID string |
/// | enumerations with raw values | the raw value |
/// | models | an object according to the model's key paths |
/// | other `Codable` types | the value required by their own coding |
///
/// A missing key and `null` both set an optional property to `nil`. If a key is missing and the
/// model has ``ValueModel/defaults``, the property's value is taken from there. A custom
/// initializer can distinguish the two cases with `contains(_:)`. Keys without a property are
/// ignored. Any other JSON type is an error; values aren't converted.
///
/// Can be used on any thread.
public enum ValueAdapter {
  /// Decodes a model, a list of models or any other decodable type from JSON.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - source: The document.
  ///   - limits: The maximum size and depth of the document.
  /// - Throws: ``ArborError`` with source, line, column and JSON path: `malformedDocument` and
  ///   `fileUnreadable`; `invalidDocument` if a value doesn't have the required type;
  ///   `unparsableValue` if a string cannot be parsed as the required type; `invalidPath` if a path
  ///   of the model continues beyond a value that isn't an object; `noModelType`, `initialization`
  ///   and `invalidMapping`; `modelError` for an error thrown by a transformer or by
  ///   ``ValueModel/validate()``.
  /// - Complexity: Linear in the size of the JSON.
  public static func decode<T: Decodable>(
    _ type: T.Type, from source: JSONSource, limits: JSONLimits = JSONLimits()
  ) throws(ArborError) -> T {
    let document = try source.document(limits: limits)
    let decoder = ModelDecoder(JSONNodeSource(document.root), JSONReading())
    do { return try decoder.read(type, decoder.source) } catch { throw ArborError(byModel: error) }
  }

  /// Renders a model, a list of models or any other encodable value as JSON, according to the key
  /// paths and transformers of the models.
  ///
  /// A property that refers back to an instance that is being rendered is omitted. If no properties
  /// are omitted, decoding the result with ``decode(_:from:limits:)`` returns an equal value.
  ///
  /// ```swift
  /// let json = try ValueAdapter.encode(banner)
  /// let names = try ValueAdapter.encode(banners, options: .init(keys: ["bannerID", "picURL"]))
  /// ```
  ///
  /// - Throws: ``ArborError``: `unsupportedProperty` for a number that JSON cannot represent;
  ///   `invalidMapping` if two properties have the same path; `limitExceeded` if models are nested
  ///   too deeply; `modelError` for an error thrown by a transformer or by the `encode(to:)` of a
  ///   model.
  /// - Complexity: Linear in the size of the result.
  public static func encode(
    _ value: some Encodable, options: JSONRenderingOptions = JSONRenderingOptions()
  ) throws(ArborError) -> JSONValue {
    let rendering = JSONRendering(options)
    do {
      return try rendering.json(ModelEncoder(rendering).encoded(value))
    } catch {
      throw ArborError(byModel: error)
    }
  }
}

/// Options for rendering models as JSON.
public struct JSONRenderingOptions: Sendable, Hashable {
  /// The coding keys to include, for models at any depth, or `nil` to include all keys.
  public var keys: Set<String>?
  /// A Boolean value that indicates whether optional properties that are `nil` are written as
  /// `null` instead of being omitted.
  public var writesNulls: Bool

  /// Creates rendering options. By default, all properties that have a value are written.
  public init(keys: Set<String>? = nil, writesNulls: Bool = false) {
    self.keys = keys
    self.writesNulls = writesNulls
  }
}

/// Errors of conversions between value models, JSON and the store.
extension ArborError.Code {
  /// The `modelType(for:)` of a model returns no type for an object, or a type that isn't the
  /// requested type or a subclass of it.
  public static let noModelType = ArborError.Code(rawValue: "noModelType")
  /// A model cannot be created because a required property has no value, or because its
  /// `init(from:)` threw an error, which is the ``ArborError/underlying`` error.
  public static let initialization = ArborError.Code(rawValue: "initialization")
  /// Custom code of a model threw an error: a transformer, `merge(from:)`, `validate()` or
  /// `encode(to:)`. The error is available as ``ArborError/underlying``.
  public static let modelError = ArborError.Code(rawValue: "modelError")
  /// The name of a property isn't a property name of the entity.
  public static let invalidManagedKey = ArborError.Code(rawValue: "invalidManagedKey")
  /// The type of a property cannot be stored in its attribute.
  public static let unsupportedProperty = ArborError.Code(rawValue: "unsupportedProperty")
  /// A property that corresponds to a relationship isn't a model or a collection of models.
  public static let unsupportedRelationship = ArborError.Code(rawValue: "unsupportedRelationship")
  /// Fetching the objects of models failed. The cause is available as ``ArborError/underlying``.
  public static let uniqueFetchFailed = ArborError.Code(rawValue: "uniqueFetchFailed")
  /// The declarations of a model type contradict each other, its properties or its entity.
  public static let invalidMapping = ArborError.Code(rawValue: "invalidMapping")
}

extension ArborError {
  /// Creates an error from an error that was thrown by custom code of a model or by the library.
  init(byModel error: any Error) {
    if let error = error as? ArborError {
      self = error
    } else if case EncodingError.invalidValue(_, let context) = error {
      // Thrown by the coding of types of the library, of Foundation or of the program.
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      self = ArborError(
        .modelError,
        "A value cannot be encoded: \(context.debugDescription.asClause). Correct the value."
      ).with(keyPath: path.isEmpty ? nil : path, underlying: error)
    } else {
      self = ArborError(
        .modelError,
        "The model's code threw \(type(of: error)). See the underlying error."
      ).with(underlying: error)
    }
  }
}
