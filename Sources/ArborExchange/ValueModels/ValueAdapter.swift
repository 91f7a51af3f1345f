public import ArborJSON
import ArborModel

/// Makes value models from JSON and renders them as JSON.
///
/// ```swift
/// let banners = try ValueAdapter.decode([Banner].self, from: .data(response))
/// let json = try ValueAdapter.encode(banners)
/// ```
///
/// What a property takes of JSON, unless it has a transformer:
///
/// | property | JSON |
/// |---|---|
/// | integers | a whole number in the type's range; `1.0` is whole |
/// | `Double`, `Float` | a number in the type's range |
/// | `Decimal` | a number of at most 38 digits |
/// | `Bool`, `String` | `true` and `false`, a string |
/// | `Date` | ISO 8601, as `"2024-05-01T12:30:00Z"` |
/// | `Data`, `URL`, `UUID` | base64, the text of a URL, the text of a UUID |
/// | enumerations with raw values | the raw value |
/// | models | an object by the model's paths |
/// | other `Codable` types | what their own coding asks for |
///
/// A key that is missing and `null` both make an optional property nil. A model with
/// ``ValueModel/defaults`` takes the property from there where the key is missing; an initializer
/// of its own tells them apart by `contains(_:)`. Keys that no property asks for are ignored. Any
/// other type of JSON is an error; nothing is converted.
///
/// Safe on any thread.
public enum ValueAdapter {
  /// Makes a model, a list of models or any other decodable type of models from JSON.
  ///
  /// - Parameters:
  ///   - type: What to make.
  ///   - source: The document.
  ///   - limits: The size and depth beyond which a document is refused.
  /// - Throws: ``ArborError`` with source, line, column and JSON path: `malformedDocument` and
  ///   `fileUnreadable`; `invalidDocument` where a value does not fit,
  ///   `unparsableValue` for a text that it cannot be read from, `invalidPath` if a path of the
  ///   model continues beyond a value that is not an object, `noModelType`, `initialization`,
  ///   `invalidMapping`; `modelError` for what a transformer or a model's
  ///   ``ValueModel/validate()`` throws.
  /// - Complexity: Linear in the size of the JSON.
  public static func decode<T: Decodable>(
    _ type: T.Type, from source: JSONSource, limits: JSONLimits = JSONLimits()
  ) throws(ArborError) -> T {
    let document = try source.document(limits: limits)
    let decoder = ModelDecoder(JSONNodeSource(document.root), JSONReading())
    do { return try decoder.read(type, decoder.source) } catch { throw ArborError(byModel: error) }
  }

  /// Renders a model, a list of models or any other encodable value as JSON, by the models' paths
  /// and transformers. The result of applying ``decode(_:from:limits:)`` to it is equal to what it was
  /// made of.
  ///
  /// A property that leads back to an instance on the way to it is left out.
  ///
  /// ```swift
  /// let json = try ValueAdapter.encode(banner)
  /// let names = try ValueAdapter.encode(banners, options: .init(keys: ["bannerID", "picURL"]))
  /// ```
  ///
  /// - Throws: ``ArborError``: `unsupportedProperty` for a number that JSON has not,
  ///   `invalidMapping` where two properties go to one path, `limitExceeded` where models nest too
  ///   deep; `modelError` for what a transformer or a model's `encode(to:)` throws.
  /// - Complexity: Linear in the size of what is rendered.
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

/// What goes into JSON that models are rendered as.
public struct JSONRenderingOptions: Sendable, Hashable {
  /// The coding keys that go into it, of models at any depth; nil: all.
  public var keys: Set<String>?
  /// Whether optional properties that are nil are written as `null`, else they are left out.
  public var writesNulls: Bool

  /// Everything that has a value, unless said otherwise.
  public init(keys: Set<String>? = nil, writesNulls: Bool = false) {
    self.keys = keys
    self.writesNulls = writesNulls
  }
}

/// What goes wrong between value models, JSON and the store.
extension ArborError.Code {
  /// A model's `modelType(for:)` has no type for an object, or one that cannot stand for the type
  /// that was asked for.
  public static let noModelType = ArborError.Code(rawValue: "noModelType")
  /// A model cannot be made of what is there: a property without a value has to have one, or the
  /// model's own `init(from:)` has thrown what lies beneath.
  public static let initialization = ArborError.Code(rawValue: "initialization")
  /// A model's own code has thrown: a transformer, `merge(from:)`, `validate()` or `encode(to:)`. Its
  /// error is ``ArborError/underlying``.
  public static let modelError = ArborError.Code(rawValue: "modelError")
  /// A property's name in the entity is none of the entity's.
  public static let invalidManagedKey = ArborError.Code(rawValue: "invalidManagedKey")
  /// A property's type is none that its attribute can hold.
  public static let unsupportedProperty = ArborError.Code(rawValue: "unsupportedProperty")
  /// A property that is a relationship is no model, or no collection of models.
  public static let unsupportedRelationship = ArborError.Code(rawValue: "unsupportedRelationship")
  /// The objects that models are could not be looked up; the reason lies beneath.
  public static let uniqueFetchFailed = ArborError.Code(rawValue: "uniqueFetchFailed")
  /// What a model type says of itself contradicts its properties, its entity or itself.
  public static let invalidMapping = ArborError.Code(rawValue: "invalidMapping")
}

extension ArborError {
  /// The error for one that was thrown by a model's own code, or by the library itself.
  init(byModel error: any Error) {
    self =
      error as? ArborError
      ?? ArborError(
        .modelError,
        "The model's code threw \(type(of: error)). See the underlying error."
      ).with(underlying: error)
  }
}
