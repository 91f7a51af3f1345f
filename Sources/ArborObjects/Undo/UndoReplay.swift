internal import ArborModel
internal import ArborStore

/// Takes the steps of a group back, as new changes of the context.
///
/// Objects that were deleted come first, so that everything else finds them; then properties and
/// links, the last step first; then the orders of ordered relationships, which go by members; and
/// last the objects go that were inserted. Relationships are set as anybody sets them, so both
/// sides agree whatever others have committed in between.
struct UndoReplay {
  let context: ManagedObjectContext
  private let keeper: InverseKeeper

  init(context: ManagedObjectContext) {
    self.context = context
    keeper = InverseKeeper(context: context)
  }

  /// Takes a group back; what that changes is noted in `counterpart` meanwhile.
  func run(_ group: UndoGroup, noting counterpart: UndoGroup) {
    group.seal(in: context)
    do throws(ArborError) { try context.takeInKnownCommits() } catch { context.note(error) }
    context.withPinnedSnapshot {
      let revived = bringBack(group)
      for step in group.steps.reversed() { restore(step) }
      for case .order(let step) in group.steps.reversed() { restoreOrder(step) }
      for object in revived { mendLinks(of: object) }
      context.mendLinks()
      takeAway(group)
      // Before changes are dropped that came to nothing.
      counterpart.seal(in: context)
      settle(group)
      settle(counterpart)
    }
    context.observation?.settle()
  }

  // MARK: Objects

  /// Brings the objects back that the group deleted, as they were before it changed them.
  private func bringBack(_ group: UndoGroup) -> [ManagedObject] {
    var revived: [ManagedObject] = []
    for case .object(let step) in group.steps {
      // Of several steps the first counts: the object lives from there on.
      guard case .deleted = step.outcome, let before = step.before, live(step.object) == nil
      else { continue }
      let object = context.registry.object(step.object.number) ?? step.object
      // What it holds since its deletion is its last record.
      let last = step.object.base.map {
        RecordView(base: $0, count: Int(step.object.count)).version
      }
      revive(object, as: before, after: max(before.version, last ?? 0))
      revived.append(object)
    }
    return revived
  }

  /// Makes a deleted object what it was, on top of what the store has of it.
  private func revive(
    _ object: ManagedObject, as record: RecordView, after formerVersion: UInt32
  ) {
    context.noteStep(.object(ObjectStep(object, existed: object.owner != nil)))
    context.noteReplaced(object)
    if object.owner == nil {
      object.owner = context
      object.state = .live
      context.registry.register(object)
    }
    if object.change?.kind == .deleted { keeper.keepSequences(with: object) }
    context.withMemberships(of: object) { change(object, into: record, after: formerVersion) }
    for relation in object.binding.relations {
      guard let target = object.target(of: relation),
        let inverse = context.relation(of: target, relation.inverseSlot), inverse.isOrdered
      else { continue }
      keeper.noteJoined(object.number, context.links.makeEdit(target, inverse))
    }
  }

  private func change(
    _ object: ManagedObject, into record: RecordView, after formerVersion: UInt32
  ) {
    let stored = context.storedRecord(of: object.number)
    let working = RecordBuffer(copying: record.bytes, into: context.allocator)
    object.hold(working.view, working.slab)
    let change = object.change ?? ObjectChange(object, .updated, epoch: context.epoch)
    let known = change.committed
    change.formerVersion = max(change.baseVersion, formerVersion)
    change.kind = stored == nil ? .inserted : .updated
    change.working = working
    change.begin(context.epoch, in: context.pending)
    change.mutations &+= 1
    change.foreign = .none
    if object.change == nil { context.pending.add(change) }
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
      ChangeMerger(context: context).rebase(change, onto: stored.record, stored.slab, .objectWins)
    }
  }

  /// Deletes the objects that the group inserted, without what their delete rules would take along;
  /// also those that it deleted again, which have come back with the others. Whom it left away, at
  /// its end as before, others may have brought back.
  private func takeAway(_ group: UndoGroup) {
    for case .object(let step) in group.steps.reversed() {
      guard step.before == nil, step.hasEffect, let object = live(step.object) else { continue }
      var propagation = DeletePropagation(context, followsRules: false)
      propagation.delete(object)
    }
  }

  /// The object that stands for a step's one; nil where it is deleted, here or by others.
  private func live(_ object: ManagedObject) -> ManagedObject? {
    // A fault may stand for an object that is not there; the store knows.
    if object.owner === context, object.change != nil || object.base != nil {
      return object.change?.kind == .deleted ? nil : object
    }
    return liveObject(object.number)
  }

  // MARK: Properties

  private func restore(_ step: UndoStep) {
    switch step {
    case .object(let step):
      guard let before = step.before, let object = live(step.object) else { return }
      // What a step deleted has come back as a whole, here or by others.
      if case .changed(let bits) = step.outcome { restore(object, before, bits) }
    case .link(let step):
      if !step.wasMember { context.forgetLost(between: step.owner, step.member) }
      guard step.outcome != .idle, let owner = liveObject(step.owner),
        let member = liveObject(step.member),
        context.isMember(member, of: owner, step.relation) != step.wasMember
      else { return }
      if step.wasMember {
        keeper.add(member, to: owner, step.relation)
      } else {
        keeper.remove(member, from: owner, step.relation)
      }
    case .order: return
    }
  }

  private func restore(_ object: ManagedObject, _ before: RecordView, _ bits: UInt64) {
    let fields = object.binding.entity.layout.fields
    context.noteReplaced(object)
    for (index, field) in fields.enumerated() {
      guard bits & (1 << UInt64(min(index, 63))) != 0 else { continue }
      context.forgetLost(of: object, changing: field)
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
      let relation = object.binding.relations.first(where: { $0.field?.offset == field.offset })
    else { return }
    keeper.set(
      object, relation, to: target.flatMap { relation.leads(to: $0) ? liveObject($0) : nil })
  }

  private func liveObject(_ number: ObjectNumber) -> ManagedObject? {
    context.exists(number) ? context.fault(number) : nil
  }

  // MARK: Relationships

  private func restoreOrder(_ step: OrderUndo) {
    guard step.placesMembers, context.exists(step.owner) else { return }
    let present = context.members(of: step.owner, step.relation)
    keeper.arrange(step.undone(present), of: step.owner, step.relation)
  }

  /// Makes both sides agree on what an object that came back leads to.
  private func mendLinks(of object: ManagedObject) {
    for relation in object.binding.relations {
      guard let number = object.target(of: relation) else { continue }
      guard let target = liveObject(number) else {
        keeper.set(object, relation, to: nil)
        continue
      }
      let inverse = target.binding.relations[relation.inverseSlot]
      guard !inverse.isToMany, target.target(of: inverse) != object.number else { continue }
      keeper.set(target, inverse, to: object)
    }
  }

  // MARK: Afterwards

  /// Drops the changes that came to nothing, so that undoing everything leaves nothing to commit.
  func settle(_ group: UndoGroup) {
    for step in group.steps {
      switch step {
      case .object(let step): settle(step.object)
      case .link(let step):
        guard let edit = context.links.edit(step.owner, step.relation) else { continue }
        let isStored = context.isStored(step.member, in: step.relation, of: step.owner)
        if edit[step.member] == (isStored ? .added : .removed) { edit[step.member] = .unmentioned }
      case .order(let step):
        guard let edit = context.links.edit(step.owner, step.relation), edit.order != nil else {
          continue
        }
        let stored = context.storedMembers(of: step.owner, step.relation)
        edit.arrange(edit.members(over: stored), over: stored)
      }
    }
  }

  private func settle(_ object: ManagedObject) {
    guard let change = object.change, change.isIdle, let committed = change.committed
    else { return }
    context.noteReplaced(object)
    context.withMemberships(of: object) {
      context.pending.drop(change)
      object.hold(committed, change.committedSlab)
    }
    context.yield(object, to: change.foreign)
    if object.state == .gone { context.dropLinks { $0 == object.number } }
  }
}
