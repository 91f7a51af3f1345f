internal import ArborFoundation
internal import ArborLocks
internal import ArborModel

/// The transformers registered in this process, keyed by the names that models use.
///
/// They are registered per process rather than per store, because a model file refers to them by
/// name, as it does to classes: a name denotes the same byte format wherever the model is used.
/// Register them before objects are read. Stores can be opened without them; a transformer is
/// needed only when its attribute is accessed.
public enum AttributeTransformers {
  private static let known = Lock<[String: any AttributeTransformer]>([:])

  /// Registers a transformer, replacing any other with the same name. Can be called on any thread.
  ///
  /// - Parameters:
  ///   - transformer: The transformer.
  ///   - name: The name in the model: `.transformable("Address")`.
  public static func register(_ transformer: some AttributeTransformer, named name: String) {
    known.withLock { $0[name] = transformer }
  }

  /// Returns the transformer with a name, or `nil` if none is registered.
  public static func transformer(named name: String) -> (any AttributeTransformer)? {
    known.withLock { $0[name] }
  }

  /// The names of the registered transformers, sorted.
  public static var names: [String] { known.withLock { $0.keys.sorted() } }
}

/// A transformable attribute of an object with its transformer, both of which appear in errors.
struct TransformedAttribute {
  private let object: ManagedObject
  private let attribute: AttributeSchema
  private let name: String

  /// Returns `nil` if the attribute is not transformable.
  init?(_ object: ManagedObject, _ attribute: AttributeSchema) {
    guard case .transformable(let name) = attribute.description.type else { return nil }
    self.object = object
    self.attribute = attribute
    self.name = name
  }

  func value<T>(of data: Data, as type: T.Type) throws(ArborError) -> T {
    let transformer = try transformer()
    let value: Any
    do { value = try Self.decode(data, by: transformer) } catch {
      throw problem(
        .typeMismatch,
        "contains bytes that the transformer “\(name)” cannot read. Register the transformer that "
          + "wrote them, or set a new value.", error)
    }
    guard let typed = value as? T else {
      throw problem(
        .typeMismatch,
        "is a \(Swift.type(of: value)), from the transformer “\(name)”, and cannot be read as "
          + "\(T.self). Correct the type or the registration.")
    }
    return typed
  }

  func data(from value: Any) throws(ArborError) -> Data {
    let transformer = try transformer()
    do {
      if let data = try Self.encode(value, by: transformer) { return data }
    } catch {
      throw problem(
        .invalidArgument, "cannot store the value: the transformer “\(name)” cannot encode it.",
        error)
    }
    throw problem(
      .typeMismatch,
      "takes a value of the transformer “\(name)”, not a \(Swift.type(of: value)). Correct the "
        + "type or the registration.")
  }

  private func transformer() throws(ArborError) -> any AttributeTransformer {
    if let transformer = AttributeTransformers.transformer(named: name) { return transformer }
    throw problem(
      .unknownName,
      "is transformed by “\(name)”, but no such transformer is registered. Register it with "
        + "AttributeTransformers.register(_:named:)."
        + NearestName.hint(name, in: AttributeTransformers.names))
  }

  private static func decode(_ data: Data, by transformer: some AttributeTransformer) throws -> Any
  {
    try transformer.value(from: data)
  }

  /// Returns `nil` if the value doesn't have the transformer's type.
  private static func encode<T: AttributeTransformer>(
    _ value: Any, by transformer: T
  ) throws -> Data? {
    guard let typed = value as? T.Transformed else { return nil }
    return try transformer.data(from: typed)
  }

  private func problem(
    _ code: ArborError.Code, _ what: String, _ underlying: (any Error)? = nil
  ) -> ArborError {
    let entity = object.binding.entity.name
    return ArborError(code, "\(entity).\(attribute.name) \(what)").with(
      entity: entity, objectID: object.objectID, keyPath: attribute.name, underlying: underlying)
  }
}
