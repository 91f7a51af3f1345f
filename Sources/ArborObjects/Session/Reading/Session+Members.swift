internal import ArborModel
internal import ArborStore

/// Relationships of objects by their numbers.
extension Session {
  /// Whether a number is of an entity that a relationship leads to; otherwise the file was forged,
  /// and the workspace remembers the error.
  func admits(_ target: ObjectNumber, of owner: ManagedObject, _ relationship: RelationshipSchema)
    -> Bool
  {
    relationship.leads(to: target) || refuse(target, of: owner, relationship)
  }

  @inline(never)
  func refuse(
    _ target: ObjectNumber, of owner: ManagedObject, _ relationship: RelationshipSchema
  ) -> Bool {
    note(
      .corrupted(
        entity: owner.binding.entity.name, object: owner.number,
        what:
          "The relationship \(relationship.name) refers to the object number \(target.rawValue), "
          + "whose entity it doesn't accept."))
    return false
  }

  /// The relationship that an object's entity has in a slot.
  func relationship(of number: ObjectNumber, _ slot: Int) -> RelationshipSchema? {
    guard let entity = schema.entity(of: number), entity.relationships.indices.contains(slot) else {
      return nil
    }
    return entity.relationships[slot]
  }
}

/// The members of relationships.
extension Session {
  /// The members of a to-many relationship with all pending changes: in their order where it is
  /// ordered, else ascending. Never fails; the context remembers the error.
  func members(of owner: ManagedObject, _ relationship: RelationshipSchema) -> [ObjectNumber] {
    owner.session == nil ? [] : members(of: owner.number, relationship)
  }

  /// The members of an object's to-many relationship, whether it is registered or not.
  func members(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> [ObjectNumber] {
    let members = storedMembers(of: owner, relationship)
    guard let edit = links.edit(owner, relationship), !edit.isSilent else { return members }
    return edit.members(over: members)
  }

  /// The number of members with all pending changes, without reading them.
  func memberCount(of owner: ManagedObject, _ relationship: RelationshipSchema) -> Int {
    guard owner.session != nil else { return 0 }
    let edit = links.edit(owner.number, relationship)
    guard owner.change?.kind != .inserted else { return edit?.added.count ?? 0 }
    return known(0) { snapshot throws(StoreError) in
      var count = try snapshot.memberCount(relationship, of: owner.number)
      for member in edit?.removedMembers ?? [] {
        let wasMember = try snapshot.contains(member, in: relationship, of: owner.number)
        if wasMember { count -= 1 }
      }
      for member in edit?.added.numbers ?? [] {
        if pending.change(of: member)?.kind == .inserted {
          count += 1
        } else {
          let wasMember = try snapshot.contains(member, in: relationship, of: owner.number)
          if !wasMember { count += 1 }
        }
      }
      return count
    }
  }

  /// Whether an object is a member, without reading the members.
  func isMember(
    _ member: ManagedObject, of owner: ManagedObject, _ relationship: RelationshipSchema
  ) -> Bool {
    guard owner.session != nil else { return false }
    if let answer = links.edit(owner.number, relationship)?.says(member.number) { return answer }
    guard owner.change?.kind != .inserted, member.change?.kind != .inserted else { return false }
    return known(false) { snapshot throws(StoreError) in
      try snapshot.contains(member.number, in: relationship, of: owner.number)
    }
  }

  /// The members that the store knows; none of an object that was never committed.
  func storedMembers(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> [ObjectNumber] {
    guard pending.change(of: owner)?.kind != .inserted else { return [] }
    if let known = memberships.members(of: owner, relationship) { return Array(known) }
    return known([]) { snapshot throws(StoreError) in
      try snapshot.members(relationship, of: owner)
    }
  }
}

/// Reads of the store by object numbers. They never fail: the session remembers
/// the error.
extension Session {
  /// Whether there is an object, with all pending changes.
  func exists(_ number: ObjectNumber) -> Bool {
    if let change = pending.change(of: number) { return change.kind != .deleted }
    return known(false) { snapshot throws(StoreError) in try snapshot.exists(number) }
  }

  /// Whether the store has a member in a relationship that is kept as links.
  func isStored(_ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber)
    -> Bool
  {
    guard !isNew(owner), !isNew(member) else { return false }
    return known(false) { snapshot throws(StoreError) in
      try snapshot.contains(member, in: relationship, of: owner)
    }
  }

  /// The record that the store has of an object, in memory that the slab keeps; nil where it has
  /// none.
  func storedRecord(of number: ObjectNumber) -> (record: RecordView, slab: RecordSlab)? {
    let record = known(RecordView?.none) { snapshot throws(StoreError) in
      try snapshot.record(number, allocator: allocator)
    }
    return record.map { ($0, allocator.slab) }
  }

  /// Returns the result of `read`, or `otherwise` if the store fails.
  @inline(__always)
  func known<R>(
    _ otherwise: R, _ read: (StoreSnapshot) throws(StoreError) -> R
  ) -> R {
    do throws(StoreError) { return try peek(read) } catch {
      note(error)
      return otherwise
    }
  }
}

/// One object's relationship, which leads to others.
struct LinkSource {
  let owner: ObjectNumber
  let relationship: RelationshipSchema
}
