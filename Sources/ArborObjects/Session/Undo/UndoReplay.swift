internal import ArborModel
internal import ArborStore

/// Takes the edits of a group back, as new edits of the context.
///
/// Objects that were deleted come first, so that everything else finds them; then properties and
/// links, the last edit first; then the orders of ordered relationships, which go by members; and
/// last the objects go that were inserted. Relationships are set as anybody sets them, so both
/// sides agree whatever concurrent commits have changed in between.
struct UndoReplay {
  let session: Session
  private var keeper: InverseKeeper { InverseKeeper(session) }

  /// Takes edits back by new ones, at the end of the context's log.
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
    // Before changes are dropped that have no net effect.
    log.seal(in: session)
    settle(edits)
    settle(log, from: start)
  }

  // MARK: Objects

  /// Brings the objects back that the edits deleted, as they were before these changed them.
  private func bringBack(_ edits: EditLog) -> [ManagedObject] {
    var revived: [ManagedObject] = []
    let edits = edits.edits
    for index in edits.indices where edits[index].isDeletion {
      // Of several edits the first counts: the object lives from there on.
      guard case .object(let edit) = edits[index], let before = edit.before,
        live(edit.object) == nil
      else { continue }
      let object = session.registry.object(edit.object.number) ?? edit.object
      // What it holds since its deletion is its last record.
      let last = edit.object.heldRecord?.version
      revive(object, as: before, after: max(before.version, last ?? 0))
      revived.append(object)
    }
    return revived
  }

  /// Makes a deleted object what it was, on top of what the store has of it.
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

  private func change(
    _ object: ManagedObject, into record: RecordView, after formerVersion: UInt32
  ) {
    let stored = session.storedRecord(of: object.number)
    let working = RecordBuffer(copying: record.bytes, into: session.allocator)
    object.hold(working.view, working.slab)
    let change = object.change ?? PendingObject(object, .updated, epoch: session.epoch)
    let known = change.committed
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
    working.setVersion(stored.record.version)
    guard let known else {
      // The deletion was committed, and others have made the object anew: of theirs nothing stays.
      change.committed = stored.record
      change.committedSlab = stored.slab
      return
    }
    if known.version != stored.record.version {
      ChangeMerger(session).rebase(change, onto: stored.record, stored.slab, .objectWins)
    }
  }

  /// Deletes the objects that the edits inserted, without what their delete rules would take along;
  /// also those that it deleted again, which have come back with the others. Whom it left away, at
  /// its end as before, others may have brought back.
  private func takeAway(_ inserted: [ManagedObject]) {
    for object in inserted.reversed() {
      guard let object = live(object) else { continue }
      var propagation = DeletePropagation(session, followsRules: false)
      propagation.delete(object)
    }
  }

  /// The object that stands for an edit's one; nil where it is deleted, here or by others.
  private func live(_ object: ManagedObject) -> ManagedObject? {
    // A fault may stand for an object that is not there; the store knows.
    if object.session === session, object.change != nil || object.base != nil {
      return object.change?.kind == .deleted ? nil : object
    }
    return liveObject(object.number)
  }

  // MARK: Properties and links

  /// Takes back what the edits changed of objects that stay, the last edit first.
  ///
  /// - Parameter inserted: Objects that are about to go, whatever the edits behind their insertion
  ///   made of them: what they led to in between may belong to others by now.
  private func restoreParts(_ edits: EditLog, except inserted: Set<ObjectNumber>) {
    let edits = edits.edits
    for index in edits.indices.reversed() where edits[index].changesParts {
      switch edits[index] {
      case .object(let edit):
        // What an edit deleted has come back as a whole, here or by a concurrent commit.
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
    guard edit.effect != .none, let owner = liveObject(edit.owner),
      let member = liveObject(edit.member),
      session.isMember(member, of: owner, edit.relationship) != edit.wasMember
    else { return }
    if edit.wasMember {
      keeper.add(member, to: owner, edit.relationship)
    } else {
      keeper.remove(member, from: owner, edit.relationship)
    }
  }

  /// Takes back what the edits changed of the sequences of members, the last edit first.
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

  /// Points a to-one relationship at what it led to, or at nothing where that is gone.
  private func point(_ object: ManagedObject, _ field: RecordField, at target: ObjectNumber?) {
    guard
      let relationship = object.binding.entity.relationships.first(where: {
        $0.field?.offset == field.offset
      })
    else { return }
    keeper.set(
      object, relationship, to: target.flatMap { relationship.leads(to: $0) ? liveObject($0) : nil }
    )
  }

  private func liveObject(_ number: ObjectNumber) -> ManagedObject? {
    session.exists(number) ? session.fault(number) : nil
  }

  // MARK: Relationships

  /// Makes both sides agree on what an object that came back leads to.
  private func mendLinks(of object: ManagedObject) {
    for relationship in object.binding.entity.relationships {
      guard let number = object.target(of: relationship) else { continue }
      guard let target = liveObject(number) else {
        keeper.set(object, relationship, to: nil)
        continue
      }
      let inverse = target.binding.entity.relationships[relationship.inverseSlot]
      guard !inverse.isToMany, target.target(of: inverse) != object.number else { continue }
      keeper.set(target, inverse, to: object)
    }
  }

  // MARK: Afterwards

  /// Drops the changes without net effect, so that undoing everything leaves nothing to commit.
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
      case .sequence(let edit):
        guard let list = session.links.edit(edit.owner, edit.relationship), list.order != nil else {
          continue
        }
        let stored = session.storedMembers(of: edit.owner, edit.relationship)
        list.arrange(list.members(over: stored), over: stored)
      case .object, .order, .none: break
      }
    }
  }

  private func settle(_ object: ManagedObject) {
    guard let change = object.change, change.hasNoEffect, let committed = change.committed
    else { return }
    session.noteReplaced(object)
    if change.concurrent == .deleted { session.dropPairs(of: object) }
    session.withMemberships(of: object) {
      session.pending.drop(change)
      object.hold(committed, change.committedSlab)
    }
    session.yield(object, to: change.concurrent)
    if object.state == .gone { session.dropLinks { $0 == object.number } }
  }
}
