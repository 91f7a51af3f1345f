internal import ArborModel
internal import ArborStore

/// Resolves the conflicts of a commit according to the context's merge policy.
struct ConflictResolver {
  let session: Session
  let derivation: AttributeDerivation

  /// Applies the merge policy to the error of a commit. Returns whether the commit should be
  /// retried.
  func resolve(_ error: StoreError) throws(ArborError) -> Bool {
    var error = error
    if case .conflict(let conflicts) = error {
      let others = derivation.resolve(agree(on: conflicts))
      if others.isEmpty { return true }
      error = .conflict(others)
    }
    if case .error = session.mergePolicy { return false }
    switch error {
    case .conflict(let conflicts):
      let merger = ChangeMerger(session)
      for conflict in conflicts { merger.resolve(conflict, resolution(of: conflict)) }
      return true
    case .missingTargets(let missing): return try dropMissing(missing)
    case .stillLinked(let linked):
      // A new link to an object deleted in this context counts as a change of that object.
      let merger = ChangeMerger(session)
      for number in Set(linked.map(\.deleted)).sorted() {
        guard let change = session.pending.change(of: number), change.kind == .deleted else {
          continue
        }
        let conflict = CommitConflict(
          number: number, baseVersion: change.baseVersion,
          currentRecord: session.storedRecord(of: number).map { Array($0.record.bytes) })
        merger.resolve(conflict, resolution(of: conflict))
      }
      return true
    case .notUnique(let violations):
      return UniqueMerger(session: session).resolve(violations) { inserted, other in
        resolution(of: MergeConflict(inserted, other))
      }
    default: return false
    }
  }

  /// Resolves conflicts that aren't real: objects deleted by both sides, and owners that only have
  /// different members in ordered relationships, which are merged one by one. Returns the remaining
  /// conflicts.
  private func agree(on conflicts: [CommitConflict]) -> [CommitConflict] {
    conflicts.filter { conflict in
      guard let change = session.pending.change(of: conflict.number),
        change.kind == .deleted || change.hasNoEffect
      else { return true }
      guard let current = conflict.currentRecord else {
        session.recordMerge(of: change.object)
        session.takeAwayDeleted(change.object)
        return false
      }
      guard change.kind == .updated, !isContested(change.object) else { return true }
      let record = RecordBuffer(copying: current, into: session.allocator)
      ChangeMerger(session).rebase(change, onto: record.view, record.slab, .objectWins)
      return false
    }
  }

  /// Returns whether both sides have moved members of an object's ordered relationships.
  private func isContested(_ object: ManagedObject) -> Bool {
    object.binding.entity.relationships.contains { relationship in
      relationship.isOrdered
        && session.links.edit(object.number, relationship).map(session.isContested) == true
    }
  }

  private func resolution(of conflict: CommitConflict) -> MergeResolution {
    resolution(of: mergeConflict(conflict))
  }

  /// - Parameter conflict: The conflict to pass to a custom policy. If it is `nil`, the context
  ///   wins.
  private func resolution(of conflict: @autoclosure () -> MergeConflict?) -> MergeResolution {
    switch session.mergePolicy {
    case .error, .rollback: .rollback
    case .mergeByPropertyObjectWins: .objectWins
    case .mergeByPropertyStoreWins: .storeWins
    case .overwrite: .overwrite
    case .custom(let decide): conflict().map { MergeResolution(decide($0)) } ?? .objectWins
    }
  }

  /// Returns the conflict to pass to a custom policy, or `nil` if the object's values were never
  /// loaded.
  private func mergeConflict(_ conflict: CommitConflict) -> MergeConflict? {
    guard let change = session.pending.change(of: conflict.number), let committed = change.committed
    else { return nil }
    let object = change.object
    return MergeConflict(
      objectID: object.objectID, committedValues: object.values(in: committed),
      contextValues: change.kind == .deleted ? nil : object.values(in: object.currentRecord),
      storeValues: conflict.currentRecord.map { bytes in
        object.values(in: RecordBuffer(copying: bytes, into: session.allocator).view)
      }, contestedOrders: contestedOrders(of: object))
  }

  private func contestedOrders(of object: ManagedObject) -> [MergeConflict.ContestedOrder] {
    object.binding.entity.relationships.compactMap { relationship in
      guard relationship.isOrdered, let edit = session.links.edit(object.number, relationship),
        let arrangement = edit.order?.arrangement
      else { return nil }
      let stored = session.storedMembers(of: object.number, relationship)
      guard edit.isContested(over: stored) else { return nil }
      return .init(
        relationship: relationship.name,
        committedMembers: arrangement.base.map(session.objectID),
        contextMembers: edit.members(over: stored).map(session.objectID),
        storeMembers: stored.map(session.objectID))
    }
  }

  /// Removes links to objects that other commits have deleted. Returns whether there were any.
  private func dropMissing(_ missing: [MissingTarget]) throws(ArborError) -> Bool {
    let keeper = InverseKeeper(session)
    for link in missing {
      guard let owner = session.registry.object(link.owner),
        let relationship = owner.binding.entity.relationships.first(where: {
          $0.name == link.relationship
        }),
        !relationship.isToMany
      else { continue }
      keeper.set(owner, relationship, to: nil)
    }
    try session.engine.reporting(
      session.peek { snapshot throws(StoreError) in
        try session.dropLostLinks(snapshot, isFinal: true)
      })
    return !missing.isEmpty
  }
}

extension MergeResolution {
  fileprivate init(_ resolution: MergeConflict.Resolution) {
    self =
      switch resolution {
      case .objectWins: .objectWins
      case .storeWins: .storeWins
      case .overwrite: .overwrite
      case .rollback: .rollback
      }
  }
}
