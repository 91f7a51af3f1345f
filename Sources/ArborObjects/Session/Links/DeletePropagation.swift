internal import ArborModel

/// Deletes objects with all that their delete rules ask for.
///
/// Cascades context through a list, not by recursion: a chain of a million objects is as good as a
/// fan. An object is marked before its links are followed, so cycles end.
struct DeletePropagation {
  private let session: Session
  private var keeper: InverseKeeper { InverseKeeper(session) }
  /// Whether the relationships' delete rules and the objects' hooks have a say; otherwise only the
  /// object goes, and what led to it leads nowhere.
  private let followsRules: Bool
  private var worklist: [ManagedObject] = []

  init(_ session: Session, followsRules: Bool = true) {
    self.session = session
    self.followsRules = followsRules
  }

  /// Deletes an object and what goes with it.
  mutating func delete(_ object: ManagedObject) {
    worklist.append(object)
    session.withOneSnapshot(merging: true) { drain() }
  }

  /// Applies the rules again for an object that is deleted already, since others linked to it.
  mutating func propagateAgain(from object: ManagedObject) {
    session.withOneSnapshot(merging: true) {
      for (relationship, targets) in links(of: object) {
        for target in targets { session.renewUnchanged(target) }
        apply(relationship, targets, object)
      }
      drain()
    }
  }

  private mutating func drain() {
    while let object = worklist.popLast() {
      guard isAlive(object) else { continue }
      if followsRules { object.prepareForDeletion() }
      // The hook may have deleted it.
      guard isAlive(object), session.load(object) else { continue }
      let links = links(of: object)
      let wasInserted = object.change?.kind == .inserted
      // Lists may hide the object as soon as it counts as deleted.
      keeper.noteSequences(with: object, links)
      mark(object)
      for (relationship, targets) in links { apply(relationship, targets, object) }
      if wasInserted { forget(object) }
    }
  }

  private func isAlive(_ object: ManagedObject) -> Bool {
    object.session === session && object.change?.kind != .deleted
  }

  /// What each relationship leads to, hidden inverses included.
  private func links(of object: ManagedObject) -> [(RelationshipSchema, [ObjectNumber])] {
    object.binding.entity.relationships.compactMap { relationship in
      guard relationship.isToMany else {
        return object.target(of: relationship).map { (relationship, [$0]) }
      }
      let members = session.members(of: object, relationship)
      return members.isEmpty ? nil : (relationship, members)
    }
  }

  private func mark(_ object: ManagedObject) {
    session.recordEdit(of: object)
    guard let change = object.change else {
      let change = PendingObject(object, .deleted, epoch: session.epoch)
      change.committed = object.currentRecord
      change.committedSlab = object.slab
      return session.pending.add(change)
    }
    change.kind = .deleted
    change.mutations &+= 1
  }

  /// An object that was never committed leaves no trace.
  private func forget(_ object: ManagedObject) {
    for relationship in object.binding.entity.relationships where relationship.isOrdered {
      keeper.forgetOrder(of: object.number, relationship)
    }
    if let change = object.change { session.pending.drop(change) }
    object.detach(.gone)
    session.registry.unregister(object)
  }

  private mutating func apply(
    _ relationship: RelationshipSchema, _ targets: [ObjectNumber], _ object: ManagedObject
  ) {
    let rule = followsRules ? relationship.deleteRule : .nullify
    // The members that forbid the deletion stay linked, for the commit to find them.
    guard rule != .deny || !relationship.isToMany else { return }
    if rule == .cascade {
      let alive = targets.filter { !session.isDeleted($0) }
      // Read together on one snapshot, since each of them is needed to be deleted.
      let source = LinkSource(owner: object.number, relationship: relationship)
      worklist.append(contentsOf: session.objects(alive, of: source))
    }
    for target in targets {
      if !relationship.isToMany {
        keeper.leave(object.number, at: target, slot: relationship.inverseSlot)
      } else if relationship.isInverseToMany {
        unlink(object, relationship, target)
      } else if rule != .cascade, !session.isDeleted(target) {
        nullify(target, relationship, isQuiet: rule == .noAction)
      }
    }
  }

  /// Takes a link away that lies outside of all records. To what is deleted itself there is none:
  /// nothing takes it away, and nothing would bring it back.
  private func unlink(
    _ object: ManagedObject, _ relationship: RelationshipSchema, _ target: ObjectNumber
  ) {
    guard target != object.number else {
      return keeper.leaveLink(target, at: object.number, relationship)
    }
    guard !session.isDeleted(target) else { return }
    keeper.leaveLink(target, at: object.number, relationship)
    keeper.leave(object.number, at: target, slot: relationship.inverseSlot)
  }

  private func nullify(_ target: ObjectNumber, _ relationship: RelationshipSchema, isQuiet: Bool) {
    guard let member = session.fault(target) else { return }
    let wasQuiet = member.change?.isQuiet ?? true
    keeper.set(member, member.binding.entity.relationships[relationship.inverseSlot], to: nil)
    if isQuiet, wasQuiet, let change = member.change { change.quietMutations = change.mutations }
  }
}
