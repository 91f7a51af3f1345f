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
  /// By coding keys, those that were asked for.
  private var properties: [String: Property] = [:]
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
    if let property = properties[key] { return property }
    let property = try resolve(key)
    properties[key] = property
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

  init(_ schema: ExchangeSchema) { self.schema = schema }

  func plan(_ traits: ModelTraits) throws(ArborError) -> ModelPlan {
    if let plan = plans[ObjectIdentifier(traits)] { return plan }
    let plan = try ModelPlan(traits, schema)
    plans[ObjectIdentifier(traits)] = plan
    return plan
  }

  /// The entity of an object.
  func entity(of object: ManagedObject) -> ExchangeEntity? {
    schema.entity(named: object.entity.name)
  }
}
