import ArborFoundation
import ArborModel
import ArborObjects

/// The mapping of the properties of a model type to its entity.
final class ModelMapping {
  /// The counterpart of a property in the entity.
  enum Property {
    case attribute(AttributeCoder)
    case relationship(MappedRelationship)
    case excluded
  }

  let traits: ModelTraits
  let entity: EntitySchema
  /// The mapping for writing models. It contains all attributes in slot order, and all
  /// relationships.
  let exchange: ExchangeMapping
  private let schema: ModelSchema
  /// The properties that have been requested, in the order of the first request.
  private var properties: [(key: String, property: Property, isChecked: Bool)] = []
  /// The indexes in `properties` by coding key.
  private var indexes: [String: Int] = [:]
  /// The index after the property that was requested last. Models request their keys in a constant
  /// order.
  private var cursor = 0
  private(set) var hasRelationships = false

  /// - Parameter scope: The objects that an upsert may match, change and unlink.
  init(
    _ traits: ModelTraits, _ schema: ModelSchema, within scope: UpsertScope
  ) throws(ArborError) {
    guard let entity = schema.entity(named: traits.entityName) else {
      throw ArborError(
        .invalidMapping,
        "\(traits.name) belongs to the entity “\(traits.entityName)”, which the model doesn't "
          + "have. Correct its entityName."
          + NearestName.hint(traits.entityName, in: schema.entityNames)
      ).with(entity: traits.entityName)
    }
    self.traits = traits
    self.entity = entity
    self.schema = schema
    for (key, name) in traits.managedKeys.renamedKeys where entity.property(named: name) == nil {
      throw Self.unknown(name, of: key, traits, entity)
    }
    var identity = try Self.identity(traits, entity)
    identity?.scope = scope.predicate(for: entity, in: schema)
    exchange = try ExchangeMapping(ofAll: entity, in: schema, identity: identity)
  }

  /// Returns the attributes of the uniquing keys, in the order of their keys, and the relationship
  /// among them. Returns `nil` if there are no uniquing keys.
  private static func identity(
    _ traits: ModelTraits, _ entity: EntitySchema
  ) throws(ArborError) -> ExchangeIdentity? {
    guard !traits.uniquingKeys.isEmpty else { return nil }
    var identity = ExchangeIdentity()
    for key in traits.uniquingKeys.sorted() {
      switch traits.managedKeys.name(for: key).flatMap(entity.property(named:)) {
      case .attribute(let attribute):
        identity.slots.append(attribute.slot)
        traits.expect(key)
      case .relationship(let relationship)
      where !relationship.isToMany && identity.parent == nil:
        identity.parent = relationship
      default:
        throw ArborError(
          .invalidMapping,
          "\(traits.name) is identified by “\(key)”, which is not an attribute of \(entity.name). "
            + "List coding keys of attributes in uniquingKeys."
        ).with(entity: entity.name, keyPath: key)
      }
    }
    return identity
  }

  /// Returns the counterpart of a property in the entity.
  ///
  /// - Parameter type: The type of the property, or `nil` if it is unknown. If the counterpart is a
  ///   relationship, the type must fit it regardless of the value.
  func property(_ key: String, as type: Any.Type? = nil) throws(ArborError) -> Property {
    let index = try index(of: key)
    cursor = index + 1
    let property = properties[index].property
    guard case .relationship(let relationship) = property, !properties[index].isChecked, let type
    else { return property }
    try check(DeclaredType(type), "\(type)", of: key, relationship)
    properties[index].isChecked = true
    return property
  }

  /// Returns the index of a property in `properties`.
  private func index(of key: String) throws(ArborError) -> Int {
    if cursor >= properties.count { cursor = 0 }
    if cursor < properties.count, properties[cursor].key == key { return cursor }
    if let index = indexes[key] { return index }
    let property = try resolve(key)
    indexes[key] = properties.count
    properties.append((key, property, false))
    if case .relationship = property { hasRelationships = true }
    return properties.count - 1
  }

  /// Checks that the type of a property can hold the destinations of a relationship.
  private func check(
    _ type: DeclaredType, _ name: String, of key: String, _ relationship: MappedRelationship
  ) throws(ArborError) {
    switch (type, relationship.isToMany) {
    case (.other, _), (.list(.other), true): return
    case (.model(let model), false), (.list(.model(let model)), true):
      guard let linked = schema.entity(named: model.entityName),
        !linked.isKind(of: relationship.destination), !relationship.destination.isKind(of: linked)
      else { return }
      throw unsupported(relationship, key, "\(model)", of: linked)
    default: throw unsupported(relationship, key, "is \(name)")
    }
  }

  /// Returns the error for a property whose models don't belong to the destination of a
  /// relationship.
  func unsupported(
    _ relationship: MappedRelationship, _ key: String, _ model: String, of linked: EntitySchema
  ) -> ArborError {
    ArborError(
      .unsupportedRelationship,
      "\(entity.name).\(relationship.name) has the destination \(relationship.destination.name), "
        + "but \(model) in \(traits.name).\(key) belongs to \(linked.name). Use a model of the "
        + "destination."
    ).with(entity: entity.name, keyPath: relationship.name)
  }

  /// Returns the error for a property that cannot hold the destinations of a relationship.
  func unsupported(
    _ relationship: MappedRelationship, _ key: String, _ found: String
  ) -> ArborError {
    let (target, form) =
      relationship.isToMany
      ? ("several objects", "collection of value models") : ("one object", "value model")
    return ArborError(
      .unsupportedRelationship,
      "\(entity.name).\(relationship.name) refers to \(target), but \(traits.name).\(key) "
        + "\(found). Declare it as a \(form)."
    ).with(entity: entity.name, keyPath: relationship.name)
  }

  private func resolve(_ key: String) throws(ArborError) -> Property {
    guard let name = traits.managedKeys.name(for: key) else { return .excluded }
    guard let index = exchange.index(of: name) else {
      throw Self.unknown(name, of: key, traits, entity)
    }
    if index < exchange.attributes.count { return .attribute(exchange.attributes[index].coder) }
    guard traits.managedTransformers[key] == nil else {
      throw ArborError(
        .invalidMapping,
        "\(traits.name).\(key) has a transformer, but the property is a relationship of "
          + "\(entity.name). Use transformers for attributes only, and a model for the "
          + "relationship."
      ).with(entity: entity.name, keyPath: name)
    }
    return .relationship(exchange.relationships[index - exchange.attributes.count])
  }

  /// Returns the error for a name that isn't a property of the entity.
  private static func unknown(
    _ name: String, of key: String, _ traits: ModelTraits, _ entity: EntitySchema
  ) -> ArborError {
    ArborError(
      .invalidManagedKey,
      "\(traits.name).\(key) maps to “\(name)” in the store, but \(entity.name) has no such "
        + "property. Rename or exclude it in "
        + "managedKeys." + NearestName.hint(name, in: entity.propertyNames)
    ).with(entity: entity.name, keyPath: name)
  }
}

/// The mappings of the model types that a call uses.
final class ModelMappings {
  let shapes = ModelShapes()
  private let schema: ModelSchema
  private let scope: UpsertScope
  private var mappings: [ObjectIdentifier: ModelMapping] = [:]
  private var last: ModelMapping?

  init(_ schema: ModelSchema, within scope: UpsertScope = .all) {
    self.schema = schema
    self.scope = scope
  }

  func mapping(of traits: ModelTraits) throws(ArborError) -> ModelMapping {
    if let last, last.traits === traits { return last }
    if let known = mappings[ObjectIdentifier(traits)] {
      last = known
      return known
    }
    let mapping = try ModelMapping(traits, schema, within: scope)
    mappings[ObjectIdentifier(traits)] = mapping
    last = mapping
    return mapping
  }
}

/// The kind of value that the declared type of a property can hold, as determined from the type
/// alone. The values themselves are checked when they are read or written. Checking the declared
/// type detects an unsuitable property even if its value is `nil` or empty.
indirect enum DeclaredType {
  /// A number, a string or another single value.
  case scalar
  case model(any ValueModel.Type)
  case list(DeclaredType)
  /// A type whose own coding determines the kind.
  case other

  init(_ type: Any.Type) {
    func rawValue<T: RawRepresentable>(of type: T.Type) -> DeclaredType {
      DeclaredType(T.RawValue.self)
    }
    func element<T: Sequence>(of type: T.Type) -> DeclaredType { DeclaredType(T.Element.self) }
    self =
      switch type {
      case let optional as any OptionalModelValue.Type: DeclaredType(optional.wrappedType)
      case let model as any ValueModel.Type: .model(model)
      case is Bool.Type, is String.Type, is Date.Type, is Data.Type, is URL.Type, is UUID.Type,
        is Decimal.Type, is any BinaryInteger.Type, is any BinaryFloatingPoint.Type:
        .scalar
      case let raw as any RawRepresentable.Type: rawValue(of: raw)
      case let sequence as any Sequence.Type: .list(element(of: sequence))
      default: .other
      }
  }
}

/// The mapping of the coding keys of a value model to property names of its entity.
///
/// ```swift
/// static let managedKeys: ValueModelMapping = .identity
///   .renaming(["bannerID": "id"]).excluding("cached")
/// ```
public struct ValueModelMapping: Sendable, Hashable {
  private var names: [String: String] = [:]
  private var excluded: Set<String> = []

  /// The mapping of a model whose property names equal its coding keys.
  public static let identity = ValueModelMapping()

  private init() {}

  /// Returns a copy with different names for some properties.
  ///
  /// - Parameter names: The property names of the entity, by coding key.
  public func renaming(_ names: [String: String]) -> ValueModelMapping {
    var mapping = self
    mapping.names.merge(names) { _, new in new }
    mapping.excluded.subtract(names.keys)
    return mapping
  }

  /// Returns a copy that excludes properties. An excluded property must be optional or have no
  /// coding key.
  public func excluding(_ keys: String...) -> ValueModelMapping { excluding(keys) }

  /// Returns a copy that excludes a sequence of properties.
  public func excluding(_ keys: some Sequence<String>) -> ValueModelMapping {
    var mapping = self
    mapping.excluded.formUnion(keys)
    for key in keys { mapping.names[key] = nil }
    return mapping
  }

  /// Returns the name of a property in the entity, or `nil` if the property is excluded.
  public func name(for key: String) -> String? { excluded.contains(key) ? nil : names[key] ?? key }

  /// The renamed properties, in the order of their coding keys.
  var renamedKeys: [(key: String, name: String)] {
    names.sorted { $0.key < $1.key }.map { (key: $0.key, name: $0.value) }
  }

  /// The coding keys that the mapping renames or excludes.
  var namedKeys: Set<String> { excluded.union(names.keys) }
}
