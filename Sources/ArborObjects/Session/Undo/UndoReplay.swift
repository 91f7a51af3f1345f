internal import ArborModel
internal import ArborStore

/// Reverts the edits of a group by making new edits.
///
/// Deleted objects are restored first, so that everything else can refer to them. Then properties
/// and links are restored in reverse order, then the orders of ordered relationships, which depend
/// on membership. Finally, inserted objects are deleted. Relationships are set as in any other
/// change, so both sides are consistent even if concurrent commits have changed them.
struct UndoReplay {
  let session: Session
  private var keeper: InverseKeeper { InverseKeeper(session) }

  /// Reverts edits with new ones at the end of the context's log.
  func run(_ edits: EditLog) {
    let log = session.log
    let start = log.count
    let revived = bringBack(edits)
    let inserted = edits.edits.compactMap(\.insertedObject)
    restoreParts(edits, except: Set(inserted.map(\.number)))
    restoreSequences(edits)
    for object in revived { mendLinks(of: object) }
    session.mendLinks()
    takeAway(inserted)
    // Must precede dropping changes without net effect.
    log.seal(in: session)
    settle(edits)
    settle(log, from: start)
  }

  // MARK: Objects

  /// Restores the objects that the edits deleted, in the state before the edits.
  private func bringBack(_ edits: EditLog) -> [ManagedObject] {
    var revived: [ManagedObject] = []
    let edits = edits.edits
    for index in edits.indices where edits[index].isDeletion {
      // If there are several edits, the first one determines the restored state.
      guard case .object(let edit) = edits[index], let before = edit.before,
        live(edit.object) == nil
      else { continue }
      let object = session.registry.object(edit.object.number) ?? edit.object
      // The record the object has held since its deletion is its last version.
      let last = edit.object.heldRecord?.version
      revive(object, as: before, after: max(before.version, last ?? 0))
      revived.append(object)
    }
    return revived
  }

  /// Restores a deleted object on top of its stored state.
  private func revive(_ object: ManagedObject, as record: RecordView, after formerVersion: UInt32) {
    session.recordEdit(of: object, isKnown: object.session != nil)
    session.noteReplaced(object)
    if object.session == nil {
      object.session = session
      object.state = .live
      session.registry.register(object)
    }
    if object.change?.kind == .deleted { keeper.keepSequences(with: object) }
    session.withMemberships(of: object) { change(object, into: record, after: formerVersion) }
    for relationship in object.binding.entity.relationships {
      guard let target = object.target(of: relationship),
        let inverse = session.relationship(of: target, relationship.inverseSlot), inverse.isOrdered
      else { continue }
      keeper.noteJoined(object.number, session.links.makeEdit(target, inverse))
    }
  }

  /// Restores an object whose deletion is pending in its committed state.
  ///
  /// - Returns: Whether the object still exists. Otherwise another commit has deleted it, too.
  func restoreDeleted(_ object: ManagedObject) -> Bool {
    guard let change = object.change, let committed = change.committed else { return false }
    guard session.storedRecord(of: object.number) != nil else {
      session.recordMerge(of: object)
      session.takeAwayDeleted(object)
      session.dropLinks { $0 == object.number }
      return false
    }
    withExtendedLifetime(change.committedSlab) {
      revive(object, as: committed, after: committed.version)
    }
    mendLinks(of: object)
    session.mendLinks()
    return true
  }

  private func change(
    _ object: ManagedObject, into record: RecordView, after formerVersion: UInt32
  ) {
    let stored = session.storedRecord(of: object.number)
    let working = RecordBuffer(copying: record.bytes, into: session.allocator)
    object.hold(working.view, working.slab)
    let change = object.change ?? PendingObject(object, .updated, epoch: session.epoch)
    let wasKnown = change.committed != nil
    change.formerVersion = max(change.baseVersion, formerVersion)
    change.kind = stored == nil ? .inserted : .updated
    change.working = working
    change.begin(session.epoch, in: session.pending)
    change.mutations &+= 1
    change.concurrent = .none
    if object.change == nil { session.pending.add(change) }
    guard let stored else {
      change.committed = nil
      change.committedSlab = nil
      return
    }
    session.holdBlobs(of: object, stored.record)
    working.setVersion(stored.record.version)
    guard wasKnown else {
      // The deletion was committed and another commit restored the object. Its values are
      // discarded.
      change.committed = stored.record
      change.committedSlab = stored.slab
      return
    }
    if change.isOutdated(by: stored.record) {
      ChangeMerger(session).rebase(change, onto: stored.record, stored.slab, .objectWins)
    }
  }

  /// Deletes the objects that the edits inserted. The deletion doesn't cascade, because the edits
  /// contain everything that it would have to delete, but members can forbid it. This includes
  /// objects that the group deleted again, which have been restored with the others, because
  /// another commit may have restored objects that were already gone when the group ended.
  private func takeAway(_ inserted: [ManagedObject]) {
    var propagation = DeletePropagation(session, followsRules: false)
    propagation.delete(inserted.compactMap(live))
  }

  /// Returns the current instance of an edit's object, or `nil` if it is deleted in this context or
  /// by another commit.
  private func live(_ object: ManagedObject) -> ManagedObject? {
    // A fault may represent an object that doesn't exist, so check the store.
    if object.session === session, object.change != nil || object.base != nil {
      return object.change?.kind == .deleted ? nil : object
    }
    return liveObject(object.number)
  }

  // MARK: Properties and links

  /// Restores changed parts of remaining objects, last edit first.
  ///
  /// - Parameter inserted: Objects about to be deleted. Their changes are skipped, because objects
  ///   they pointed to may now belong to others.
  private func restoreParts(_ edits: EditLog, except inserted: Set<ObjectNumber>) {
    let edits = edits.edits
    for index in edits.indices.reversed() where edits[index].changesParts {
      switch edits[index] {
      case .object(let edit):
        // Deleted objects have been restored as a whole, by this replay or by a concurrent commit.
        guard let before = edit.before, case .changed(let bits) = edit.effect,
          !inserted.contains(edit.object.number), let object = live(edit.object)
        else { continue }
        restore(object, before, bits)
      case .link(let edit): restore(edit)
      case .order, .sequence, .none: break
      }
    }
  }

  private func restore(_ edit: LinkEdit) {
    if !edit.wasMember { session.forgetLost(between: edit.owner, edit.member) }
    guard edit.effect != .none, let owner = linkable(edit.owner, by: edit.relationship),
      let member = linkable(edit.member, by: session.schema.inverse(of: edit.relationship)),
      session.isMember(member, of: owner, edit.relationship) != edit.wasMember
    else { return }
    if edit.wasMember {
      keeper.add(member, to: owner, edit.relationship)
    } else {
      keeper.remove(member, from: owner, edit.relationship)
    }
  }

  /// Restores the order of members, last edit first.
  private func restoreSequences(_ edits: EditLog) {
    let edits = edits.edits
    for index in edits.indices.reversed() where edits[index].isSequence {
      guard case .sequence(let edit) = edits[index], edit.movesMembers, session.exists(edit.owner)
      else { continue }
      let present = session.members(of: edit.owner, edit.relationship)
      keeper.arrange(edit.undone(present), of: edit.owner, edit.relationship)
    }
  }

  private func restore(_ object: ManagedObject, _ before: RecordView, _ bits: UInt64) {
    let fields = object.binding.entity.layout.fields
    session.noteReplaced(object)
    for (index, field) in fields.enumerated() {
      guard bits & (1 << UInt64(min(index, 63))) != 0 else { continue }
      session.forgetLost(of: object, changing: field)
      guard object.currentRecord.differs(from: before, field) else { continue }
      if case .reference = field.kind {
        point(object, field, at: before.reference(field))
      } else {
        object.write { buffer, allocator in
          buffer.copy(field, from: before, allocator: allocator)
        }
      }
    }
  }

  /// Restores the target of a to-one relationship, or sets it to `nil` if the target is gone.
  private func point(_ object: ManagedObject, _ field: RecordField, at target: ObjectNumber?) {
    guard
      let relationship = object.binding.entity.relationships.first(where: {
        $0.field?.offset == field.offset
      })
    else { return }
    keeper.set(
      object, relationship,
      to: target.flatMap { target in
        relationship.leads(to: target)
          ? linkable(target, by: session.schema.inverse(of: relationship)) : nil
      })
  }

  private func liveObject(_ number: ObjectNumber) -> ManagedObject? {
    session.exists(number) ? session.fault(number) : nil
  }

  /// Returns an object to which a link is restored, or `nil` if it is gone. An object whose deletion
  /// is pending can be linked again if the link forbids the deletion.
  ///
  /// - Parameter relationship: The object's side of the link.
  private func linkable(
    _ number: ObjectNumber, by relationship: RelationshipSchema
  ) -> ManagedObject? {
    if session.isDeleted(number) {
      return relationship.keepsMembersOfDeleted ? session.registry.object(number) : nil
    }
    return liveObject(number)
  }

  // MARK: Relationships

  /// Makes both sides of a restored object's links consistent.
  private func mendLinks(of object: ManagedObject) {
    for relationship in object.binding.entity.relationships {
      guard let number = object.target(of: relationship) else { continue }
      guard let target = linkable(number, by: session.schema.inverse(of: relationship)) else {
        keeper.set(object, relationship, to: nil)
        continue
      }
      let inverse = target.binding.entity.relationships[relationship.inverseSlot]
      guard !inverse.isToMany, target.target(of: inverse) != object.number else { continue }
      keeper.set(target, inverse, to: object)
    }
  }

  // MARK: Cleanup

  /// Drops changes without net effect, so that undoing everything leaves nothing to commit.
  func settle(_ log: EditLog, from start: Int = 0) {
    let edits = log.edits
    for index in edits.indices.dropFirst(start) {
      if let object = edits[index].object {
        settle(object)
        continue
      }
      switch edits[index] {
      case .link(let edit):
        guard let list = session.links.edit(edit.owner, edit.relationship) else { continue }
        let isStored = session.isStored(edit.member, in: edit.relationship, of: edit.owner)
        if list[edit.member] == (isStored ? .added : .removed) { list[edit.member] = .unmentioned }
      case .sequence(let edit): settleOrder(edit.owner, edit.relationship)
      case .order(let owner, let relationship, _): settleOrder(owner, relationship)
      case .object, .none: break
      }
    }
  }

  private func settleOrder(_ owner: ObjectNumber, _ relationship: RelationshipSchema) {
    guard let list = session.links.edit(owner, relationship), list.order != nil else { return }
    let stored = session.storedMembers(of: owner, relationship)
    list.arrange(list.members(over: stored), over: stored)
  }

  private func settle(_ object: ManagedObject) {
    guard let change = object.change, change.isAsCommitted, let committed = change.committed
    else { return }
    session.noteReplaced(object)
    if change.concurrent == .deleted { session.dropPairs(of: object) }
    session.withMemberships(of: object) {
      session.pending.drop(change)
      object.hold(committed, change.committedSlab)
    }
    session.yield(object, to: change.concurrent)
    if object.state.isOver { session.dropLinks { $0 == object.number } }
  }
}
