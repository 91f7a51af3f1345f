import ArborModel
import ArborObjects

/// How the properties of a model type lie in its entity.
final class ModelPlan {
  /// What a property is there.
  enum Property {
    case attribute(ExchangeAttribute)
    case relationship(ExchangeRelationship)
    case excluded
  }

  let traits: ModelTraits
  let entity: ExchangeEntity
  private let schema: ExchangeSchema
  /// Those that were asked for, in the order of the first time.
  private var properties: [(key: String, property: Property, isChecked: Bool)] = []
  /// The indexes of coding keys among them.
  private var indexes: [String: Int] = [:]
  /// The index behind the last that was asked for: models name their keys in one order.
  private var cursor = 0
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
          + "correct its entityName." + NearestName.hint(traits.entityName, in: schema.entityNames)
      ).with(entity: traits.entityName)
    }
    self.traits = traits
    self.entity = entity
    self.schema = schema
    for (key, name) in traits.managedKeys.renamedKeys where entity.property(named: name) == nil {
      throw Self.unknown(name, of: key, traits, entity)
    }
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
  ///
  /// - Parameter type: The property's type, which has to fit a relationship whatever the property
  ///   holds; nil where it is not known.
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
    _ type: DeclaredType, _ name: String, of key: String, _ relationship: ExchangeRelationship
  ) throws(ArborError) {
    switch (type, relationship.isToMany) {
    case (.other, _), (.list(.other), true): return
    case (.model(let model), false), (.list(.model(let model)), true):
      guard let linked = schema.entity(named: model.entityName),
        !linked.isKind(of: relationship.destination),
        schema.entity(named: relationship.destination)?.isKind(of: linked.name) == false
      else { return }
      throw unsupported(relationship, key, "\(model)", of: linked)
    default: throw unsupported(relationship, key, "is \(name)")
    }
  }

  /// The error for a property whose models do not belong to what a relationship leads to.
  func unsupported(
    _ relationship: ExchangeRelationship, _ key: String, _ model: String, of linked: ExchangeEntity
  ) -> ArborError {
    ArborError(
      .unsupportedRelationship,
      "\(entity.name).\(relationship.name) leads to \(relationship.destination), and \(model) in "
        + "\(traits.name).\(key) belongs to \(linked.name); use a model of the destination."
    ).with(entity: entity.name, keyPath: relationship.name)
  }

  /// The error for a property that cannot hold what a relationship leads to.
  func unsupported(
    _ relationship: ExchangeRelationship, _ key: String, _ found: String
  ) -> ArborError {
    let (target, form) =
      relationship.isToMany
      ? ("several objects", "collection of value models") : ("one object", "value model")
    return ArborError(
      .unsupportedRelationship,
      "\(entity.name).\(relationship.name) leads to \(target), and \(traits.name).\(key) \(found); "
        + "declare it as a \(form)."
    ).with(entity: entity.name, keyPath: relationship.name)
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
    case nil: throw Self.unknown(name, of: key, traits, entity)
    }
  }

  /// The error for a name that no property of the entity has.
  private static func unknown(
    _ name: String, of key: String, _ traits: ModelTraits, _ entity: ExchangeEntity
  ) -> ArborError {
    ArborError(
      .invalidManagedKey,
      "\(traits.name).\(key) is “\(name)” in the store, and \(entity.name) has no such property; "
        + "rename or exclude it in managedKeys." + NearestName.hint(name, in: entity.propertyNames)
    ).with(entity: entity.name, keyPath: name)
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

  func entity(of object: ManagedObject) -> ExchangeEntity? {
    schema.entity(named: object.entity.name)
  }
}
