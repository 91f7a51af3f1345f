import ArborModel
import ArborObjects
import Foundation

/// How the properties of a model type lie in its entity.
final class ModelMapping {
  /// What a property is there.
  enum Property {
    case attribute(AttributeCoder)
    case relationship(MappedRelationship)
    case excluded
  }

  let traits: ModelTraits
  let entity: EntitySchema
  /// The mapping by which models are written: it has all attributes by their slots, and all
  /// relationships.
  let exchange: ExchangeMapping
  private let schema: ModelSchema
  /// Those that were asked for, in the order of the first time.
  private var properties: [(key: String, property: Property, isChecked: Bool)] = []
  /// The indexes of coding keys among them.
  private var indexes: [String: Int] = [:]
  /// The index after the last that was asked for: models name their keys in one order.
  private var cursor = 0
  private(set) var hasRelationships = false

  init(_ traits: ModelTraits, _ schema: ModelSchema) throws(ArborError) {
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
    exchange = ExchangeMapping(
      ofAll: entity, in: schema, identity: try Self.identity(traits, entity))
  }

  /// The attributes of the uniquing keys, in the order of their keys, and the relationship among
  /// them.
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

  /// What a property is in the entity.
  ///
  /// - Parameter type: The property's type, which has to fit a relationship whatever the property
  ///   holds; `nil` if it is not known.
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

  /// The index of a property among those that were asked for.
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

  /// Checks that a property's type can hold what a relationship leads to.
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

  /// The error for a property whose models do not belong to what a relationship leads to.
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

  /// The error for a property that cannot hold what a relationship leads to.
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
        "\(traits.name).\(key) has a transformer, but it is a relationship of \(entity.name). Use "
          + "transformers for attributes only, and a model for the relationship."
      ).with(entity: entity.name, keyPath: name)
    }
    return .relationship(exchange.relationships[index - exchange.attributes.count])
  }

  /// The error for a name that no property of the entity has.
  private static func unknown(
    _ name: String, of key: String, _ traits: ModelTraits, _ entity: EntitySchema
  ) -> ArborError {
    ArborError(
      .invalidManagedKey,
      "\(traits.name).\(key) is “\(name)” in the store, but \(entity.name) has no such property. "
        + "Rename or exclude it in managedKeys." + NearestName.hint(name, in: entity.propertyNames)
    ).with(entity: entity.name, keyPath: name)
  }
}

/// The mappings of the model types that a call meets.
final class ModelMappings {
  let shapes = ModelShapes()
  private let schema: ModelSchema
  private var mappings: [ObjectIdentifier: ModelMapping] = [:]
  private var last: ModelMapping?

  init(_ schema: ModelSchema) { self.schema = schema }

  func mapping(of traits: ModelTraits) throws(ArborError) -> ModelMapping {
    if let last, last.traits === traits { return last }
    if let known = mappings[ObjectIdentifier(traits)] {
      last = known
      return known
    }
    let mapping = try ModelMapping(traits, schema)
    mappings[ObjectIdentifier(traits)] = mapping
    last = mapping
    return mapping
  }
}

/// What the declared type of a model's property can hold, as far as the type alone tells. What a
/// property holds is checked where it is read or written; this is for one that is nil or empty.
indirect enum DeclaredType {
  /// A number, a text or another single value.
  case scalar
  case model(any ValueModel.Type)
  case list(DeclaredType)
  /// A type whose own coding decides.
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

/// The names of the properties of a value model in its entity.
///
/// ```swift
/// static let managedKeys: ValueModelMapping = .identity
///   .renaming(["bannerID": "id"]).excluding("cached")
/// ```
public struct ValueModelMapping: Sendable, Hashable {
  private var names: [String: String] = [:]
  private var excluded: Set<String> = []

  /// Every property under its own name: that of its coding key.
  public static let identity = ValueModelMapping()

  private init() {}

  /// The mapping with some properties under other names.
  ///
  /// - Parameter names: The names in the entity, by the coding keys.
  public func renaming(_ names: [String: String]) -> ValueModelMapping {
    var mapping = self
    mapping.names.merge(names) { _, new in new }
    mapping.excluded.subtract(names.keys)
    return mapping
  }

  /// The mapping without some properties, which take no part: they are optional, or have no coding
  /// key at all.
  public func excluding(_ keys: String...) -> ValueModelMapping { excluding(keys) }

  /// The mapping without some properties, which take no part.
  public func excluding(_ keys: some Sequence<String>) -> ValueModelMapping {
    var mapping = self
    mapping.excluded.formUnion(keys)
    for key in keys { mapping.names[key] = nil }
    return mapping
  }

  /// The name of a property in the entity, `nil` if it takes no part.
  public func name(for key: String) -> String? { excluded.contains(key) ? nil : names[key] ?? key }

  /// The properties under other names, in the order of their coding keys.
  var renamedKeys: [(key: String, name: String)] {
    names.sorted { $0.key < $1.key }.map { (key: $0.key, name: $0.value) }
  }

  /// The coding keys that the mapping names.
  var namedKeys: Set<String> { excluded.union(names.keys) }
}
