internal import ArborModel

/// Changes links and keeps both sides of every relationship consistent at all times.
///
/// A side has one of three forms: a field of the record (to-one), no data of its own (a to-many
/// relationship whose inverse is to-one, where link edits only mirror the change), or a set of link
/// edits (many-to-many). If it is ordered, the order of the members is edited as well.
struct InverseKeeper {
  private let session: Session

  init(_ session: Session) { self.session = session }

  /// Sets a to-one relationship to another object or `nil`.
  func set(_ object: ManagedObject, _ relationship: RelationshipSchema, to target: ManagedObject?) {
    guard let field = relationship.field else { return }
    let former = object.target(of: relationship)
    guard former != target?.number else { return }
    willChange(object.number, relationship)
    guard write(object, field, target?.number) else { return }
    if let former { leave(object.number, at: former, slot: relationship.inverseSlot) }
    if let target { arrive(object, at: target, slot: relationship.inverseSlot) }
  }

  /// Adds a member to a to-many relationship.
  func add(_ member: ManagedObject, to owner: ManagedObject, _ relationship: RelationshipSchema) {
    let inverse = member.binding.entity.relationships[relationship.inverseSlot]
    guard inverse.isToMany else { return set(member, inverse, to: owner) }
    // An existing member keeps its position.
    if relationship.isOrdered || inverse.isOrdered,
      session.isMember(member, of: owner, relationship)
    {
      return
    }
    arriveLink(member.number, at: owner.number, relationship)
    // In a relationship that is its own inverse, an object can be its own member, with a single
    // link.
    guard member !== owner || !relationship.isOwnInverse else { return }
    arriveLink(owner.number, at: member.number, inverse)
  }

  /// Removes a member from a to-many relationship.
  func remove(
    _ member: ManagedObject, from owner: ManagedObject, _ relationship: RelationshipSchema
  ) {
    let inverse = member.binding.entity.relationships[relationship.inverseSlot]
    guard inverse.isToMany else {
      guard member.target(of: inverse) == owner.number else { return }
      return set(member, inverse, to: nil)
    }
    leaveLink(member.number, at: owner.number, relationship)
    guard member !== owner || !relationship.isOwnInverse else { return }
    leaveLink(owner.number, at: member.number, inverse)
  }

  /// Sets the members of a to-many relationship, in the given order if it is ordered.
  func replace(
    _ owner: ManagedObject, _ relationship: RelationshipSchema,
    with members: some Sequence<ObjectNumber>
  ) {
    let former = MemberList(session.members(of: owner, relationship))
    var wanted = MemberList()
    for member in members { wanted.append(member) }
    for number in former.numbers where !wanted.contains(number) {
      if let member = session.fault(number) { remove(member, from: owner, relationship) }
    }
    for member in wanted.numbers where !former.contains(member) {
      if let member = session.fault(member) { add(member, to: owner, relationship) }
    }
    guard relationship.isOrdered else { return }
    arrange(wanted.numbers, of: owner.number, relationship)
  }

  /// Sets the order of the members of an ordered relationship.
  func arrange(
    _ members: [ObjectNumber], of owner: ObjectNumber, _ relationship: RelationshipSchema
  ) {
    let stored = session.storedMembers(of: owner, relationship)
    let edit = session.links.makeEdit(owner, relationship)
    guard edit.members(over: stored) != members else { return }
    willChange(owner, relationship)
    noteSequence(edit)
    noteOrder(edit)
    edit.arrange(members, over: stored)
  }

  // MARK: One side

  /// Updates the inverse relationship of a former target.
  func leave(_ member: ObjectNumber, at owner: ObjectNumber, slot: Int) {
    guard let relationship = session.relationship(of: owner, slot) else { return }
    switch relationship.storage {
    case .field:
      guard let object = living(owner) else { return }
      if leads(object, relationship, to: member), let field = relationship.field {
        willChange(owner, relationship)
        write(object, field, nil)
      }
    case .links where relationship.isInverseToMany:
      if !session.isDeleted(owner) { leaveLink(member, at: owner, relationship) }
    case .derived, .links:
      willChange(owner, relationship)
      if relationship.storage == .links {
        let edit = session.links.makeEdit(owner, relationship)
        noteSequence(edit)
        noteOrder(edit)
      }
      session.links.derive(member, session.pending.change(of: member), at: owner, relationship)
    }
  }

  /// Updates the inverse relationship of a new target.
  func arrive(_ member: ManagedObject, at owner: ManagedObject, slot: Int) {
    let relationship = owner.binding.entity.relationships[slot]
    switch relationship.storage {
    case .field:
      guard let field = relationship.field else { return }
      let former = owner.target(of: relationship)
      willChange(owner.number, relationship)
      write(owner, field, member.number)
      guard let former, former != member.number, let object = living(former) else { return }
      let back = object.binding.entity.relationships[relationship.inverseSlot]
      // In a relationship that is its own inverse, it may already point elsewhere.
      if leads(object, back, to: owner.number), let field = back.field {
        willChange(former, back)
        write(object, field, nil)
      }
    case .links where relationship.isInverseToMany:
      arriveLink(member.number, at: owner.number, relationship)
    case .derived, .links:
      willChange(owner.number, relationship)
      if relationship.storage == .links {
        putLast(member.number, session.links.makeEdit(owner.number, relationship))
      }
      session.links.derive(member.number, member.change, at: owner.number, relationship)
    }
  }

  /// Returns an object, or `nil` if it is deleted in the context or the store.
  private func living(_ number: ObjectNumber) -> ManagedObject? {
    guard !session.isDeleted(number) else { return nil }
    if let object = session.registry.object(number), object.base != nil { return object }
    return session.exists(number) ? session.fault(number) : nil
  }

  /// Returns whether an object still points to a target. The loaded state of an unchanged object
  /// may be outdated.
  private func leads(
    _ object: ManagedObject, _ relationship: RelationshipSchema, to target: ObjectNumber
  ) -> Bool {
    if object.target(of: relationship) == target { return true }
    guard object.change == nil else { return false }
    session.renewUnchanged(object.number)
    return object.session === session && object.target(of: relationship) == target
  }

  /// Notifies observers that a relationship is about to change.
  @inline(__always)
  private func willChange(_ owner: ObjectNumber, _ relationship: RelationshipSchema) {
    if !session.listeners.isEmpty { session.tellWillChange(linksOf: owner, relationship) }
  }

  /// Writes a reference. Returns whether the record could be written.
  @discardableResult
  @inline(__always)
  private func write(
    _ object: ManagedObject, _ field: RecordField, _ target: ObjectNumber?
  ) -> Bool {
    object.write { buffer, _ in
      if let target {
        buffer.store(field, target.rawValue)
      } else {
        buffer.setNull(field)
      }
    }
  }

  // MARK: Links

  private func arriveLink(
    _ member: ObjectNumber, at owner: ObjectNumber, _ relationship: RelationshipSchema
  ) {
    if relationship.isOrdered {
      let edit = session.links.makeEdit(owner, relationship)
      if edit[member] != .added { putLast(member, edit) }
    }
    setLink(member, at: owner, relationship, .added)
  }

  func leaveLink(_ member: ObjectNumber, at owner: ObjectNumber, _ relationship: RelationshipSchema)
  {
    if relationship.isOrdered { noteSequence(session.links.makeEdit(owner, relationship)) }
    setLink(member, at: owner, relationship, .removed)
  }

  private func setLink(
    _ member: ObjectNumber, at owner: ObjectNumber, _ relationship: RelationshipSchema,
    _ membership: LinkMembership
  ) {
    let edit = session.links.makeEdit(owner, relationship)
    let former = edit[member]
    guard former != membership else { return }
    willChange(owner, relationship)
    session.recordEdit(of: edit, member)
    // If one of the objects was never committed, there is no stored link to remove.
    let isNew = session.isNew(owner) || session.isNew(member)
    edit[member] = isNew && membership == .removed ? .unmentioned : membership
  }

  // MARK: Orders

  private func putLast(_ member: ObjectNumber, _ edit: PendingMembers) {
    noteOrder(edit)
    edit.putLast(member) { session.storedMembers(of: edit.owner, edit.relationship) }
    noteJoined(member, edit)
  }

  /// Records for undo that an object has become a member.
  func noteJoined(_ member: ObjectNumber, _ edit: PendingMembers) {
    guard session.undo?.isRecording == true, edit.sequenceEpoch != session.epoch else { return }
    let order = edit.order ?? PendingOrder()
    order.noteJoined(member, in: session.epoch)
    edit.order = order
  }

  /// Preserves the order of the lists that a restored object rejoins immediately, through its
  /// to-one relationships or through links from other commits.
  func keepSequences(with object: ManagedObject) {
    guard session.links.hasOrders else { return }
    func keep(_ edit: PendingMembers) {
      noteOrder(edit)
      edit.keepSequence(for: object.number) {
        session.storedMembers(of: edit.owner, edit.relationship)
      }
    }
    for relationship in object.binding.entity.relationships {
      guard let field = relationship.field else { continue }
      let stored = object.change?.committed?.reference(field)
      for target in [stored, object.target(of: relationship)] {
        guard let target, let inverse = session.relationship(of: target, relationship.inverseSlot),
          inverse.isOrdered, let edit = session.links.edit(target, inverse)
        else { continue }
        keep(edit)
      }
    }
    session.links.forEach(hiding: object.number) { if $0.relationship.isOrdered { keep($0) } }
  }

  /// Discards the order of an object that was inserted and deleted again.
  func forgetOrder(of owner: ObjectNumber, _ relationship: RelationshipSchema) {
    guard let edit = session.links.edit(owner, relationship), edit.order != nil else { return }
    noteOrder(edit)
    edit.order = nil
  }

  /// Records list orders for undo when an object is about to be deleted: those of its own lists, if
  /// they differ from the store's, and those of the lists that contain it.
  func noteSequences(with object: ManagedObject, _ links: [(RelationshipSchema, [ObjectNumber])]) {
    guard session.undo?.isRecording == true else { return }
    for (relationship, targets) in links {
      if relationship.isOrdered, let edit = session.links.edit(object.number, relationship) {
        noteSequence(edit)
      }
      guard relationship.storage == .links, relationship.isInverseToMany else { continue }
      for target in targets {
        guard let inverse = session.relationship(of: target, relationship.inverseSlot),
          inverse.isOrdered
        else { break }
        noteSequence(session.links.makeEdit(target, inverse))
      }
    }
  }

  /// Records the order of members for undo, before the first of them is removed or moved. Appending
  /// a member doesn't affect the order of the others.
  private func noteSequence(_ edit: PendingMembers) {
    guard let history = session.undo, history.isRecording,
      edit.sequenceEpoch != session.epoch
    else { return }
    edit.sequenceEpoch = session.epoch
    session.recordSequence(edit)
  }

  /// Records the pending order before it changes, or before the members change without an edit of
  /// their own.
  private func noteOrder(_ edit: PendingMembers) {
    guard edit.orderEpoch != session.epoch else { return }
    edit.orderEpoch = session.epoch
    session.recordOrder(edit)
  }
}
