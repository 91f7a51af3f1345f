internal import ArborModel
internal import ArborStore

/// Resolves the conflicts of a commit according to the context's merge policy.
struct ConflictResolver {
  let session: Session

  /// Applies the merge policy to the error of a commit. Returns whether the commit should be
  /// retried.
  func resolve(_ error: StoreError) throws(ArborError) -> Bool {
    var error = error
    if case .conflict(let conflicts) = error {
      // As if the context had known of the commits before.
      if session.mergesCommits, session.mergePolicy.merges { try dropLostLinks() }
      let others = agree(on: conflicts)
      if others.isEmpty { return true }
      error = .conflict(others)
    }
    if case .notUnique(let violations) = error {
      return UniqueMerger(session: session).resolve(violations) { policy, inserted, other in
        resolution(MergeConflict(inserted, other), by: policy)
      }
    }
    guard session.mergePolicy.merges else { return false }
    switch error {
    case .conflict(let conflicts):
      let merger = ChangeMerger(session)
      // Objects that stay determine their links before links to deleted ones are removed.
      func isDeletion(_ conflict: CommitConflict) -> Bool { session.isDeleted(conflict.number) }
      for conflict in conflicts.filter({ !isDeletion($0) }) + conflicts.filter(isDeletion) {
        merger.resolve(conflict, resolution(of: conflict))
      }
      return true
    case .missingTargets(let missing): return try dropMissing(missing)
    case .stillLinked(let linked):
      resolve(
        linked.compactMap { link in
          guard let owner = session.fault(link.owner) else { return nil }
          let relationship = owner.binding.entity.relationships.first {
            $0.name == link.relationship
          }
          return relationship.map { (owner, $0, link.deleted) }
        })
      return true
    // The rules are checked against the newest members before the commit is retried.
    case .miscounted: return true
    default: return false
    }
  }

  private typealias LinkToDeleted = (
    owner: ManagedObject, relationship: RelationshipSchema, target: ObjectNumber
  )

  /// Resolves the links of changed objects that other commits have set to objects deleted in this
  /// context, as the store reports those of unchanged ones. Links created in this context and links
  /// that forbid the deletion are reported by validation.
  func resolveLinksToDeleted() { resolve(linksToDeleted { !$0.isContested }) }

  /// Returns the deletions of objects that other commits have linked to, if the policy refuses that
  /// and the merge has changed nothing but the links' owners.
  func linkedDeletions() -> [PendingObject] {
    guard session.policy == .refuses else { return [] }
    return Set(linksToDeleted { $0.hasNoEffect }.map(\.target)).sorted().compactMap {
      session.pending.change(of: $0)
    }
  }

  /// Returns the links of changed objects that other commits have set to objects deleted in this
  /// context.
  private func linksToDeleted(of isIncluded: (PendingObject) -> Bool) -> [LinkToDeleted] {
    guard session.pending.deletedCount > 0 else { return [] }
    var links: [LinkToDeleted] = []
    session.pending.forEach { change in
      guard change.kind == .updated, isIncluded(change) else { return }
      for relationship in change.object.binding.entity.relationships {
        guard let field = relationship.field, let target = change.object.target(of: relationship),
          session.isDeleted(target), change.committed?.reference(field) == target,
          !session.schema.inverse(of: relationship).keepsMembersOfDeleted
        else { continue }
        links.append((change.object, relationship, target))
      }
    }
    return links
  }

  /// Resolves links to objects deleted in this context. Those that the deletion has already taken
  /// into account are removed, unless another link keeps the object.
  private func resolve(_ links: [LinkToDeleted]) {
    func isRestored(_ link: LinkToDeleted) -> Bool {
      session.restoredLinks.contains(
        OwnedLink(owner: link.owner.number, slot: link.relationship.slot, target: link.target))
    }
    let contested = Set(links.filter { !isRestored($0) }.map(\.target))
    for number in contested.sorted() { resolveLink(toDeleted: number) }
    for link in links where session.isDeleted(link.target) && isRestored(link) {
      InverseKeeper(session).set(link.owner, link.relationship, to: nil)
    }
  }

  /// Resolves a link that another commit has created to an object deleted in this context, which
  /// counts as a change of that object.
  private func resolveLink(toDeleted number: ObjectNumber) {
    guard let change = session.pending.change(of: number), change.kind == .deleted else { return }
    let conflict = session.conflict(of: change)
    var resolution = resolution(of: conflict)
    // Under this policy, only refreshing the object has made the link known.
    if !session.mergePolicy.merges { resolution = .objectWins }
    ChangeMerger(session).resolve(conflict, resolution)
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
    resolution(mergeConflict(conflict), by: session.mergePolicy)
  }

  /// - Parameter conflict: The conflict to pass to a custom policy. If it is `nil`, the context
  ///   wins.
  private func resolution(
    _ conflict: @autoclosure () -> MergeConflict?, by policy: MergePolicy
  ) -> MergeResolution {
    switch policy {
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
    guard let change = session.pending.change(of: conflict.number) else { return nil }
    let committed = change.origin?.record ?? change.committed
    guard committed != nil || change.kind == .inserted else { return nil }
    let object = change.object
    let own = ChangeMerger(session).ownRecord(of: change)
    defer { withExtendedLifetime(own) {} }
    return MergeConflict(
      objectID: object.objectID,
      committedValues: committed.map { object.values(in: $0) } ?? [:],
      contextValues: change.kind == .deleted
        ? nil : object.values(in: own.view),
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
    try dropLostLinks(isFinal: true)
    return !missing.isEmpty
  }

  private func dropLostLinks(isFinal: Bool = false) throws(ArborError) {
    try session.engine.reporting(
      session.peek { snapshot throws(StoreError) in
        try session.dropLostLinks(snapshot, isFinal: isFinal)
      })
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
