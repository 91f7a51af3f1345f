import ArborModel
import ArborObjects

/// The relationships of an item's object.
extension ItemRun {
  /// Connects an object with what its item says of a relationship.
  ///
  /// - Returns: Whether anything has changed.
  mutating func connect(
    _ object: ManagedObject, _ mapped: ItemRelationship, _ members: PlannedMembers,
    _ mapping: ItemMapping
  ) throws(ArborError) -> Bool {
    let name = mapped.relationship.name
    switch members {
    case .absent:
      return mapping.rules.clearsAbsent ? try clear(object, mapped, deletes: false) : false
    case .null(let node):
      if took(object, node, name, mapping) { return true }
      let describes = mapped.reference == nil
      return try clear(object, mapped, deletes: describes && mapped.policy == .replace)
    case .one(let item, let child, let node):
      if took(object, node, name, mapping) { return true }
      let former = object.object(at: mapped.place)
      if mapped.policy == .replace, let former { delete(former) }
      let target = try item.flatMap { planned throws(ArborError) in try run(planned) }
      if child.rules.deletesMissing, let former, former !== target {
        try noteMissing([former], within: child.rules.scope)
      }
      guard object.object(at: mapped.place) !== target else { return former !== target }
      return try node.placing(entity: mapping.entity.name, property: name) {
        try object.setObject(target, at: mapped.place)
        return former !== target
      }
    case .list(let items, let child, let node):
      if took(object, node, name, mapping) { return true }
      if mapped.policy == .replace {
        for member in object.objects(at: mapped.place) { delete(member) }
      }
      let members = try run(items)
      return try node.placing(entity: mapping.entity.name, property: name) {
        try connect(object, mapped, with: members, child)
      }
    case .named(let reference):
      references.append(
        PendingReference(
          object: object, entity: mapping.entity.name, relationship: mapped, reference: reference))
      return false
    }
  }

  private mutating func connect(
    _ object: ManagedObject, _ mapped: ItemRelationship, with members: [ManagedObject],
    _ child: ItemMapping
  ) throws(ArborError) -> Bool {
    switch mapped.policy {
    case .replace:
      try object.setObjects(members, at: mapped.place)
      return true
    case .merge: return try add(members, to: object, mapped.place)
    case .mergeAndPrune:
      let added = try add(members, to: object, mapped.place)
      return try prune(object, mapped.place, keeping: members) || added
    case .assign: return try assign(members, to: object, mapped, child)
    }
  }

  private mutating func delete(_ object: ManagedObject) {
    context.delete(object)
    counts.deleted += 1
  }

  /// Empties a relationship, within what its mapping may touch.
  private mutating func clear(
    _ object: ManagedObject, _ mapped: ItemRelationship, deletes: Bool
  ) throws(ArborError) -> Bool {
    let place = mapped.place
    guard mapped.relationship.isToMany else {
      guard object.object(at: place) != nil else { return false }
      try object.setObject(nil, at: place)
      return true
    }
    guard mapped.policy != .merge, object.count(at: place) > 0 else { return false }
    if deletes {
      for member in object.objects(at: place) { delete(member) }
    }
    try object.setObjects([], at: place)
    return true
  }

  /// Adds members that are none yet, without a look at the others.
  func add(
    _ members: [ManagedObject], to object: ManagedObject, _ place: PropertyPlace
  ) throws(ArborError) -> Bool {
    var added = false
    for member in members where !object.contains(member, at: place) {
      try object.add(member, at: place)
      added = true
    }
    return added
  }

  private func prune(
    _ object: ManagedObject, _ place: PropertyPlace, keeping members: [ManagedObject]
  ) throws(ArborError) -> Bool {
    let kept = Set(members)
    var pruned = false
    for member in object.objects(at: place) where !kept.contains(member) {
      try object.remove(member, at: place)
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
    let former = object.objects(at: mapped.place)
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
    return try set(target, of: object, mapped)
  }

  /// Makes objects the members of a relationship, unless they are already.
  func set(
    _ members: [ManagedObject], of object: ManagedObject, _ mapped: ItemRelationship
  ) throws(ArborError) -> Bool {
    let former = object.objects(at: mapped.place)
    let isSame =
      mapped.relationship.isOrdered ? former == members : Set(former) == Set(members)
    if !isSame { try object.setObjects(members, at: mapped.place) }
    return !isSame
  }

  /// Whether an object's own hook has taken what its item says of a relationship.
  private func took(
    _ object: ManagedObject, _ node: JSONNode, _ name: String, _ mapping: ItemMapping
  ) -> Bool {
    mapping.rules.callsHooks && Self.mayHaveHooks(object)
      && object.importValue(node.value, forKey: name)
  }
}
