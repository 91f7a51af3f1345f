internal import ArborModel

/// Deletes objects with all that their delete rules ask for.
///
/// Cascades context through a list, not by recursion: a chain of a million objects is as good as a
/// fan. An object is marked before its links are followed, so cycles end.
struct DeletePropagation {
  private let work: Workspace
  private var keeper: InverseKeeper { InverseKeeper(work) }
  /// Whether the relationships' delete rules and the objects' hooks have a say; otherwise only the
  /// object goes, and what led to it leads nowhere.
  private let followsRules: Bool
  private var worklist: [TrackedObject] = []

  init(_ work: Workspace, followsRules: Bool = true) {
    self.work = work
    self.followsRules = followsRules
  }

  /// Deletes an object and what goes with it.
  mutating func delete(_ object: TrackedObject) {
    worklist.append(object)
    work.withOperationSnapshot { drain() }
  }

  /// Applies the rules again for an object that is deleted already, since others linked to it.
  mutating func propagateAgain(from object: TrackedObject) {
    work.withOperationSnapshot {
      for (relation, targets) in links(of: object) {
        for target in targets { work.renewUnchanged(target) }
        apply(relation, targets, object)
      }
      drain()
    }
  }

  private mutating func drain() {
    while let object = worklist.popLast() {
      guard isAlive(object) else { continue }
      if followsRules { work.host.willDelete(object) }
      // The hook may have deleted it.
      guard isAlive(object), work.load(object) else { continue }
      let links = links(of: object)
      let wasInserted = object.change?.kind == .inserted
      // Lists may hide the object as soon as it counts as deleted.
      keeper.noteSequences(with: object, links)
      mark(object)
      for (relation, targets) in links { apply(relation, targets, object) }
      if wasInserted { forget(object) }
    }
  }

  private func isAlive(_ object: TrackedObject) -> Bool {
    object.workspace === work && object.change?.kind != .deleted
  }

  /// What each relationship leads to, hidden inverses included.
  private func links(of object: TrackedObject) -> [(Relation, [ObjectNumber])] {
    object.shape.relations.compactMap { relation in
      guard relation.isToMany else { return object.target(of: relation).map { (relation, [$0]) } }
      let members = work.members(of: object, relation)
      return members.isEmpty ? nil : (relation, members)
    }
  }

  private func mark(_ object: TrackedObject) {
    work.recordEdit(of: object)
    guard let change = object.change else {
      let change = PendingObject(object, .deleted, epoch: work.epoch)
      change.committed = object.currentRecord
      change.committedSlab = object.slab
      return work.pending.add(change)
    }
    change.kind = .deleted
    change.mutations &+= 1
  }

  /// An object that was never committed leaves no trace.
  private func forget(_ object: TrackedObject) {
    for relation in object.shape.relations where relation.isOrdered {
      keeper.forgetOrder(of: object.number, relation)
    }
    if let change = object.change { work.pending.drop(change) }
    object.detach(.gone)
    work.registry.unregister(object)
  }

  private mutating func apply(
    _ relation: Relation, _ targets: [ObjectNumber], _ object: TrackedObject
  ) {
    let rule = followsRules ? relation.deleteRule : .nullify
    // The members that forbid the deletion stay linked, for the commit to find them.
    guard rule != .deny || !relation.isToMany else { return }
    if rule == .cascade {
      let alive = targets.filter { !work.isDeleted($0) }
      // Read together on one snapshot, since each of them is needed to be deleted.
      let source = LinkSource(owner: object.number, relation: relation)
      worklist.append(contentsOf: work.host.objects(alive, of: source))
    }
    for target in targets {
      if !relation.isToMany {
        keeper.leave(object.number, at: target, slot: relation.inverseSlot)
      } else if relation.isInverseToMany {
        unlink(object, relation, target)
      } else if rule != .cascade, !work.isDeleted(target) {
        nullify(target, relation, isQuiet: rule == .noAction)
      }
    }
  }

  /// Takes a link away that lies outside of all records. To what is deleted itself there is none:
  /// nothing takes it away, and nothing would bring it back.
  private func unlink(_ object: TrackedObject, _ relation: Relation, _ target: ObjectNumber) {
    guard target != object.number else {
      return keeper.leaveLink(target, at: object.number, relation)
    }
    guard !work.isDeleted(target) else { return }
    keeper.leaveLink(target, at: object.number, relation)
    keeper.leave(object.number, at: target, slot: relation.inverseSlot)
  }

  private func nullify(_ target: ObjectNumber, _ relation: Relation, isQuiet: Bool) {
    guard let member = work.fault(target) else { return }
    let wasQuiet = member.change?.isQuiet ?? true
    keeper.set(member, member.shape.relations[relation.inverseSlot], to: nil)
    if isQuiet, wasQuiet, let change = member.change { change.quietMutations = change.mutations }
  }
}
