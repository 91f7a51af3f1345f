import ArborJSON
import ArborModel
import ArborObjects

/// The relationships of an item's object.
extension ItemRun {
  /// Connects an object with what its item says of a relationship; false where nothing changes.
  mutating func connect(
    _ object: ManagedObject, _ mapped: ItemRelationship, _ link: ItemPlan.Link,
    _ item: ItemPlan.Item, _ mapping: ItemMapping
  ) throws(ArborError) -> Bool {
    switch link.kind {
    case .absent: return try clear(object, mapped, deletes: false)
    case .named:
      references.append(
        PendingReference(
          object: object, relationship: mapped, first: link.first, count: link.count,
          location: .node(document: item.document, link.node)))
      return false
    case .null, .one, .list: break
    }
    if mapping.rules.callsHooks, object.takesImportedValues {
      let name = mapped.relationship.name
      let node = planner.plan.node(item, link.node)
      if node.tell({ object.importValue($0, forKey: name) }) { return true }
    }
    switch link.kind {
    case .absent, .named: return false
    case .null:
      let describes = mapped.reference == nil
      return try clear(object, mapped, deletes: describes && mapped.policy == .replace)
    case .one: return try connectOne(object, mapped, link, item, mapping)
    case .list: return try connectList(object, mapped, link, item, mapping)
    }
  }

  private mutating func connectOne(
    _ object: ManagedObject, _ mapped: ItemRelationship, _ link: ItemPlan.Link,
    _ item: ItemPlan.Item, _ mapping: ItemMapping
  ) throws(ArborError) -> Bool {
    let former = object.object(at: mapped.slots)
    if mapped.policy == .replace, let former {
      try deleteReplaced([former], of: object, mapped, for: [link.first], link.mapping)
    }
    forgetChildren(of: object, link)
    let target = link.first < 0 ? nil : try run(link.first, within: object)
    if let former, former !== target {
      let rules = planner.plan.mappings[Int(link.mapping)].rules
      if rules.deletesMissing { try noteMissing([former], within: rules.scope) }
    }
    if object.object(at: mapped.slots) !== target {
      do throws(ArborError) {
        try object.setObject(target, at: mapped.slots)
      } catch {
        throw misfit(error, mapped, link, item, mapping)
      }
    }
    return former !== target
  }

  private mutating func connectList(
    _ object: ManagedObject, _ mapped: ItemRelationship, _ link: ItemPlan.Link,
    _ item: ItemPlan.Item, _ mapping: ItemMapping
  ) throws(ArborError) -> Bool {
    let items = planner.plan.members[Int(link.first)..<Int(link.first + link.count)]
    if mapped.policy == .replace {
      let former = object.objects(at: mapped.slots)
      try deleteReplaced(former, of: object, mapped, for: items, link.mapping)
    }
    forgetChildren(of: object, link)
    let members = try run(items, within: object).eachOnce
    do throws(ArborError) {
      return try connect(object, mapped, with: members, planner.plan.mappings[Int(link.mapping)])
    } catch {
      throw misfit(error, mapped, link, item, mapping)
    }
  }

  /// An error with the location of the relationship's value.
  private func misfit(
    _ error: ArborError, _ mapped: ItemRelationship, _ link: ItemPlan.Link,
    _ item: ItemPlan.Item, _ mapping: ItemMapping
  ) -> ArborError {
    error.located(
      mapping.entity.name, mapped.relationship.name, at: planner.plan.node(item, link.node).location
    )
  }

  private mutating func connect(
    _ object: ManagedObject, _ mapped: ItemRelationship, with members: [ManagedObject],
    _ child: ItemMapping
  ) throws(ArborError) -> Bool {
    switch mapped.policy {
    case .replace:
      try object.setObjects(members, at: mapped.slots)
      return true
    case .merge: return try add(members, to: object, mapped.slots)
    case .mergeAndPrune:
      let added = try add(members, to: object, mapped.slots)
      return try prune(object, mapped.slots, keeping: members) || added
    case .assign: return try assign(members, to: object, mapped, child)
    }
  }

  /// Deletes the members of a relationship that it replaces: those that belong to its owner alone.
  /// What other objects refer to is not the owner's to delete, and what an earlier item of this
  /// import has described and this one describes again is the same object.
  private mutating func deleteReplaced(
    _ former: [ManagedObject], of owner: ManagedObject, _ mapped: ItemRelationship,
    for items: some Collection<Int32>, _ mapping: Int32
  ) throws(ArborError) {
    guard !former.isEmpty else { return }
    let members = Set(former)
    var described: Set<ManagedObject>?
    for member in former {
      try planner.limit?.check()
      if member.isShared(by: owner, at: mapped.slots, members: members) { continue }
      if counts.hasTouched(member) {
        if described == nil { described = try objects(of: items, within: owner, mapping) }
        if described?.contains(member) == true { continue }
      }
      delete(member)
    }
  }

  /// The objects that items will update, as far as they are there.
  private func objects(
    of items: some Collection<Int32>, within owner: ManagedObject, _ mapping: Int32
  ) throws(ArborError) -> Set<ManagedObject> {
    guard mapping >= 0, let table = planner.plan.mappings[Int(mapping)].table else { return [] }
    var objects: Set<ManagedObject> = []
    for index in items where index >= 0 {
      let item = planner.plan.items[Int(index)]
      guard item.key >= 0 else { continue }
      let known =
        table.parent == nil
        ? table.objects(at: Int(item.key))
        : item.isWithinParent ? try table.objects(at: Int(item.key), of: owner) : []
      objects.formUnion(known)
    }
    return objects
  }

  /// Lets the children of an object that are told apart within it be looked up afresh.
  private func forgetChildren(of object: ManagedObject, _ link: ItemPlan.Link) {
    guard link.mapping >= 0, let table = planner.plan.mappings[Int(link.mapping)].table,
      table.parent != nil
    else { return }
    table.forget(object)
  }

  mutating func delete(_ object: ManagedObject) {
    context.delete(object)
    counts.deleted += 1
  }

  /// Empties a relationship, within what its mapping may touch.
  private mutating func clear(
    _ object: ManagedObject, _ mapped: ItemRelationship, deletes: Bool
  ) throws(ArborError) -> Bool {
    let slots = mapped.slots
    guard mapped.relationship.isToMany else {
      guard object.object(at: slots) != nil else { return false }
      try object.setObject(nil, at: slots)
      return true
    }
    guard mapped.policy != .merge, object.count(at: slots) > 0 else { return false }
    if deletes {
      try deleteReplaced(object.objects(at: slots), of: object, mapped, for: [], -1)
    }
    try object.setObjects([], at: slots)
    return true
  }

  /// Adds members that are none yet, without a look at the others.
  func add(
    _ members: [ManagedObject], to object: ManagedObject, _ slots: PropertySlots
  ) throws(ArborError) -> Bool {
    var added = false
    for member in members where !object.contains(member, at: slots) {
      try object.add(member, at: slots)
      added = true
    }
    return added
  }

  private func prune(
    _ object: ManagedObject, _ slots: PropertySlots, keeping members: [ManagedObject]
  ) throws(ArborError) -> Bool {
    let kept = Set(members)
    var pruned = false
    for member in object.objects(at: slots) where !kept.contains(member) {
      try object.remove(member, at: slots)
      pruned = true
    }
    return pruned
  }

  /// Makes a relationship what a list says. Members outside of the mapping's scope stay where they
  /// are: they are neither seen nor touched.
  private mutating func assign(
    _ members: [ManagedObject], to object: ManagedObject, _ mapped: ItemRelationship,
    _ child: ItemMapping
  ) throws(ArborError) -> Bool {
    let former = object.objects(at: mapped.slots)
    let listed = Set(members)
    var outside: [ManagedObject] = []
    if let scope = child.rules.scope {
      for member in former where !listed.contains(member) {
        if try !scope.matches(member) { outside.append(member) }
      }
    }
    let target = outside + members
    if child.rules.deletesMissing {
      let kept = Set(target)
      try noteMissing(former.filter { !kept.contains($0) }, within: nil)
    }
    return try mapped.relationship.set(target, of: object, at: mapped.slots)
  }
}
