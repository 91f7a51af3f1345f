internal import ArborModel

extension ManagedObjectContext {
  /// Where the journal stood when a savepoint began.
  struct Savepoint {
    let entryCount: Int
    let isOutermost: Bool
    let history: UndoHistory.Position?
  }

  /// Runs `body`; where it throws, the pending changes are exactly what they were before.
  @discardableResult
  package func withSavepoint<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    let savepoint = beginSavepoint()
    do {
      let result = try body()
      end(savepoint)
      return result
    } catch {
      restore(savepoint)
      throw error
    }
  }

  func beginSavepoint() -> Savepoint {
    let isOutermost = journal == nil
    let journal = journal ?? ChangeJournal()
    self.journal = journal
    // Working records made before are left as they are from here on.
    epoch &+= 1
    return Savepoint(
      entryCount: journal.entries.count, isOutermost: isOutermost, history: undoHistory?.position)
  }

  func end(_ savepoint: Savepoint) {
    if savepoint.isOutermost { journal = nil }
  }

  /// Undoes every step since the savepoint, the last one first.
  func restore(_ savepoint: Savepoint) {
    guard let journal else { return }
    // What is undone is not noted again.
    self.journal = nil
    while journal.entries.count > savepoint.entryCount, let entry = journal.entries.popLast() {
      switch entry {
      case .object(let step): undo(step)
      case .link(let edit, let member, let standing):
        tellListeners { $0.noteReplaced(linksOf: edit.owner, edit.relation) }
        edit[member] = standing
      case .order(let edit, let order):
        tellListeners { $0.noteReplaced(linksOf: edit.owner, edit.relation) }
        edit.order = order
        edit.orderEpoch = 0
      }
    }
    epoch &+= 1
    if let position = savepoint.history { undoHistory?.restore(position) }
    if !savepoint.isOutermost { self.journal = journal }
    observation?.settle()
  }

  private func undo(_ step: ObjectStep) {
    let object = step.object
    noteReplaced(object)
    let former = derivedTargets(of: object)
    let foreign = foreign(beneath: step)
    if !step.existed {
      if let change = object.change { pending.drop(change) }
      object.detach(.gone)
      registry.unregister(object)
    } else {
      if object.owner == nil {
        object.owner = self
        object.state = .live
        registry.register(object)
      }
      restoreChange(step)
      if let record = step.record { object.hold(record, step.slab) } else { object.becomeFault() }
      if let change = object.change { change.foreign = foreign } else { yield(object, to: foreign) }
    }
    move(object, from: former, to: derivedTargets(of: object))
  }

  /// What others have committed of an object since the state that is about to be restored.
  private func foreign(beneath step: ObjectStep) -> ObjectChange.Foreign {
    guard step.existed, step.kind != .inserted else { return .none }
    let former = step.kind == nil ? step.record : step.committed
    guard let change = step.object.change else {
      // A conflict may have been resolved meanwhile, in favour of what others have made of it.
      if step.object.state == .gone { return .deleted }
      guard step.kind != nil, let base = step.object.base else { return .none }
      return base == former?.base ? .none : .changed
    }
    // Or by putting the change on top of theirs.
    guard let committed = change.committed else { return .deleted }
    return committed.base == former?.base ? change.foreign : .changed
  }

  private func restoreChange(_ step: ObjectStep) {
    guard let kind = step.kind else {
      if let change = step.object.change { pending.drop(change) }
      return
    }
    let change = step.object.change ?? ObjectChange(step.object, kind, epoch: step.epoch)
    change.kind = kind
    change.working = step.working
    change.committed = step.committed
    change.committedSlab = step.committedSlab
    change.formerVersion = step.formerVersion
    change.epoch = step.epoch
    change.mutations &+= 1
    change.quietMutations = step.quietMutations == .max ? .max : change.mutations
    if step.object.change == nil { pending.add(change) }
  }

  /// The targets at whose side an object counts as a member without a record of its own: those of
  /// to-one relationships whose inverse the store derives.
  func derivedTargets(of object: ManagedObject) -> [(slot: Int, target: ObjectNumber)] {
    let isGone = object.owner == nil || object.change?.kind == .deleted
    guard !isGone, object.base != nil else { return [] }
    return object.binding.relations.compactMap { relation in
      guard let target = object.target(of: relation),
        self.relation(of: target, relation.inverseSlot)?.form == .derived
      else { return nil }
      return (relation.inverseSlot, target)
    }
  }

  /// Tells the targets of an object that left some and came to others.
  func move(
    _ object: ManagedObject, from former: [(slot: Int, target: ObjectNumber)],
    to present: [(slot: Int, target: ObjectNumber)]
  ) {
    for (slot, target) in former where !present.contains(where: { $0 == (slot, target) }) {
      guard let relation = relation(of: target, slot) else { continue }
      links.leave(object.number, at: target, relation)
    }
    for (slot, target) in present where !former.contains(where: { $0 == (slot, target) }) {
      guard let relation = relation(of: target, slot) else { continue }
      links.arrive(object.number, at: target, relation)
    }
  }
}
