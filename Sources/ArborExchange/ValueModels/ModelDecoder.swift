import ArborFoundation
import ArborModel

/// A decoder of one value of a source.
final class ModelDecoder<Source: ValueModelSource>: Decoder {
  let source: Source
  let session: Source.Session
  /// The traits of the model being initialized, or `nil` for any other value.
  let traits: ModelTraits?
  let parent: ModelDecoder?
  let key: (any CodingKey)?
  /// The position of the member that was found last.
  var cursor = 0

  init(
    _ source: Source, _ session: Source.Session, traits: ModelTraits? = nil,
    parent: ModelDecoder? = nil, key: (any CodingKey)? = nil
  ) {
    self.source = source
    self.session = session
    self.traits = traits
    self.parent = parent
    self.key = key
  }

  var codingPath: [any CodingKey] { (parent?.codingPath ?? []) + (key.map { [$0] } ?? []) }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if source.isNull { throw missing("an object") }
    try source.demandMembers()
    traits?.note(type)
    return KeyedDecodingContainer(ModelMembers<Source, Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    if source.isNull { throw missing("a list") }
    return ModelElements(decoder: self, sources: try source.elements())
  }

  /// Decodes a value of a type from the source of this decoder or from a part of it.
  func read<T: Decodable>(
    _ type: T.Type, _ source: Source, key: (any CodingKey)? = nil
  ) throws -> T {
    let shape = session.shapes.shape(of: type)
    if source.isNull, !shape.isOptional, shape.kind != .plain {
      throw Self.missing("a value", source)
    }
    if let value = try source.special(type, shape) { return value }
    switch shape.kind {
    case .boolean: return try cast(source.boolean(), source)
    case .integer: return try cast(source.integer(Int.self), source)
    case .double: return try cast(source.floating(Double.self), source)
    case .string: return try cast(source.string(), source)
    case .date: return try cast(source.date(), source)
    case .data: return try cast(source.data(), source)
    case .url: return try cast(source.url(), source)
    case .uuid: return try cast(source.uuid(), source)
    case .decimal: return try cast(source.decimal(), source)
    case .model: return try readModel(type, source, shape, key)
    case .plain: break
    }
    let decoder = ModelDecoder(source, session, parent: self, key: key)
    do { return try T(from: decoder) } catch let error as DecodingError {
      throw Self.fault(error, source, for: type)
    }
  }

  private func readModel<T: Decodable>(
    _ type: T.Type, _ source: Source, _ shape: ModelShape, _ key: (any CodingKey)?
  ) throws -> T {
    guard let traits = shape.traits else { throw missing("a model") }
    let decoder = ModelDecoder(source, session, traits: traits, parent: self, key: key)
    if source.makesPlainly(traits) { return try decoder.initialize(type) }
    func make<M: ValueModel>(_ type: M.Type) throws -> T {
      try cast(try source.model(type, traits, decoder), source)
    }
    return try make(traits.type)
  }

  /// Decodes a type from the source of this decoder. Errors of the type itself are reported as
  /// initialization errors.
  func initialize<T: Decodable>(_ type: T.Type) throws -> T {
    let value: T
    do {
      value = try T(from: self)
    } catch let error as ArborError {
      throw error
    } catch let error as DecodingError {
      throw Self.fault(error, source, for: type)
    } catch {
      throw source.fault(
        "\(T.self) could not be created from the value. See the underlying error.", .initialization
      ).with(underlying: error)
    }
    try traits?.checkKeys()
    return value
  }

  /// Returns a value as the requested type.
  private func cast<T>(_ value: Any, _ source: Source) throws -> T {
    guard let typed = value as? T else {
      throw source.fault(
        "Expected \(T.self) for the property, but a \(Swift.type(of: value)) was created for it. "
          + "Correct the type that creates it.", .initialization)
    }
    return typed
  }

  /// Returns a transformed property, or `nil` if the transformer returns `nil`.
  func transformed<T>(
    _ type: T.Type, _ source: Source, by transformer: PropertyTransformer<Source.Raw>
  ) throws -> T? {
    let raw = try source.raw()
    let value: Any?
    do { value = try transformer.readAny(raw) } catch {
      // Transformers don't know the location of the value.
      let place = source.fault("", .typeMismatch)
      let error = ArborError(byModel: error)
      throw error.with(
        entity: error.entity ?? place.entity, objectID: error.objectID ?? place.objectID,
        keyPath: error.keyPath ?? place.keyPath, location: error.location ?? place.location)
    }
    guard let value else { return nil }
    return try cast(value, source) as T
  }

  private func missing(_ expectation: String) -> ArborError { Self.missing(expectation, source) }

  /// Returns the error for a missing required value.
  static func missing(_ expectation: String, _ source: Source) -> ArborError {
    source.fault(
      "Expected \(expectation) for the property, but the value is null. Set a value, or make the "
        + "property optional.",
      Source.mismatch == .typeMismatch ? .initialization : Source.mismatch)
  }

  func missing(key: any CodingKey) -> ArborError {
    let name = traits.map { "\($0.name)." } ?? ""
    return source.fault(
      "\(name)\(key.stringValue) has no value. Set one, or make the property optional.",
      Source.mismatch == .typeMismatch ? .initialization : Source.mismatch
    ).with(keyPath: key.stringValue)
  }

  /// Returns the error for a decoding error of a type that implements its own decoding.
  static func fault<T>(_ error: DecodingError, _ source: Source, for type: T.Type) -> ArborError {
    let text =
      switch error {
      case .typeMismatch(let type, let context): "\(context.debugDescription) (\(type))"
      case .valueNotFound(_, let context), .keyNotFound(_, let context),
        .dataCorrupted(let context):
        context.debugDescription
      @unknown default: "The value is not valid."
      }
    let expected = cases(of: type).map { " Expected one of \($0.joined(separator: ", "))." } ?? ""
    return source.fault(
      "The value is not a valid \(type).\(expected)", Source.mismatch
    ).with(offending: text, underlying: error)
  }

  /// Returns the raw values of an enumeration that lists its cases, or `nil` for any other type.
  private static func cases<T>(of type: T.Type) -> [String]? {
    guard let type = type as? any CaseIterable.Type else { return nil }
    func names<C: CaseIterable>(_ type: C.Type) -> [String]? {
      let names = type.allCases.compactMap {
        ($0 as? any RawRepresentable).map { "\($0.rawValue)" }
      }
      return names.isEmpty ? nil : names
    }
    return names(type)
  }
}

/// A value in a document or in a store that a decoder reads. Scalars that cannot be represented
/// exactly are errors.
protocol ValueModelSource {
  /// The state shared by all sources of one call.
  associatedtype Session: ModelSession
  associatedtype Raw: TransformedForm

  /// Whether the value is null.
  var isNull: Bool { get }
  /// Returns the value that a transformer reads.
  func raw() throws -> Raw
  static func transformer(_ key: String, of traits: ModelTraits) -> PropertyTransformer<Raw>?

  func boolean() throws -> Bool
  func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T
  func floating<T: BinaryFloatingPoint>(_ type: T.Type) throws -> T
  func string() throws -> String
  func decimal() throws -> Decimal
  func date() throws -> Date
  func data() throws -> Data
  func url() throws -> URL
  func uuid() throws -> UUID

  func elements() throws -> [Self]
  /// Checks that the value has members.
  func demandMembers() throws
  /// Returns the keys of the members.
  func keys() -> [String]
  /// Returns a member, or `nil` if it is missing.
  ///
  /// - Parameters:
  ///   - type: The requested type, or `nil` if it is unknown.
  ///   - traits: The traits of the model whose property is requested, or `nil` for a member of any
  ///     other value.
  ///   - cursor: The position of the member that was found last; initially 0.
  func member(
    _ key: String, as type: Any.Type?, of traits: ModelTraits?, _ session: Session,
    cursor: inout Int
  ) throws -> Self?

  /// Creates a model of a type from the value.
  func model<M: ValueModel>(_ type: M.Type, _ traits: ModelTraits, _ decoder: ModelDecoder<Self>)
    throws -> M
  /// Returns whether creating a model requires only its initializer.
  func makesPlainly(_ traits: ModelTraits) -> Bool
  /// Returns the value as a type for which the source has its own representation, or `nil` for any
  /// other type. Called before all other representations are tried.
  func special<T: Decodable>(_ type: T.Type, _ shape: ModelShape) throws -> T?
  /// Returns whether an optional property is set after all models have been created and is `nil`
  /// until then. The type is the wrapped type of the property.
  func isPostponed(_ key: String, _ type: Any.Type, _ decoder: ModelDecoder<Self>) throws -> Bool

  /// Returns an error at the location of the value.
  func fault(_ message: String, _ code: ArborError.Code) -> ArborError
  /// The code of the error for a value of an unexpected type.
  static var mismatch: ArborError.Code { get }
}

/// The state shared by all values that one call decodes.
protocol ModelSession: AnyObject {
  var shapes: ModelShapes { get }
}

extension ValueModelSource {
  func isPostponed(
    _ key: String, _ type: Any.Type, _ decoder: ModelDecoder<Self>
  ) throws -> Bool { false }
}

/// Descriptions of the values that a type accepts, for messages.
enum ModelExpectation {
  static func integer<T: FixedWidthInteger>(_ type: T.Type) -> String {
    "an integer from \(T.min) to \(T.max)"
  }
  static func floating<T: BinaryFloatingPoint>(_ type: T.Type) -> String {
    "a number in the range of \(T.self)"
  }
  static let decimal = "a number of at most 38 digits"
  static let date = "a date in ISO 8601, such as \"2024-05-01T12:30:00Z\""
  static let data = "bytes as a base64 string"
  static let url = "a URL as a string"
  static let uuid = "a UUID as a string"
}
