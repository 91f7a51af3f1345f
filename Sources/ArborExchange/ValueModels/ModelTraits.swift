import ArborFoundation
import ArborModel
import ArborObjects
import Synchronization

/// The declarations of a model type, read once per call.
final class ModelTraits {
  let type: any ValueModel.Type
  let name: String
  let isClass: Bool
  let entityName: String
  let jsonKeyPaths: JSONKeyPaths
  let jsonTransformers: [String: JSONTransformer]
  let managedKeys: ValueModelMapping
  let managedTransformers: [String: ManagedTransformer]
  let uniquingKeys: Set<String>
  let backReferences: [AnyKeyPath]
  /// Whether the JSON keys of all properties equal their coding keys and no property has a
  /// transformer.
  let isPlainJSON: Bool

  /// The back references of the coding keys that have been checked, or `nil` for a coding key that
  /// isn't a back reference.
  var backReferenceKeys: [String: AnyKeyPath?] = [:]
  /// The types of the back references whose coding keys have been checked.
  var askedBackReferences: Set<ObjectIdentifier> = []

  var choosesNoTypeForJSON: ModelHook.IsIdle = nil
  var validatesNothing: ModelHook.IsIdle = nil
  var mergesNothing: ModelHook.IsIdle = nil
  var filtersNothing: ModelHook.IsIdle = nil

  /// The coding keys that the type declares and that no container has confirmed yet.
  private var unknownKeys: Set<String> = []
  private var askedKeys: Set<ObjectIdentifier> = []
  /// The properties of the type's defaults, loaded when a value is missing for the first time.
  private var standards: [String: Any]?

  init(_ type: any ValueModel.Type) {
    self.type = type
    name = "\(type)"
    isClass = type is AnyClass
    entityName = type.entityName
    jsonKeyPaths = type.jsonKeyPaths
    jsonTransformers = type.jsonTransformers
    managedKeys = type.managedKeys
    managedTransformers = type.managedTransformers
    uniquingKeys = type.uniquingKeys
    backReferences = type.backReferences
    isPlainJSON = jsonKeyPaths.paths.isEmpty && jsonTransformers.isEmpty
    unknownKeys = managedKeys.namedKeys.union(jsonKeyPaths.paths.keys)
      .union(jsonTransformers.keys).union(managedTransformers.keys)
  }

  /// Requires a uniquing key to be a coding key. Called for keys that the entity declares as
  /// attributes.
  func expect(_ key: String) { unknownKeys.insert(key) }

  /// Records the coding keys of a container of the type.
  func note<Key: CodingKey>(_ keys: Key.Type) {
    guard !unknownKeys.isEmpty, askedKeys.insert(ObjectIdentifier(keys)).inserted else { return }
    unknownKeys = unknownKeys.filter { Key(stringValue: $0) == nil }
  }

  /// Throws if a declared name isn't a coding key. Called after the type has requested its
  /// containers.
  func checkKeys() throws {
    guard !unknownKeys.isEmpty else { return }
    let names = unknownKeys.sorted().map { "“\($0)”" }.joined(separator: ", ")
    throw ArborError(
      .invalidMapping,
      "\(name) has no coding key \(names). Use existing coding keys in its mapping, paths, "
        + "transformers and uniquing keys."
    ).with(entity: entityName, keyPath: unknownKeys.min())
  }

  /// Returns the default value of a missing property, or `nil` if there is none.
  func standard<T>(_ key: String, as type: T.Type) throws -> T? {
    if standards == nil { standards = try self.type.defaults.map(PropertyRecorder.values) ?? [:] }
    return standards?[key].flatMap { $0 as? T }
  }

  /// Returns the result of a transformer for a property. Errors contain the name of the property.
  func write<Raw>(
    _ value: Any?, of key: String, by transformer: PropertyTransformer<Raw>
  ) throws -> Raw {
    do { return try transformer.write(value) } catch {
      let error = ArborError(byModel: error)
      throw error.with(entity: error.entity ?? entityName, keyPath: error.keyPath ?? key)
    }
  }

  /// Calls a new model's ``ValueModel/validate()``, which may change it, and returns the model.
  func validate<M: ValueModel>(_ model: M) throws -> M {
    if validatesNothing == true { return model }
    var model = model
    do {
      try ModelHook.call(noting: &validatesNothing) { try model.validate() }
    } catch {
      throw ArborError(byModel: error)
    }
    return model
  }
}

/// The properties of a type that determine how it is decoded and encoded.
final class ModelShape {
  enum Kind {
    case boolean, integer, double, string, date, data, url, uuid, decimal, model
    /// Any other type, which implements its own coding.
    case plain
  }

  let kind: Kind
  /// Whether the type is raw representable, such as an enumeration.
  let hasRawValue: Bool
  let isOptional: Bool
  /// The traits of a model type; otherwise `nil`.
  let traits: ModelTraits?

  init(_ type: Any.Type) {
    traits = (type as? any ValueModel.Type).map(ModelTraits.init)
    kind = traits == nil ? Self.kind(of: type) : .model
    hasRawValue = type is any RawRepresentable.Type
    isOptional = type is any OptionalModelValue.Type
  }

  /// Returns the kind of a type whose own `Codable` implementation is bypassed. That of `Date`, for
  /// example, would produce a number.
  private static func kind(of type: Any.Type) -> Kind {
    switch type {
    case is Bool.Type: .boolean
    case is Int.Type: .integer
    case is Double.Type: .double
    case is String.Type: .string
    case is Date.Type: .date
    case is Data.Type: .data
    case is URL.Type: .url
    case is UUID.Type: .uuid
    case is Decimal.Type: .decimal
    default: .plain
    }
  }
}

/// The shapes of the types that a call uses.
final class ModelShapes {
  private var shapes: [ObjectIdentifier: ModelShape] = [:]
  private var last: (type: ObjectIdentifier, shape: ModelShape)?

  func shape(of type: Any.Type) -> ModelShape {
    let id = ObjectIdentifier(type)
    if let last, last.type == id { return last.shape }
    let shape = shapes[id] ?? ModelShape(type)
    shapes[id] = shape
    last = (id, shape)
    return shape
  }

  /// Returns the declarations of a model type.
  func traits(of type: any ValueModel.Type) -> ModelTraits {
    shape(of: type).traits ?? ModelTraits(type)
  }
}

/// Detects whether a type implements a hook. A hook that isn't implemented is called only once,
/// because calling it can be expensive: it may require the entire JSON of an item.
enum ModelHook: Sendable {
  /// Whether the default implementation of a hook is used, or `nil` before the first call.
  typealias IsIdle = Bool?

  private final class Probe: Sendable {
    let isDefault = Atomic(false)
  }

  @TaskLocal private static var probe: Probe?

  /// Records that a default implementation was called.
  static func noteDefault() { probe?.isDefault.store(true, ordering: .relaxed) }

  /// Calls a hook and records whether the default implementation was called.
  static func call<R>(noting isIdle: inout IsIdle, _ hook: () throws -> R) rethrows -> R {
    guard isIdle == nil else { return try hook() }
    let probe = Probe()
    let result = try $probe.withValue(probe, operation: hook)
    isIdle = probe.isDefault.load(ordering: .relaxed)
    return result
  }
}

/// Records the properties that a model encodes, by coding key and without conversion.
final class PropertyRecorder: ModelWriting {
  let shapes = ModelShapes()
  private(set) var values: [String: Any] = [:]

  /// Returns the properties of a model that have a value.
  static func values(of model: any ValueModel) throws -> [String: Any] {
    let recorder = PropertyRecorder()
    func record<M: ValueModel>(_ model: M) throws {
      _ = try ModelEncoder.members(of: model, recorder.shapes.traits(of: type(of: model)), recorder)
    }
    try record(model)
    return recorder.values
  }

  func includes(_ key: String, as type: Any.Type?, of traits: ModelTraits) -> Bool { true }

  func transformed(_ key: String, _ value: Any?, of traits: ModelTraits) -> EncodedValue? {
    values[key] = value
    return .missing
  }

  func special<T: Encodable>(
    _ key: String, _ value: T, _ shape: ModelShape, of traits: ModelTraits
  ) -> EncodedValue? { nil }
}
