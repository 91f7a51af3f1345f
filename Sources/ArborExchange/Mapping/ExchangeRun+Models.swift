import ArborModel
import ArborObjects

/// Value models, which may refer to each other arbitrarily: each object is found or inserted, its
/// attributes are set, and finally all objects are connected.
extension ExchangeRun {
  /// Processes the given models and then the models they refer to, level by level.
  ///
  /// - Throws: ``ArborError``, and any error of a model's `encode(to:)`.
  func carryOutModels(of planner: ModelPlanner) throws {
    try planner.takeApart()
    var queue = planner.roots
    var queued = Set(queue)
    // Items that only refer to an object that was passed in. They change nothing.
    var references: Set<Int32> = []
    var rootObjects: Set<ManagedObject> = []
    var next = 0
    while next < queue.count {
      let index = queue[next]
      next += 1
      if objects.count < plan.items.count { try lookUp() }
      let isRoot = planner.models[Int(index)].isRoot
      if let object = try object(of: index, planner) {
        objects[Int(index)] = object
        guard isRoot || !rootObjects.contains(object) else {
          references.insert(index)
          continue
        }
        try planner.merge(index, from: object)
        try setContents(of: object, index, planner, isNew: false)
      } else {
        try createObject(of: index, planner)
      }
      if isRoot, let object = objects[Int(index)] { rootObjects.insert(object) }
      for link in plan.items[Int(index)].links {
        for case .item(let item) in plan.members(of: plan.links[link])
        where queued.insert(item).inserted {
          queue.append(item)
        }
      }
    }
    // The models passed in come last, because relationships that exist only in reached models may
    // change them through the inverse.
    for index in queue where !planner.models[Int(index)].isRoot && !references.contains(index) {
      try connect(index, within: planner.scope)
    }
    for index in planner.roots { try connect(index, within: planner.scope) }
  }

  /// Looks up the objects of models added since the last lookup, in one fetch per entity.
  private func lookUp() throws(ArborError) {
    objects += Array(repeating: nil, count: plan.items.count - objects.count)
    do throws(ArborError) {
      try plan.fetchObjects()
    } catch {
      throw ArborError(
        .uniqueFetchFailed,
        "The objects of the models could not be fetched. See the underlying error."
      ).with(entity: error.entity, keyPath: error.keyPath, underlying: error)
    }
  }

  /// Returns the object of a model, or `nil` if it is new.
  ///
  /// - Parameter depth: The nesting depth of identities.
  private func object(
    of index: Int32, _ planner: ModelPlanner, depth: Int = 0
  ) throws(ArborError) -> ManagedObject? {
    if objects.indices.contains(Int(index)), let known = objects[Int(index)] { return known }
    let item = plan.items[Int(index)]
    guard item.key >= 0, let table = plan.tables[Int(item.mapping)] else { return nil }
    guard table.parent != nil else { return table.first(at: Int(item.key)) }
    // Models that are part of each other's identity match no object.
    guard depth < ManagedObjectReading.maximumDepth, let parent = planner.parent(of: index),
      let owner = try object(of: parent, planner, depth: depth + 1)
    else { return nil }
    return try table.objects(at: Int(item.key), of: owner).first
  }

  private func createObject(of index: Int32, _ planner: ModelPlanner) throws {
    let item = plan.items[Int(index)]
    let mapping = plan.mapping(of: item)
    let object = try plan.context.insert(mapping.entity.name)
    objects[Int(index)] = object
    try setContents(of: object, index, planner, isNew: true)
    try plan.note(object, of: mapping.entity)
    guard item.key >= 0, let table = plan.tables[Int(item.mapping)], table.parent != nil,
      let parent = planner.parent(of: index),
      let owner = try self.object(of: parent, planner)
    else { return }
    // Must be recorded before the relationship refers to the object.
    _ = try table.objects(at: Int(item.key), of: owner)
    table.note(object, at: Int(item.key), of: owner)
  }

  private func setContents(
    of object: ManagedObject, _ index: Int32, _ planner: ModelPlanner, isNew: Bool
  ) throws(ArborError) {
    let item = plan.items[Int(index)]
    for attribute in plan.mapping(of: item).attributes {
      switch planner.content(of: item, attribute.slot) {
      case nil: break
      // A new object keeps its default if the model has no value.
      case let content? where isNew && content.isNull: break
      case .transformable(let value):
        try object.setTransformedValue(value, forKey: attribute.name)
      case .value(let value):
        // Setting an equal value doesn't count as a change.
        if isNew || !object.value(atSlot: attribute.slot).isIdentical(to: value) {
          try object.setValue(value, atSlot: attribute.slot)
        }
      }
    }
  }

  private func connect(_ index: Int32, within scope: UpsertScope) throws(ArborError) {
    guard let object = objects[Int(index)] else { return }
    let item = plan.items[Int(index)]
    for link in item.links {
      let link = plan.links[link]
      let relationship = plan.mapping(of: item).relationships[Int(link.relationship)]
      var targets: [ManagedObject] = []
      for case .item(let member) in plan.members(of: link) {
        if let target = objects[Int(member)] { targets.append(target) }
      }
      if relationship.isToMany {
        try setMembers(targets.eachOnce, of: object, relationship, within: scope)
      } else {
        _ = try relationship.set(targets.first, of: object)
      }
    }
  }

  /// Sets a to-many relationship. Members outside of the scope stay, before the others if the
  /// relationship is ordered.
  private func setMembers(
    _ members: [ManagedObject], of object: ManagedObject, _ relationship: MappedRelationship,
    within scope: UpsertScope
  ) throws(ArborError) {
    if scope.onlyAdds {
      _ = try relationship.add(members, to: object)
      return
    }
    var outside: [ManagedObject] = []
    if !scope.predicates.isEmpty {
      let listed = Set(members)
      for member in object.objects(atSlot: relationship.slot) where !listed.contains(member) {
        let predicate = scope.predicate(for: member.entitySchema, in: plan.context.store.schema)
        if let predicate, try !predicate.matches(member) { outside.append(member) }
      }
    }
    _ = try relationship.set(outside + members, of: object)
  }
}
