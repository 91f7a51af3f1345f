internal import ArborModel

extension Session {
  /// A position in the log of edits, and the state outside of the log to restore with it.
  struct Savepoint {
    let position: Int
    let isOutermost: Bool
    /// The newest commit that had been merged.
    let sequence: UInt64
    let restoreUndo: (() -> Void)?
    let lostLinks: Set<OwnedLink>
    let restoredLinks: Set<OwnedLink>
  }

  /// Runs `body`. If it throws, the pending changes are restored exactly, except that commits that
  /// were merged meanwhile stay merged.
  @discardableResult
  func withSavepoint<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
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
    undo?.seal()
    let savepoint = Savepoint(
      position: log.count, isOutermost: !isInSavepoint, sequence: sequence,
      restoreUndo: undo?.beginSavepoint(),
      lostLinks: lostLinks, restoredLinks: restoredLinks)
    isInSavepoint = true
    // From here on, existing working records are left unchanged.
    beginEpoch()
    return savepoint
  }

  func end(_ savepoint: Savepoint) {
    guard savepoint.isOutermost else { return }
    isInSavepoint = false
    if let undo {
      undo.endSavepoint(from: savepoint.position)
    } else {
      log.truncate(to: 0)
    }
  }

  /// Reverts every edit since the savepoint, last one first. Commits that were merged since stay
  /// merged.
  func restore(_ savepoint: Savepoint) {
    // Reverting isn't recorded.
    isInSavepoint = false
    lostLinks = savepoint.lostLinks
    restoredLinks = savepoint.restoredLinks
    while log.count > savepoint.position {
      switch log.removeLast() {
      case .object(let edit): takeBack(edit)
      case .link(let edit):
        notifyListeners { $0.noteReplaced(linksOf: edit.owner, edit.relationship) }
        links.makeEdit(edit.owner, edit.relationship)[edit.member] = edit.former
      case .order(let owner, let relationship, let order):
        notifyListeners { $0.noteReplaced(linksOf: owner, relationship) }
        let list = links.makeEdit(owner, relationship)
        list.order = order
        list.orderEpoch = 0
      case .sequence, .none: break
      }
    }
    beginEpoch()
    savepoint.restoreUndo?()
    isInSavepoint = !savepoint.isOutermost
    if undo == nil, savepoint.isOutermost { log.truncate(to: 0) }
    settleListeners()
    if sequence != savepoint.sequence { followConcurrent() }
  }

  private func takeBack(_ edit: ObjectEdit) {
    noteReplaced(edit.object)
    withMemberships(of: edit.object) { restore(edit) }
  }

  private func restore(_ edit: ObjectEdit) {
    let object = edit.object
    let concurrent = concurrent(beneath: edit)
    if edit.former == .absent {
      if let change = object.change { pending.drop(change) }
      object.detach(.gone)
      registry.unregister(object)
    } else {
      if object.session == nil {
        object.session = self
        object.state = .live
        registry.register(object)
      }
      restorePending(edit)
      if let record = edit.record { object.hold(record, edit.slab) } else { object.becomeFault() }
      if let change = object.change {
        change.concurrent = concurrent
      } else {
        yield(object, to: concurrent)
      }
    }
  }

  /// Returns the effect of concurrent commits on an object since the state to be restored.
  private func concurrent(beneath edit: ObjectEdit) -> PendingObject.Concurrent {
    guard edit.former != .absent, edit.former != .inserted else { return .none }
    // The deletion of an object that was never committed can be pending.
    if edit.former == .deleted, let pending = edit.pending, pending.committed == nil {
      return .none
    }
    let former = edit.former == .unchanged ? edit.record : edit.pending?.committed
    guard let change = edit.object.change else {
      // A conflict may have been resolved in the meantime in favor of the store's state.
      if edit.object.state.isOver { return .deleted }
      guard edit.former != .unchanged, edit.object.base != nil else { return .none }
      return Self.isSame(edit.object.currentRecord, former, edit.object) ? .none : .changed
    }
    // Or it may have been resolved by applying the change to the newer record.
    guard let committed = change.committed else { return .deleted }
    return Self.isSame(committed, former, edit.object) ? change.concurrent : .changed
  }

  /// Returns whether two committed records of an object are of the same commit. Resolving a conflict
  /// copies the record.
  private static func isSame(
    _ record: RecordView, _ former: RecordView?, _ object: ManagedObject
  ) -> Bool {
    guard let former, record.base != former.base else { return former != nil }
    return record.version == former.version
      && !record.differsInDerivedFields(from: former, in: object.binding.entity.layout)
  }

  private func restorePending(_ edit: ObjectEdit) {
    guard let former = edit.pending else {
      if let change = edit.object.change { pending.drop(change) }
      return
    }
    let change = edit.object.change ?? PendingObject(former)
    change.restore(former, in: pending)
    if edit.object.change == nil { pending.add(change) }
  }

  /// Runs `body`, which replaces an object's change, and updates the derived link edits of its
  /// current and former targets.
  func withMemberships(of object: ManagedObject, _ body: () -> Void) {
    let former = derivingOwners(of: object)
    if !listeners.isEmpty, object.change?.kind == .deleted {
      // The object may reappear in relationships that other commits have added it to in the
      // meantime.
      links.forEach(hiding: object.number) { edit in
        notifyListeners { $0.noteReplaced(linksOf: edit.owner, edit.relationship) }
      }
    }
    body()
    for (owner, relationship) in former + derivingOwners(of: object) {
      if relationship.isOrdered {
        notifyListeners { $0.noteReplaced(linksOf: owner, relationship) }
      }
      links.derive(object.number, object.change, at: owner, relationship)
    }
  }

  /// Returns the owners whose members are derived from an object's to-one fields rather than stored
  /// as links: the current and committed targets of to-one relationships whose inverse is to-many.
  private func derivingOwners(of object: ManagedObject) -> [(ObjectNumber, RelationshipSchema)] {
    guard let change = object.change else { return [] }
    var owners: [(ObjectNumber, RelationshipSchema)] = []
    for relationship in object.binding.entity.relationships {
      guard let field = relationship.field else { continue }
      let present = object.target(of: relationship)
      let former = change.committed?.reference(field)
      for target in [present, former == present ? nil : former] {
        if let target, let inverse = self.relationship(of: target, relationship.inverseSlot),
          inverse.isToMany
        {
          owners.append((target, inverse))
        }
      }
    }
    return owners
  }
}
