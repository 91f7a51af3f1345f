internal import ArborModel

/// Deletes objects and applies their delete rules.
///
/// Cascades use a worklist instead of recursion, so that long chains don't exhaust the stack. An
/// object is marked before its links are followed, so cycles terminate.
struct DeletePropagation {
  private let session: Session
  private var keeper: InverseKeeper { InverseKeeper(session) }
  /// Whether hooks are called and deletions cascade. Otherwise only the object is deleted, and links
  /// to it are nullified. Members that forbid the deletion stay linked in any case.
  private let followsRules: Bool
  private var worklist: [ManagedObject] = []
  /// Objects that were never committed and whose members forbade the deletion at first.
  private var guarded: [ManagedObject] = []

  init(_ session: Session, followsRules: Bool = true) {
    self.session = session
    self.followsRules = followsRules
  }

  /// Deletes an object and applies its delete rules. If its deletion is pending already, applies them
  /// to the objects that other commits have linked to it since.
  mutating func delete(_ object: ManagedObject) {
    if object.session === session, object.change?.kind == .deleted {
      return propagateAgain(from: object)
    }
    delete([object])
  }

  /// Deletes objects, the last one first.
  mutating func delete(_ objects: [ManagedObject]) {
    worklist += objects
    session.withOneSnapshot(merging: true) { drain() }
  }

  /// Applies the rules again to an object that is already deleted, because other commits have
  /// linked to it.
  mutating func propagateAgain(from object: ManagedObject) {
    session.withOneSnapshot(merging: true) {
      guard object.session === session else { return }
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
      // Lists may hide the object once it is marked as deleted.
      keeper.noteSequences(with: object, links)
      mark(object)
      for (relationship, targets) in links { apply(relationship, targets, object) }
      guard wasInserted else { continue }
      if isGuarded(object) { guarded.append(object) } else { forget(object) }
    }
    // Its members may have been deleted afterwards.
    for object in guarded { forgetIfUnguarded(object) }
    guarded = []
  }

  /// Returns whether an object has members that forbid its deletion.
  private func isGuarded(_ object: ManagedObject) -> Bool {
    object.binding.rules.denying.contains { slot in
      let relationship = object.binding.entity.relationships[slot]
      return relationship.isToMany
        && session.members(of: object, relationship).contains(where: session.exists)
    }
  }

  /// Removes an object that was never committed and whose deletion is pending, unless members
  /// forbid the deletion.
  func forgetIfUnguarded(_ object: ManagedObject) {
    guard object.session === session, !isGuarded(object) else { return }
    session.forgetLinks { $0 == object.number }
    forget(object)
  }

  private func isAlive(_ object: ManagedObject) -> Bool {
    object.session === session && object.change?.kind != .deleted
  }

  /// Returns the targets of each relationship, including hidden inverses.
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
      session.pending.add(change)
      return session.holdBlobs(of: object, object.currentRecord)
    }
    change.kind = .deleted
    change.mutations &+= 1
  }

  /// Removes an object that was never committed.
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
    // Members that forbid the deletion remain linked, so that the commit detects them.
    guard !relationship.keepsMembersOfDeleted else { return }
    let rule = followsRules ? relationship.deleteRule : .nullify
    if rule == .cascade {
      let alive = targets.filter { !session.isDeleted($0) }
      // Loaded together from one snapshot, because deleting them requires their records.
      let source = LinkSource(owner: object.number, relationship: relationship)
      worklist.append(contentsOf: session.objects(alive, of: source))
    }
    for target in targets {
      if !relationship.isToMany {
        keeper.leave(object.number, at: target, slot: relationship.inverseSlot)
      } else if relationship.isInverseToMany {
        unlink(object, relationship, target)
      } else if rule != .cascade, !session.isDeleted(target) {
        nullify(target, relationship, from: object, isQuiet: rule == .noAction)
      }
    }
  }

  /// Removes a link stored outside of records. Links to stored objects that are also deleted are
  /// left alone, because nothing would restore them.
  private func unlink(
    _ object: ManagedObject, _ relationship: RelationshipSchema, _ target: ObjectNumber
  ) {
    guard target != object.number else {
      return keeper.leaveLink(target, at: object.number, relationship)
    }
    guard !session.isDeleted(target) || session.isNew(target) else { return }
    keeper.leaveLink(target, at: object.number, relationship)
    keeper.leave(object.number, at: target, slot: relationship.inverseSlot)
  }

  private func nullify(
    _ target: ObjectNumber, _ relationship: RelationshipSchema, from object: ManagedObject,
    isQuiet: Bool
  ) {
    guard let member = session.fault(target) else { return }
    let inverse = member.binding.entity.relationships[relationship.inverseSlot]
    // This context may have moved a member that another commit has added.
    guard member.target(of: inverse) == object.number else { return }
    let wasQuiet = member.change?.isQuiet ?? true
    keeper.set(member, inverse, to: nil)
    if isQuiet, wasQuiet, let change = member.change { change.quietMutations = change.mutations }
  }
}
