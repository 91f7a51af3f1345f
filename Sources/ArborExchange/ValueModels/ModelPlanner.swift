import ArborModel
import ArborObjects

/// A planner that converts the value models of one call into a plan before the context is changed.
///
/// An instance of a class is one item, regardless of the number of references to it. Items refer to
/// each other instead of nesting, so graphs can have any depth.
final class ModelPlanner: ModelWriting {
  let plan: ExchangePlan
  let mappings: ModelMappings
  var shapes: ModelShapes { mappings.shapes }
  /// The items of the models that were passed in, without duplicates.
  private(set) var roots: [Int32] = []
  /// The properties that only items of models have, not items of documents, by index in the plan.
  private(set) var models: [Model] = []
  /// The contents of attributes. Index 0 represents an attribute without content.
  private var contents: [StoredForm.Content] = [.value(.null)]
  private var instances: [ObjectIdentifier: Int32] = [:]
  private var taken = 0
  let scope: UpsertScope

  struct Model {
    fileprivate(set) var model: any ValueModel
    let mapping: ModelMapping
    /// Whether the model was passed in, as opposed to being referred to by other models.
    fileprivate(set) var isRoot = false
    /// The item that refers to this one by the inverse of the relationship that is part of the
    /// identity.
    fileprivate(set) var owner: Int32?
  }

  /// - Throws: ``ArborError`` `unknownName` if the scope names an entity that isn't in the model.
  init(_ context: ManagedObjectContext, within scope: UpsertScope) throws(ArborError) {
    let schema = context.store.schema
    for name in scope.predicates.keys.sorted() { _ = try schema.requireEntity(named: name) }
    self.scope = scope
    plan = ExchangePlan(context)
    mappings = ModelMappings(schema, within: scope)
  }

  /// Adds a model that was passed in, and returns its item.
  func root(_ model: any ValueModel) throws -> Int32 {
    let item = try item(model)
    if !models[Int(item)].isRoot { roots.append(item) }
    models[Int(item)].isRoot = true
    return item
  }

  /// Returns the item of a model. Each instance of a class has one item.
  private func item(_ model: any ValueModel) throws -> Int32 {
    let traits = shapes.traits(of: type(of: model))
    guard traits.isClass else { return try add(model, traits) }
    let identity = ObjectIdentifier(model as AnyObject)
    if let known = instances[identity] { return known }
    let item = try add(model, traits)
    instances[identity] = item
    return item
  }

  private func add(_ model: any ValueModel, _ traits: ModelTraits) throws -> Int32 {
    let mapping = try mappings.mapping(of: traits)
    let index = Int32(plan.items.count)
    plan.items.append(
      ExchangePlan.Item(
        mapping: plan.enterMapping(mapping.exchange), document: -1, node: index, key: -1,
        isWithinParent: false, values: 0, firstLink: 0))
    models.append(Model(model: model, mapping: mapping))
    return index
  }

  /// Adds the contents of all models that were added since the last call and of the models that
  /// they refer to.
  func takeApart() throws {
    while taken < models.count {
      try takeApart(Int32(taken))
      taken += 1
    }
  }

  /// Adds the contents of a model. A model that has changed can be added again.
  private func takeApart(_ index: Int32) throws {
    let mapping = models[Int(index)].mapping
    func members<M: ValueModel>(_ model: M) throws -> EncodedParts {
      try ModelEncoder.members(of: model, mapping.traits, self)
    }
    let model = models[Int(index)].model
    let parts = try members(model)
    let form = StoredForm(mapping: mapping)
    let values = plan.values.count
    for _ in mapping.exchange.attributes { plan.values.append(0) }
    var links: [ExchangePlan.Link] = []
    for (key, value) in zip(parts.keys, parts.values) {
      switch try mapping.property(key) {
      case .excluded: continue
      case .attribute(let attribute):
        let content = try form.content(value, of: key, for: attribute)
        guard !attribute.isDerived else { continue }
        plan.values[values + attribute.slot] = Int32(contents.count)
        contents.append(content)
      case .relationship(let relationship):
        guard let models = try Self.models(value, of: key, relationship, mapping) else { continue }
        let name = mapping.exchange.index(of: relationship.name) ?? 0
        var link = ExchangePlan.Link(
          relationship: Int32(name - mapping.exchange.attributes.count), content: .members)
        let items = try models.map(item)
        for item in items { try lead(index, by: relationship, key, to: item) }
        link.first = Int32(plan.members.count)
        link.count = Int32(items.count)
        plan.members += items.map(ExchangePlan.Member.item)
        links.append(link)
      }
    }
    plan.items[Int(index)].values = Int32(values)
    plan.items[Int(index)].firstLink = Int32(plan.links.count)
    plan.items[Int(index)].linkCount = Int32(links.count)
    plan.links += links
    if plan.items[Int(index)].key < 0 { plan.items[Int(index)].key = key(of: index) }
  }

  /// Checks that an item matches the destination of a relationship. If the relationship is part of
  /// the item's identity, records the owner.
  private func lead(
    _ owner: Int32, by relationship: MappedRelationship, _ key: String, to item: Int32
  ) throws {
    let linked = models[Int(item)].mapping
    guard linked.entity.isKind(of: relationship.destination) else {
      throw models[Int(owner)].mapping.unsupported(
        relationship, key, linked.traits.name, of: linked.entity)
    }
    if models[Int(item)].owner == nil, linked.exchange.isIdentified(within: relationship) {
      models[Int(item)].owner = owner
    }
  }

  /// Returns the item that is part of another item's identity: the one that the model itself refers
  /// to, otherwise the one that refers to the model. Returns `nil` if neither exists.
  func parent(of index: Int32) -> Int32? {
    let item = plan.items[Int(index)]
    let relationship = plan.mapping(of: item).parent
    for link in item.links where Int(plan.links[link].relationship) == relationship {
      if case .item(let parent)? = plan.members(of: plan.links[link]).first { return parent }
    }
    return models[Int(index)].owner
  }

  /// Returns the index of the values of a model's uniquing keys and requests their lookup. Returns
  /// -1 if one of them is `nil`.
  private func key(of index: Int32) -> Int32 {
    let item = plan.items[Int(index)]
    guard let table = plan.tables[Int(item.mapping)] else { return -1 }
    let values = plan.mapping(of: item).identityAttributes.map { slot -> PropertyValue in
      guard case .value(let value)? = content(of: item, slot) else { return .null }
      return value
    }
    let key = values.isEmpty ? IdentityKey.none : IdentityKey(values)
    return key.map { table.want($0) } ?? -1
  }

  /// Returns the new content of an attribute, or `nil` if the model doesn't contain it.
  func content(of item: ExchangePlan.Item, _ slot: Int) -> StoredForm.Content? {
    let index = plan.values[Int(item.values) + slot]
    return index == 0 ? nil : contents[Int(index)]
  }

  /// Calls a model's ``ValueModel/merge(from:)`` with the existing object.
  func merge(_ index: Int32, from object: ManagedObject) throws {
    let traits = models[Int(index)].mapping.traits
    guard traits.mergesNothing != true else { return }
    func merged<M: ValueModel>(_ model: M) throws -> any ValueModel {
      var model = model
      try ModelHook.call(noting: &traits.mergesNothing) { try model.merge(from: object) }
      return model
    }
    let model = models[Int(index)].model
    do { models[Int(index)].model = try merged(model) } catch { throw ArborError(byModel: error) }
    guard traits.mergesNothing != true else { return }
    // Merging can add references to further models.
    try takeApart(index)
    try takeApart()
  }

  /// Returns the models of a property, or `nil` if the property is `nil`. In that case, the
  /// relationship remains unchanged.
  private static func models(
    _ value: EncodedValue, of key: String, _ relationship: MappedRelationship,
    _ mapping: ModelMapping
  ) throws(ArborError) -> [any ValueModel]? {
    switch value {
    case .missing, .value(.null): return nil
    case .model(let model) where !relationship.isToMany: return [model]
    case .list(let parts) where relationship.isToMany:
      var models: [any ValueModel] = []
      for part in parts.values {
        guard case .model(let model) = part else {
          throw mapping.unsupported(relationship, key, "is or contains \(part.found)")
        }
        models.append(model)
      }
      return models
    default: throw mapping.unsupported(relationship, key, "is or contains \(value.found)")
    }
  }

  // MARK: ModelWriting

  func includes(_ key: String, as type: Any.Type?, of traits: ModelTraits) throws -> Bool {
    let property = try mappings.mapping(of: traits).property(key, as: type)
    if case .excluded = property { return false }
    return true
  }

  func transformed(_ key: String, _ value: Any?, of traits: ModelTraits) throws -> EncodedValue? {
    guard !traits.managedTransformers.isEmpty, let transformer = traits.managedTransformers[key]
    else { return nil }
    return .stored(try traits.write(value, of: key, by: transformer))
  }

  func special<T: Encodable>(
    _ key: String, _ value: T, _ shape: ModelShape, of traits: ModelTraits
  ) throws -> EncodedValue? {
    guard !shape.hasRawValue, !shape.isOptional,
      case .attribute(let attribute) = try mappings.mapping(of: traits).property(key)
    else { return nil }
    switch attribute.type {
    case .transformable: return .transformable(value)
    case .json: return .value(try CanonicalJSON.attributeValue(of: value))
    default: return nil
    }
  }
}
