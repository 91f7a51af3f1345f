import ArborJSON
import ArborModel
import ArborObjects

/// The relationships of an item's object.
extension ExchangeRun {
  /// Connects an object with the targets of a relationship in its item. Returns `false` if nothing
  /// changes.
  func connect(
    _ object: ManagedObject, _ link: ExchangePlan.Link, _ item: ExchangePlan.Item,
    _ mapping: ExchangeMapping
  ) throws(ArborError) -> Bool {
    let relationship = mapping.relationships[Int(link.relationship)]
    if link.isDeferred {
      deferred.append(
        DeferredLink(
          object: object, relationship: relationship, link: link,
          location: .node(document: item.document, link.node)))
      return false
    }
    if link.content == .absent {
      guard mapping.rules.clearsAbsent else { return false }
      return try clear(object, relationship, deletes: false)
    }
    if mapping.rules.callsHooks, object.overridesImportValue {
      let name = relationship.name
      if plan.node(item, link.node).tell({ object.importValue($0, forKey: name) }) { return true }
    }
    if link.content == .null {
      let deletes = relationship.reference == nil && relationship.policy == .replace
      return try clear(object, relationship, deletes: deletes)
    }
    let former = relationship.isToMany ? nil : object.object(atSlot: relationship.slot)
    if relationship.policy == .replace {
      let replaced =
        relationship.isToMany
        ? object.objects(atSlot: relationship.slot) : former.map { [$0] } ?? []
      try deleteReplaced(replaced, of: object, relationship, link)
    }
    if link.mapping >= 0, let table = plan.tables[Int(link.mapping)], table.parent != nil {
      // The members of the object are looked up again.
      table.forget(object)
    }
    let owner = Owner(object: object, relationship: relationship)
    var members: [ManagedObject] = []
    members.reserveCapacity(Int(link.count))
    for case .item(let index) in plan.members(of: link) {
      if !parents.isEmpty, let known = parents.removeValue(forKey: index) {
        members.append(known)
      } else {
        try carryOutItem(index, within: owner, &members)
      }
    }
    if let former, former !== members.first {
      let rules = plan.mappings[Int(link.mapping)].rules
      if rules.deletesMissing { try noteMissing([former], within: rules.scope) }
    }
    do throws(ArborError) {
      if relationship.isToMany {
        return try setMembers(members.eachOnce, of: object, relationship, link)
      }
      _ = try relationship.set(members.first, of: object)
      return former !== members.first
    } catch {
      throw misfit(error, relationship, link, item)
    }
  }

  /// Sets the listed members according to the relationship's policy. Returns `false` only if
  /// nothing changes.
  private func setMembers(
    _ members: [ManagedObject], of object: ManagedObject, _ relationship: MappedRelationship,
    _ link: ExchangePlan.Link
  ) throws(ArborError) -> Bool {
    switch relationship.policy {
    case .replace: return try relationship.set(members, of: object)
    case .merge: return try relationship.add(members, to: object)
    case .mergeAndPrune:
      let added = try relationship.add(members, to: object)
      return try prune(object, relationship, keeping: members) || added
    case .assign:
      return try assign(members, to: object, relationship, plan.mappings[Int(link.mapping)].rules)
    case .putFirst: return try putFirst(members, of: object, relationship)
    }
  }

  /// Returns an error with the location of the relationship's value.
  private func misfit(
    _ error: ArborError, _ relationship: MappedRelationship, _ link: ExchangePlan.Link,
    _ item: ExchangePlan.Item
  ) -> ArborError {
    error.located(
      plan.mapping(of: item).entity.name, relationship.name,
      at: plan.node(item, link.node).location)
  }

  // MARK: Policies

  /// Deletes the former members of a replaced relationship that belong only to its owner. Objects
  /// that other objects refer to are kept, and so are objects that an earlier item of this import
  /// described and this one describes again.
  private func deleteReplaced(
    _ former: [ManagedObject], of owner: ManagedObject, _ relationship: MappedRelationship,
    _ link: ExchangePlan.Link
  ) throws(ArborError) {
    guard !former.isEmpty else { return }
    let members = Set(former)
    var described: Set<ManagedObject>?
    for member in former {
      try plan.limit.check()
      let inverse = relationship.schema.inverseSlot
      if member.isShared(by: owner, inverseSlot: inverse, members: members) { continue }
      if counts.hasTouched(member) {
        if described == nil { described = try existing(link, within: owner) }
        if described?.contains(member) == true { continue }
      }
      delete(member)
    }
  }

  /// Returns the existing objects that the items of a link will update.
  private func existing(
    _ link: ExchangePlan.Link, within owner: ManagedObject
  ) throws(ArborError) -> Set<ManagedObject> {
    var objects: Set<ManagedObject> = []
    for case .item(let index) in plan.members(of: link) {
      let item = plan.items[Int(index)]
      guard item.key >= 0, let table = plan.tables[Int(item.mapping)] else { continue }
      objects.formUnion(try existing(item, table, item.isWithinParent ? owner : nil))
    }
    return objects
  }

  /// Clears a relationship. A to-many relationship with the policy `merge` is left unchanged.
  ///
  /// - Parameter deletes: Whether members that belong only to the object are deleted.
  /// - Returns: Whether anything changed.
  private func clear(
    _ object: ManagedObject, _ relationship: MappedRelationship, deletes: Bool
  ) throws(ArborError) -> Bool {
    let slot = relationship.slot
    guard relationship.isToMany else { return try relationship.set(nil, of: object) }
    guard relationship.policy != .merge, object.count(atSlot: slot) > 0 else { return false }
    if deletes {
      let nothing = ExchangePlan.Link(relationship: -1)
      try deleteReplaced(object.objects(atSlot: slot), of: object, relationship, nothing)
    }
    try object.setObjects([], atSlot: slot)
    return true
  }

  private func prune(
    _ object: ManagedObject, _ relationship: MappedRelationship, keeping members: [ManagedObject]
  ) throws(ArborError) -> Bool {
    let kept = Set(members)
    var pruned = false
    for member in object.objects(atSlot: relationship.slot) where !kept.contains(member) {
      try object.remove(member, atSlot: relationship.slot)
      pruned = true
    }
    return pruned
  }

  /// Sets a relationship to a list. Members outside of the scope are left unchanged. Returns
  /// `false` if nothing changes.
  private func assign(
    _ members: [ManagedObject], to object: ManagedObject, _ relationship: MappedRelationship,
    _ rules: ExchangeRules
  ) throws(ArborError) -> Bool {
    let former = object.objects(atSlot: relationship.slot)
    let listed = Set(members)
    var outside: [ManagedObject] = []
    if let scope = rules.scope {
      for member in former where !listed.contains(member) {
        if try !scope.matches(member) { outside.append(member) }
      }
    }
    let target = outside + members
    if rules.deletesMissing {
      let kept = Set(target)
      try noteMissing(former.filter { !kept.contains($0) }, within: nil)
    }
    return try relationship.set(target, of: object)
  }

  /// Adds members to existing ones, which may have been added through the inverse. In an ordered
  /// relationship, the listed ones come first.
  func putFirst(
    _ members: [ManagedObject], of object: ManagedObject, _ relationship: MappedRelationship
  ) throws(ArborError) -> Bool {
    let slot = relationship.slot
    if relationship.isOrdered, object.count(atSlot: slot) > 0 {
      let listed = Set(members)
      let others = object.objects(atSlot: slot).filter { !listed.contains($0) }
      try object.setObjects(members + others, atSlot: slot)
    } else {
      for member in members { try object.add(member, atSlot: slot) }
    }
    return true
  }
}
