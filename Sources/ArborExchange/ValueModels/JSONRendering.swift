import ArborFoundation
import ArborJSON
import ArborModel
import ArborObjects

/// A renderer of models as JSON.
final class JSONRendering: ModelWriting {
  let shapes = ModelShapes()
  private let options: JSONRenderingOptions
  /// The class instances being rendered, innermost last.
  private var open: [ObjectIdentifier] = []
  private var depth = 0

  init(_ options: JSONRenderingOptions) { self.options = options }

  func includes(_ key: String, as type: Any.Type?, of traits: ModelTraits) -> Bool {
    traits.isPlainJSON || !traits.jsonKeyPaths[key].ways.isEmpty
  }

  func transformed(_ key: String, _ value: Any?, of traits: ModelTraits) throws -> EncodedValue? {
    guard !traits.isPlainJSON, let transformer = traits.jsonTransformers[key] else { return nil }
    return .json(try traits.write(value, of: key, by: transformer))
  }

  func special<T: Encodable>(
    _ key: String, _ value: T, _ shape: ModelShape, of traits: ModelTraits
  ) -> EncodedValue? { (value as? JSONValue).map(EncodedValue.json) }

  func json(_ value: EncodedValue) throws -> JSONValue {
    switch value {
    case .missing, .value(.null): return .null
    case .value(.boolean(let flag)): return .bool(flag)
    case .value(.integer(let number)): return .number(JSONNumber(number))
    case .unsigned(let number): return try self.number(JSONNumber(text: "\(number)"))
    case .value(.double(let number)): return try self.number(JSONNumber(number))
    case .float(let number):
      return try self.number(number.isFinite ? JSONNumber(text: "\(number)") : nil)
    case .value(.decimal(let number)): return try self.number(JSONNumber(number))
    case .value(.string(let text)): return .string(text)
    case .value(.date(let date)): return try self.date(date)
    case .value(.binary(let data)): return .string(data.base64EncodedString())
    case .value(.uri(let url)): return .string(url.absoluteString)
    case .value(.uuid(let uuid)): return .string(uuid.uuidString)
    case .json(let json): return json
    case .value, .stored, .transformable:
      throw ArborError(
        .unsupportedProperty,
        "The value is specific to the store and has no JSON representation. Use a transformer for "
          + "the property.")
    case .model(let model): return try nest { try json(of: model) }
    case .list(let parts): return try nest { .array(try parts.values.map(json)) }
    case .members(let parts):
      return try nest {
        var object = JSONObject()
        for (key, value) in zip(parts.keys, parts.values) {
          if case .missing = value, !options.writesNulls { continue }
          object[key] = try json(value)
        }
        return .object(object)
      }
    }
  }

  private func number(_ number: JSONNumber?) throws -> JSONValue {
    guard let number else {
      throw ArborError(
        .unsupportedProperty,
        "JSON has no infinity or NaN. Use a transformer for the property."
      )
    }
    return .number(number)
  }

  private func date(_ date: Date) throws -> JSONValue {
    guard let text = ISO8601Date.text(date) else {
      throw ArborError(
        .unsupportedProperty,
        "The date is outside the years 0000 to 9999, the range that ISO 8601 allows. Use a "
          + "transformer for the property.")
    }
    return .string(text)
  }

  private func nest(_ body: () throws -> JSONValue) throws -> JSONValue {
    let limit = JSONLimits().maximumDepth
    guard depth < limit else {
      throw ArborError(
        .limitExceeded,
        "The models are nested more than \(limit) levels deep. Exclude a property in jsonKeyPaths.")
    }
    depth += 1
    defer { depth -= 1 }
    return try body()
  }

  private func json<M: ValueModel>(of model: M) throws -> JSONValue {
    let traits = shapes.traits(of: type(of: model))
    if traits.isClass { open.append(ObjectIdentifier(model as AnyObject)) }
    defer { if traits.isClass { open.removeLast() } }
    let parts = try ModelEncoder.members(of: model, traits, self)
    let keys = included(parts, of: model, traits)
    var object = JSONObject()
    for (key, value) in zip(parts.keys, parts.values) where keys?.contains(key) ?? true {
      if case .missing = value, !options.writesNulls { continue }
      if isOpen(value) { continue }
      do {
        try set(try json(value), at: traits.jsonKeyPaths[key], in: &object)
      } catch let error as ArborError {
        throw error.with(
          entity: error.entity ?? traits.entityName,
          keyPath: error.keyPath ?? "\(traits.name).\(key)")
      }
    }
    return .object(object)
  }

  /// Returns whether a property refers back to an instance that is being rendered.
  private func isOpen(_ value: EncodedValue) -> Bool {
    switch value {
    case .model(let model):
      return !open.isEmpty && type(of: model) is AnyClass
        && open.contains(ObjectIdentifier(model as AnyObject))
    case .list(let parts): return !open.isEmpty && parts.values.contains(where: isOpen)
    default: return false
    }
  }

  /// Returns the properties that a model serializes, or `nil` for all properties.
  private func included<M: ValueModel>(
    _ parts: EncodedParts, of model: M, _ traits: ModelTraits
  ) -> Set<String>? {
    guard traits.filtersNothing != true else { return options.keys }
    let keys = ModelHook.call(noting: &traits.filtersNothing) {
      model.serializableKeys(Set(parts.keys))
    }
    return options.keys.map(keys.intersection) ?? keys
  }

  /// Sets a value at its path and creates missing objects and lists on the path.
  private func set(_ value: JSONValue, at path: JSONKeyPath, in object: inout JSONObject) throws {
    guard path.ways.count > 1, case .object(let values) = value else {
      return try Self.set(value, at: (path.ways.first?.names ?? [])[...], in: &object)
    }
    for way in path.ways {
      guard let part = values[way.text] ?? values[way.names.last ?? ""] else { continue }
      try Self.set(part, at: way.names[...], in: &object)
    }
  }

  private static func set(
    _ value: JSONValue, at path: ArraySlice<String>, in object: inout JSONObject
  ) throws {
    guard let name = path.first else { return }
    object[name] = try placed(value, at: path.dropFirst(), in: object[name], name)
  }

  /// Returns the value of a node after setting a value at a path below it.
  ///
  /// - Parameters:
  ///   - path: The remaining names below the node.
  ///   - present: The current value of the node.
  ///   - name: The name of the node, for an error.
  private static func placed(
    _ value: JSONValue, at path: ArraySlice<String>, in present: JSONValue?, _ name: String
  ) throws -> JSONValue {
    guard let next = path.first else {
      guard present == nil else { throw clash(name) }
      return value
    }
    let index = JSONMemberPath.index(next)
    switch present {
    case .none where index == nil, .object?:
      guard case .object(var object) = present ?? .object(JSONObject()) else { break }
      try set(value, at: path, in: &object)
      return .object(object)
    case .none, .array?:
      // A large index would create a list that consists almost entirely of nulls.
      guard let index, index < maximumIndex,
        case .array(var elements) = present ?? .array([])
      else { break }
      let element: JSONValue? = elements.indices.contains(index) ? elements[index] : JSONValue?.none
      while elements.count <= index { elements.append(.null) }
      elements[index] = try placed(
        value, at: path.dropFirst(), in: element?.isNull == true ? JSONValue?.none : element, next)
      return .array(elements)
    default: break
    }
    throw clash(next)
  }

  private static let maximumIndex = 10_000

  private static func clash(_ name: String) -> ArborError {
    ArborError(
      .invalidMapping,
      "Two properties have the JSON path “\(name)”. Correct jsonKeyPaths, or exclude one in "
        + "serializableKeys(_:).")
  }
}
