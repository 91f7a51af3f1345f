internal import ArborModel
internal import ArborStore

/// Relationships by object number.
extension Session {
  /// Returns whether a number belongs to an entity that is valid for a relationship. Otherwise the
  /// file is corrupted, and the context keeps the error.
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
          "The relationship \(relationship.name) refers to object number \(target.rawValue), which "
          + "belongs to an entity that the relationship doesn't accept."))
    return false
  }

  /// Returns the relationship in a slot of an object's entity, or `nil` if either is unknown.
  func relationship(of number: ObjectNumber, _ slot: Int) -> RelationshipSchema? {
    guard let entity = schema.entity(of: number), entity.relationships.indices.contains(slot) else {
      return nil
    }
    return entity.relationships[slot]
  }
}

/// The members of relationships.
extension Session {
  /// Returns the members of a to-many relationship, including pending changes, in their order if it
  /// is ordered, otherwise ascending. Never fails; the context keeps the error.
  func members(of owner: ManagedObject, _ relationship: RelationshipSchema) -> [ObjectNumber] {
    owner.session == nil ? [] : members(of: owner.number, relationship)
  }

  /// Returns the members of an object's to-many relationship, even if it isn't registered.
  func members(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> [ObjectNumber] {
    let members = storedMembers(of: owner, relationship)
    guard let edit = links.edit(owner, relationship), !edit.isSilent else { return members }
    return edit.members(over: members)
  }

  /// Returns the number of members, including pending changes, without reading them.
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

  /// Returns whether an object is a member, without reading the members.
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

  /// Returns the stored members. Empty for an object that was never committed.
  func storedMembers(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> [ObjectNumber] {
    guard pending.change(of: owner)?.kind != .inserted else { return [] }
    if let known = memberships.members(of: owner, relationship) { return Array(known) }
    return known([]) { snapshot throws(StoreError) in
      try snapshot.members(relationship, of: owner)
    }
  }
}

/// Reads from the store by object number. These never fail; the context keeps the error.
extension Session {
  /// Returns whether an object exists, including pending changes.
  func exists(_ number: ObjectNumber) -> Bool {
    if let change = pending.change(of: number) { return change.kind != .deleted }
    return known(false) { snapshot throws(StoreError) in try snapshot.exists(number) }
  }

  /// Returns whether the store contains a member in a relationship stored as links.
  func isStored(_ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber)
    -> Bool
  {
    guard !isNew(owner), !isNew(member) else { return false }
    return known(false) { snapshot throws(StoreError) in
      try snapshot.contains(member, in: relationship, of: owner)
    }
  }

  /// Returns the stored record of an object, in memory owned by the slab, or `nil` if there is
  /// none.
  func storedRecord(of number: ObjectNumber) -> (record: RecordView, slab: RecordSlab)? {
    let record = known(RecordView?.none) { snapshot throws(StoreError) in
      try snapshot.record(number, allocator: allocator)
    }
    return record.map { ($0, allocator.slab) }
  }

  /// Returns the result of `read`, or `otherwise` if the store cannot be read.
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

/// A relationship of one object whose links are traversed.
struct LinkSource {
  let owner: ObjectNumber
  let relationship: RelationshipSchema
}
