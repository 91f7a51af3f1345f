import ArborModel
import ArborObjects
import Foundation
import Synchronization

/// What a model type says of itself, asked for once in a call.
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
  /// Whether every property has its own name in JSON, by its own coding.
  let isPlainJSON: Bool

  /// The back references by coding keys, of the keys that were asked for; nil for a key that is
  /// none.
  var backReferenceKeys: [String: AnyKeyPath?] = [:]
  /// The types that back references lead to and keys were asked for.
  var askedBackReferences: Set<ObjectIdentifier> = []

  var choosesNoTypeForJSON: ModelHook.IsIdle = nil
  var validatesNothing: ModelHook.IsIdle = nil
  var mergesNothing: ModelHook.IsIdle = nil
  var filtersNothing: ModelHook.IsIdle = nil

  /// The coding keys that the type names and no container has known yet.
  private var unknownKeys: Set<String> = []
  private var askedKeys: Set<ObjectIdentifier> = []
  /// The properties of the type's defaults, once one was missing.
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

  /// Adds a uniquing key that has to be a coding key: one that is an attribute, which only its entity
  /// tells.
  func expect(_ key: String) { unknownKeys.insert(key) }

  /// Notes that a container of the type was made with some coding keys.
  func note<Key: CodingKey>(_ keys: Key.Type) {
    guard !unknownKeys.isEmpty, askedKeys.insert(ObjectIdentifier(keys)).inserted else { return }
    unknownKeys = unknownKeys.filter { Key(stringValue: $0) == nil }
  }

  /// Finds names that are no coding keys, once the type has shown which it has.
  func checkKeys() throws {
    guard !unknownKeys.isEmpty else { return }
    let names = unknownKeys.sorted().map { "“\($0)”" }.joined(separator: ", ")
    throw ArborError(
      .invalidMapping,
      "\(name) has no coding key \(names). Use existing coding keys in its mapping, paths, "
        + "transformers and uniquing keys."
    ).with(entity: entityName, keyPath: unknownKeys.min())
  }

  /// What stands in for a property that is missing; `nil` if nothing does.
  func standard<T>(_ key: String, as type: T.Type) throws -> T? {
    if standards == nil { standards = try self.type.defaults.map(PropertyRecorder.values) ?? [:] }
    return standards?[key].flatMap { $0 as? T }
  }

  /// What a transformer makes of a property; its errors name the property.
  func write<Raw>(
    _ value: Any?, of key: String, by transformer: PropertyTransformer<Raw>
  ) throws -> Raw {
    do { return try transformer.write(value) } catch {
      let error = ArborError(byModel: error)
      throw error.with(entity: error.entity ?? entityName, keyPath: error.keyPath ?? key)
    }
  }

  /// Checks a model that was made, as its type wants it.
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

/// What is known of a type that is decoded or encoded.
final class ModelShape {
  enum Kind {
    case boolean, integer, double, string, date, data, url, uuid, decimal, model
    /// Whatever its own coding asks for.
    case plain
  }

  let kind: Kind
  /// Whether the type is an enumeration or the like that stands for one value.
  let hasRawValue: Bool
  let isOptional: Bool
  /// Of models.
  let traits: ModelTraits?

  init(_ type: Any.Type) {
    traits = (type as? any ValueModel.Type).map(ModelTraits.init)
    kind = traits == nil ? Self.kind(of: type) : .model
    hasRawValue = type is any RawRepresentable.Type
    isOptional = type is any OptionalModelValue.Type
  }

  /// The types that are read as they are, without their own coding. That of Foundation's types
  /// would take a date apart into its number.
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

/// The shapes of the types that a call meets.
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

  /// What a model type says of itself.
  func traits(of type: any ValueModel.Type) -> ModelTraits {
    shape(of: type).traits ?? ModelTraits(type)
  }
}

/// Finds out whether a type has a hook of its own. Those that have none are not asked again: a hook
/// costs, as where all of an item's JSON has to be shown to it.
enum ModelHook: Sendable {
  /// Whether a hook is known to do nothing; nil until it was called.
  typealias IsIdle = Bool?

  private final class Probe: Sendable {
    let isDefault = Atomic(false)
  }

  @TaskLocal private static var probe: Probe?

  /// The implementation that every model has at first calls this.
  static func noteDefault() { probe?.isDefault.store(true, ordering: .relaxed) }

  /// Calls a hook and notes whether that was the implementation that every model has at first.
  static func call<R>(noting isIdle: inout IsIdle, _ hook: () throws -> R) rethrows -> R {
    guard isIdle == nil else { return try hook() }
    let probe = Probe()
    let result = try $probe.withValue(probe, operation: hook)
    isIdle = probe.isDefault.load(ordering: .relaxed)
    return result
  }
}

/// Keeps the properties that a model writes, by their coding keys and as they are.
final class PropertyRecorder: ModelWriting {
  let shapes = ModelShapes()
  private(set) var values: [String: Any] = [:]

  /// The properties of a model that have a value.
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
