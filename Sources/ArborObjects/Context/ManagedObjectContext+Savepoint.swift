internal import ArborModel

extension ManagedObjectContext {
  /// Where the journal stood when a savepoint began.
  struct Savepoint {
    let entryCount: Int
    let isOutermost: Bool
    let history: UndoHistory.Position?
    let lostLinks: Set<LostLink>
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
    undoHistory?.sealSteps()
    let isOutermost = journal == nil
    let journal = journal ?? ChangeJournal()
    self.journal = journal
    // Working records made before are left as they are from here on.
    beginEpoch()
    return Savepoint(
      entryCount: journal.entries.count, isOutermost: isOutermost, history: undoHistory?.position,
      lostLinks: lostLinks)
  }

  func end(_ savepoint: Savepoint) {
    if savepoint.isOutermost { journal = nil }
  }

  /// Undoes every step since the savepoint, the last one first.
  func restore(_ savepoint: Savepoint) {
    guard let journal else { return }
    // What is undone is not noted again.
    self.journal = nil
    lostLinks = savepoint.lostLinks
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
    beginEpoch()
    if let position = savepoint.history { undoHistory?.restore(position) }
    if !savepoint.isOutermost { self.journal = journal }
    observation?.settle()
  }

  private func undo(_ step: ObjectStep) {
    noteReplaced(step.object)
    withMemberships(of: step.object) { restore(step) }
  }

  private func restore(_ step: ObjectStep) {
    let object = step.object
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
    change.begin(step.epoch, in: pending)
    change.mutations &+= 1
    change.quietMutations = step.quietMutations == .max ? .max : change.mutations
    if step.object.change == nil { pending.add(change) }
  }

  /// Lets `body` make an object's change another one, and repeats in the link edits of those that
  /// it leads or led to what that makes of them.
  func withMemberships(of object: ManagedObject, _ body: () -> Void) {
    let former = derivingOwners(of: object)
    if !listeners.isEmpty, object.change?.kind == .deleted {
      // It may come back to where others have linked it meanwhile.
      links.forEach(hiding: object.number) { edit in
        tellListeners { $0.noteReplaced(linksOf: edit.owner, edit.relation) }
      }
    }
    body()
    for (owner, relation) in former + derivingOwners(of: object) {
      if relation.isOrdered { tellListeners { $0.noteReplaced(linksOf: owner, relation) } }
      links.judge(object.number, object.change, at: owner, relation)
    }
  }

  /// The owners at whose side an object's change may make a difference without a link of its own:
  /// the targets of to-one relationships whose inverse is to-many, now and before.
  private func derivingOwners(of object: ManagedObject) -> [(ObjectNumber, Relation)] {
    guard let change = object.change else { return [] }
    var owners: [(ObjectNumber, Relation)] = []
    for relation in object.binding.relations {
      guard let field = relation.field else { continue }
      let present = object.target(of: relation)
      let former = change.committed?.reference(field)
      for target in [present, former == present ? nil : former] {
        if let target, let inverse = self.relation(of: target, relation.inverseSlot),
          inverse.isToMany
        {
          owners.append((target, inverse))
        }
      }
    }
    return owners
  }
}
