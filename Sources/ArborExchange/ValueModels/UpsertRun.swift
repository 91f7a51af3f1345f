import ArborModel
import ArborObjects

/// Writes planned models into a context: each object found or made, then its attributes, at the end
/// all relationships.
///
/// Runs inside a savepoint of the context, so that whatever it throws leaves nothing behind.
struct UpsertRun {
  private let plan: UpsertPlan
  private let context: ManagedObjectContext
  private let identities: IdentityMap
  /// How many nodes' identities have been looked up, or asked for.
  private var known = 0
  /// The models that are written: those that were passed in, then what they lead to, level by
  /// level.
  private var queue: [UpsertNode] = []
  private var rootObjects: Set<ManagedObject> = []

  init(_ plan: UpsertPlan, in context: ManagedObjectContext) {
    self.plan = plan
    self.context = context
    identities = IdentityMap(context)
  }

  mutating func run() throws {
    try plan.takeApart()
    for node in plan.roots { enqueue(node) }
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      // A model that merges may lead to further ones.
      if known < plan.nodes.count { try lookUp() }
      try fill(node)
      guard !node.isReference else { continue }
      for link in node.links { for linked in link.nodes { enqueue(linked) } }
    }
    // What was passed in comes last: the inverse of a relationship that only a reached model has
    // may change it.
    for node in queue where !node.isRoot && !node.isReference { try connect(node) }
    for node in plan.roots { try connect(node) }
  }

  private mutating func enqueue(_ node: UpsertNode) {
    guard !node.isQueued else { return }
    node.isQueued = true
    queue.append(node)
  }

  /// Finds the objects of all models that have come since the last time, in one fetch per entity.
  private mutating func lookUp() throws {
    for node in plan.nodes[known...] {
      if let identity = node.identity { table(of: node).want(identity) }
    }
    known = plan.nodes.count
    do throws(ArborError) {
      try identities.fetch()
    } catch {
      throw ArborError(
        .uniqueFetchFailed,
        "The objects that the models are could not be looked up; see the error beneath."
      ).with(entity: error.entity, keyPath: error.keyPath, underlying: error)
    }
  }

  /// The identities of the objects that a model can be, looked up once for its type.
  private func table(of node: UpsertNode) -> IdentityTable {
    if let table = node.plan.identities { return table }
    let table = identities.table(for: node.plan.entity, by: node.plan.uniquing.map(\.attribute))
    node.plan.identities = table
    return table
  }

  /// Finds or makes the object of a model and sets its attributes.
  private mutating func fill(_ node: UpsertNode) throws {
    defer { if node.isRoot, let object = node.object { rootObjects.insert(object) } }
    if let identity = node.identity, let object = table(of: node).objects(for: identity).first {
      node.object = object
      node.isReference = !node.isRoot && rootObjects.contains(object)
      guard !node.isReference else { return }
      try merge(node, object)
      for attribute in node.attributes { try set(attribute, of: object, isNew: false) }
      return
    }
    let object = try context.insert(node.plan.entity.name)
    node.object = object
    // A new object keeps its default where the model has nothing to say.
    for attribute in node.attributes where !attribute.content.isNull {
      try set(attribute, of: object, isNew: true)
    }
    try identities.note(object, of: node.plan.entity)
  }

  /// Lets a model take over what it does not want to overwrite.
  private func merge(_ node: UpsertNode, _ object: ManagedObject) throws {
    let traits = node.plan.traits
    guard traits.mergesNothing != true else { return }
    func merged<M: ValueModel>(_ model: M) throws -> any ValueModel {
      var model = model
      try ModelHook.call(noting: &traits.mergesNothing) { try model.merge(from: object) }
      return model
    }
    do { node.model = try merged(node.model) } catch { throw OwnError(error: error) }
    guard traits.mergesNothing != true else { return }
    try plan.takeApart(node)
    try plan.takeApart()
  }

  private func set(
    _ attribute: UpsertNode.Attribute, of object: ManagedObject, isNew: Bool
  ) throws {
    guard !attribute.attribute.isDerived else { return }
    switch attribute.content {
    case .transformable(let value):
      try object.setTransformedValue(value, forKey: attribute.attribute.name)
    case .value(let value):
      let slots = try attribute.attribute.slots(in: context)
      // What stays as it is, is no change.
      if isNew || object.value(at: slots) != value { try object.setValue(value, at: slots) }
    }
  }

  private func connect(_ node: UpsertNode) throws {
    guard let object = node.object else { return }
    for link in node.links {
      let slots = try link.relationship.slots(in: context)
      let targets = link.nodes.compactMap(\.object)
      guard link.relationship.isToMany else {
        guard object.object(at: slots) !== targets.first else { continue }
        try object.setObject(targets.first, at: slots)
        continue
      }
      _ = try link.relationship.set(targets.eachOnce, of: object, at: slots)
    }
  }
}
