import ArborModel
import ArborObjects

/// How the properties of a model type lie in its entity.
final class ModelPlan {
  /// What a property is there.
  enum Property {
    case attribute(ExchangeAttribute)
    case relationship(ExchangeRelationship)
    /// It takes no part.
    case excluded
  }

  let traits: ModelTraits
  let entity: ExchangeEntity
  /// Those that were asked for, in the order of the first time.
  private var properties: [(key: String, property: Property)] = []
  /// The places of coding keys among them.
  private var places: [String: Int] = [:]
  /// The place behind the last that was asked for: models name their keys in one order.
  private var cursor = 0
  /// Whether a relationship was asked for.
  private(set) var hasRelationships = false
  /// The attributes of the uniquing keys, in the order of their keys.
  let uniquing: [(key: String, attribute: ExchangeAttribute)]
  /// The objects that models of the type can be, where a call looks them up.
  var identities: IdentityTable?

  init(_ traits: ModelTraits, _ schema: ExchangeSchema) throws(ArborError) {
    guard let entity = schema.entity(named: traits.entityName) else {
      throw ArborError(
        .invalidMapping,
        "\(traits.name) belongs to the entity “\(traits.entityName)”, which the model has not; "
          + "correct its entityName."
          + NearestName.hint(traits.entityName, in: schema.entityNames)
      ).with(entity: traits.entityName)
    }
    self.traits = traits
    self.entity = entity
    var uniquing: [(key: String, attribute: ExchangeAttribute)] = []
    for key in traits.uniquingKeys.sorted() {
      guard let name = traits.managedKeys.name(for: key),
        case .attribute(let attribute)? = entity.property(named: name)
      else {
        throw ArborError(
          .invalidMapping,
          "\(traits.name) is told apart by “\(key)”, which is no attribute of "
            + "\(entity.name); name coding keys of attributes in uniquingKeys."
        ).with(entity: entity.name, keyPath: key)
      }
      uniquing.append((key, attribute))
    }
    self.uniquing = uniquing
  }

  /// What a property is in the entity.
  func property(_ key: String) throws(ArborError) -> Property {
    if cursor >= properties.count { cursor = 0 }
    if cursor < properties.count, properties[cursor].key == key {
      cursor += 1
      return properties[cursor - 1].property
    }
    if let place = places[key] {
      cursor = place + 1
      return properties[place].property
    }
    let property = try resolve(key)
    places[key] = properties.count
    properties.append((key, property))
    cursor = properties.count
    if case .relationship = property { hasRelationships = true }
    return property
  }

  private func resolve(_ key: String) throws(ArborError) -> Property {
    guard let name = traits.managedKeys.name(for: key) else { return .excluded }
    switch entity.property(named: name) {
    case .attribute(let attribute): return .attribute(attribute)
    case .relationship(let relationship):
      guard traits.managedTransformers[key] == nil else {
        throw ArborError(
          .invalidMapping,
          "\(traits.name).\(key) has a transformer and is a relationship of \(entity.name); "
            + "transform attributes only, and let the relationship lead to a model."
        ).with(entity: entity.name, keyPath: name)
      }
      return .relationship(relationship)
    case nil:
      throw ArborError(
        .invalidManagedKey,
        "\(traits.name).\(key) is “\(name)” in the store, and \(entity.name) has no such property; "
          + "rename or exclude it in managedKeys."
          + NearestName.hint(name, in: entity.propertyNames)
      ).with(entity: entity.name, keyPath: name)
    }
  }
}

/// The plans of the model types that a call meets.
final class ModelPlans {
  let shapes = ModelShapes()
  private let schema: ExchangeSchema
  private var plans: [ObjectIdentifier: ModelPlan] = [:]
  private var last: ModelPlan?

  init(_ schema: ExchangeSchema) { self.schema = schema }

  func plan(_ traits: ModelTraits) throws(ArborError) -> ModelPlan {
    if let last, last.traits === traits { return last }
    if let known = plans[ObjectIdentifier(traits)] {
      last = known
      return known
    }
    let plan = try ModelPlan(traits, schema)
    plans[ObjectIdentifier(traits)] = plan
    last = plan
    return plan
  }

  /// The entity of an object.
  func entity(of object: ManagedObject) -> ExchangeEntity? {
    schema.entity(named: object.entity.name)
  }
}
