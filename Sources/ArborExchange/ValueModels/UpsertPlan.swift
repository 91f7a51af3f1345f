import ArborModel
import ArborObjects
import Foundation

/// One model on its way into the store.
final class UpsertNode {
  struct Attribute {
    let key: String
    let attribute: ExchangeAttribute
    let content: StoredForm.Content
  }

  struct Link {
    let key: String
    let relationship: ExchangeRelationship
    let nodes: [UpsertNode]
  }

  var model: any ValueModel
  let plan: ModelPlan
  var attributes: [Attribute] = []
  var links: [Link] = []
  /// What tells the model's object from others; nil: it is a new one.
  var identity: IdentityKey?
  /// The object that the model becomes, once it is known.
  var object: ManagedObject?
  /// Whether the model was passed in; else other models lead to it.
  fileprivate(set) var isRoot = false
  /// Whether the model is among those that are written.
  var isQueued = false
  /// Whether the model is only reached and its object is that of a model that was passed in: it
  /// stands for the object where others refer to it, and changes nothing.
  var isReference = false

  init(_ model: any ValueModel, _ plan: ModelPlan) {
    self.model = model
    self.plan = plan
  }
}

/// The models that one call writes, each taken apart into attributes and links before anything in
/// the context is touched. One instance of a class is one node, whatever leads to it; nothing
/// nests, so that graphs may be as deep as they like.
final class UpsertPlan: ModelWriting {
  let plans: ModelPlans
  var shapes: ModelShapes { plans.shapes }
  private(set) var nodes: [UpsertNode] = []
  /// The nodes of the models that were passed in; an instance that was passed in twice is one.
  private(set) var roots: [UpsertNode] = []
  private let schema: ExchangeSchema
  private var instances: [ObjectIdentifier: UpsertNode] = [:]
  private var taken = 0

  init(_ schema: ExchangeSchema) {
    self.schema = schema
    plans = ModelPlans(schema)
  }

  func root(_ model: any ValueModel) throws -> UpsertNode {
    let node = try node(model)
    if !node.isRoot { roots.append(node) }
    node.isRoot = true
    return node
  }

  /// The node of a model; that of before, where it is an instance that was met already.
  func node(_ model: any ValueModel) throws -> UpsertNode {
    let traits = shapes.traits(of: type(of: model))
    guard traits.isClass else { return try add(model, traits) }
    let identity = ObjectIdentifier(model as AnyObject)
    if let known = instances[identity] { return known }
    let node = try add(model, traits)
    instances[identity] = node
    return node
  }

  private func add(_ model: any ValueModel, _ traits: ModelTraits) throws -> UpsertNode {
    let node = UpsertNode(model, try plans.plan(traits))
    nodes.append(node)
    return node
  }

  /// Takes the models apart that have been met since the last time, and those that they lead to.
  func takeApart() throws {
    while taken < nodes.count {
      try takeApart(nodes[taken])
      taken += 1
    }
  }

  /// Takes a model apart, anew where it has changed since.
  func takeApart(_ node: UpsertNode) throws {
    func members<M: ValueModel>(_ model: M) throws -> EncodedParts {
      try ModelEncoder.members(of: model, node.plan.traits, self)
    }
    let parts = try members(node.model)
    let form = StoredForm(plan: node.plan, schema: schema)
    node.attributes = []
    node.links = []
    for (key, value) in zip(parts.keys, parts.values) {
      switch try node.plan.property(key) {
      case .excluded: continue
      case .attribute(let attribute):
        let content = try form.content(value, of: key, for: attribute)
        node.attributes.append(
          UpsertNode.Attribute(key: key, attribute: attribute, content: content))
      case .relationship(let relationship):
        guard let models = try Self.models(value, of: key, relationship, node.plan) else {
          continue
        }
        let nodes = try models.map(self.node)
        for linked in nodes.map(\.plan) where !linked.entity.isKind(of: relationship.destination) {
          throw node.plan.unsupported(relationship, key, linked.traits.name, of: linked.entity)
        }
        node.links.append(UpsertNode.Link(key: key, relationship: relationship, nodes: nodes))
      }
    }
    if node.object == nil { node.identity = identity(of: node) }
  }

  /// The values of a model's uniquing keys; nil where one is nil.
  private func identity(of node: UpsertNode) -> IdentityKey? {
    guard !node.plan.uniquing.isEmpty else { return nil }
    let values = node.plan.uniquing.map { key, _ -> Value in
      guard case .value(let value)? = node.attributes.first(where: { $0.key == key })?.content
      else { return .null }
      return value
    }
    return IdentityKey(values)
  }

  /// The models that a property leads to; nil where it is nil, which leaves the relationship alone.
  private static func models(
    _ value: EncodedValue, of key: String, _ relationship: ExchangeRelationship, _ plan: ModelPlan
  ) throws(ArborError) -> [any ValueModel]? {
    switch value {
    case .missing, .value(.null): return nil
    case .model(let model) where !relationship.isToMany: return [model]
    case .list(let parts) where relationship.isToMany:
      var models: [any ValueModel] = []
      for part in parts.values {
        guard case .model(let model) = part else {
          throw plan.unsupported(relationship, key, "is or holds \(part.found)")
        }
        models.append(model)
      }
      return models
    default: throw plan.unsupported(relationship, key, "is or holds \(value.found)")
    }
  }

  // MARK: How models write themselves

  func includes(_ key: String, as type: Any.Type?, of traits: ModelTraits) throws -> Bool {
    if case .excluded = try plans.plan(traits).property(key, as: type) { false } else { true }
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
      case .attribute(let attribute) = try plans.plan(traits).property(key)
    else { return nil }
    switch attribute.type {
    case .transformable: return .transformable(value)
    case .binary: return .value(.binary(try CanonicalJSON.encode(value)))
    default: return nil
    }
  }
}
