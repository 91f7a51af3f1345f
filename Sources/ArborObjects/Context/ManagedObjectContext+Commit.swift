public import ArborModel
internal import ArborStore
internal import ArborWork
internal import Foundation

extension ManagedObjectContext {
  /// How often a commit may be decided anew after conflicts before it gives up.
  private static let maximumAttempts = 20
  /// The same where derived attributes are computed: commits that have nothing to decide take part
  /// in them, and one of all that try gets through each time.
  private static let maximumDerivations = 1000
  /// How often `willCommit` hooks may change objects before the commit gives up.
  private static let maximumRounds = 100

  /// Validates all changes and writes them in one transaction, or throws and changes nothing:
  /// neither the store nor the context's pending changes.
  ///
  /// Hooks run in this order: `willCommit` until nothing new changes, the validating ones,
  /// then `didCommit`. Blocks until the commit is durable; async code uses
  /// ``PersistentStore/perform(retries:_:)``.
  ///
  /// - Throws: ``ArborError``: `validation` with every violation, those of uniqueness constraints
  ///   among them; `notUnique` naming both objects, where nothing else is wrong; `conflict` where
  ///   the policy is ``MergePolicy/error``, also for new links to what others have deleted;
  ///   `diskFull`, `readOnly` and what else the store reports.
  public func commit() throws(ArborError) { try commit(marking: nil) }

  /// Commits with a mark in the store, which no two commits can leave: of several the first is
  /// written, also by other processes.
  ///
  /// - Parameter mark: The mark's name; nil: none. With a mark there need be no changes.
  /// - Throws: `conflict` where the mark is there already, and what ``commit()`` throws.
  package func commit(marking mark: String?) throws(ArborError) {
    try commit(marking: mark, metadata: [])
  }

  /// Commits with entries for the store itself, which are written even where no object changes.
  func commit(metadata: [(key: String, value: [UInt8]?)]) throws(ArborError) {
    try commit(marking: nil, metadata: metadata)
  }

  private func commit(
    marking mark: String?, metadata: [(key: String, value: [UInt8]?)]
  ) throws(ArborError) {
    try beginOperation()
    try throwFailure()
    guard !work.isInSavepoint else {
      throw ArborError(
        .notAllowed,
        "commit() was called during a commit or a seed; let the outer one commit what changed.")
    }
    try limitOperation()
    try takeInKnownCommits()
    do throws(StoreError) { try work.checkLostLinks() } catch {
      throw ArborError(error, in: store.file)
    }
    guard hasChanges || mark != nil || !metadata.isEmpty else {
      work.undo?.noteCommit()
      return
    }
    metCommits = 0
    let observation = store.instrument?.commitBegins(in: self)
    work.undo?.beginCommit()
    let savepoint = work.beginSavepoint()
    let receipt: CommitReceipt?
    do throws(ArborError) {
      try announce()
      work.undo?.seal()
      work.undo?.isSuspended = true
      yieldIdleChanges()
      unlinkFromDeleted()
      work.undo?.isSuspended = false
      try throwFailure()
      try beginDeriving()
      try checkRules()
      work.undo?.seal()
      work.undo?.isSuspended = true
      defer { work.undo?.isSuspended = false }
      receipt = try write(marking: mark, metadata)
      work.end(savepoint)
    } catch {
      work.restore(savepoint)
      newBlobs = [:]
      observation?.end(error, after: metCommits)
      throw error
    }
    let written = observation.map { _ in tally() }
    finish(receipt)
    store.longReaders?.noteCommit(of: store.file)
    if let written { observation?.end(receipt, written) }
  }

  // MARK: Hooks

  /// Calls `willCommit` for every changed object, and again for those that changed since.
  func announce() throws(ArborError) {
    var announcedOwners: Set<ObjectNumber> = []
    // An earlier commit that failed announced them too.
    work.pending.forEach { $0.announcedMutations = .max }
    for round in 0..<Self.maximumRounds {
      var isQuiet = true
      work.pending.forEach { change in
        guard !change.isQuiet, change.announcedMutations != change.mutations else { return }
        isQuiet = false
        change.announcedMutations = change.mutations
        if round == 0 { change.live.willCommit() } else { announceAgain(change) }
      }
      for owner in ownersOfLinks() where announcedOwners.insert(owner.number).inserted {
        isQuiet = false
        owner.willCommit()
      }
      if isQuiet { return }
    }
    throw ArborError(
      .notAllowed,
      "willCommit went on changing objects for \(Self.maximumRounds) rounds; let it change "
        + "something only where the value differs.")
  }

  /// Calls `willCommit` where it was called before: once it sets what is set already, it has done.
  private func announceAgain(_ change: PendingObject) {
    let object = change.live
    let before = RecordBuffer(copying: object.currentRecord.bytes, into: work.allocator)
    object.willCommit()
    let fields = withExtendedLifetime(before) {
      object.currentRecord.changedFields(since: before.view, in: object.binding.entity.layout)
    }
    if fields == 0 { change.announcedMutations = change.mutations }
  }

  /// The objects that changed in the members of their relationships only.
  private func ownersOfLinks() -> [ManagedObject] {
    var owners: [ManagedObject] = []
    work.links.forEachOwner { number in
      if let owner = work.registry.live(number), owner.change == nil { owners.append(owner) }
    }
    return owners
  }

  /// Lets objects whose changes came to nothing be what others have made of them meanwhile, so that
  /// links which were changed at their other ends only are changed at theirs too.
  private func yieldIdleChanges() {
    var idle: [PendingObject] = []
    // Without merging nobody has noticed.
    let isUnaware = !automaticallyMergesCommits
    work.pending.forEach { if $0.foreign == .changed || isUnaware, $0.isIdle { idle.append($0) } }
    for change in idle {
      guard let stored = work.storedRecord(of: change.live.number),
        change.foreign == .changed || stored.record.version != change.baseVersion
      else { continue }
      ChangeMerger(work).rebase(change, onto: stored.record, stored.slab, .objectWins)
    }
    work.mendLinks()
  }

  /// Unlinks changed objects that others have linked to what is deleted here, as the commit does
  /// with unchanged ones; there is nothing in that to undo. Whoever links to a deleted object here
  /// is told by the validation.
  private func unlinkFromDeleted() {
    guard work.pending.deletedCount > 0 else { return }
    let keeper = InverseKeeper(work)
    for change in work.pending.all where change.kind == .updated {
      for relation in change.live.binding.relations {
        guard let field = relation.field, let target = change.live.target(of: relation),
          work.isDeleted(target), change.committed?.reference(field) == target
        else { continue }
        keeper.set(change.live, relation, to: nil)
      }
    }
  }

  // MARK: Writing

  private func write(
    marking mark: String?, _ metadata: [(key: String, value: [UInt8]?)]
  ) throws(ArborError) -> CommitReceipt? {
    for _ in 0..<(work.schema.hasDerivations ? Self.maximumDerivations : Self.maximumAttempts) {
      work.beginWritingOrders()
      // Hooks of the validation, or the commits of others, may have changed what values rest on.
      let basis = try derive()
      try moveBlobsOut()
      try throwFailure()
      var changes = changeSet()
      changes.basis = basis
      changes.metadata = metadata
      if let mark {
        changes.metadata.append((mark, [1]))
        changes.absentMetadata = [mark]
      }
      guard !changes.isEmpty else { return nil }
      do throws(StoreError) {
        try work.checkOrders()
        // From here on it is written whatever happens to the task, and the caller hears of it.
        try work.limit.checkStoreNow()
        return try store.file.commit(changes)
      } catch {
        guard try work.onNewestSnapshot({ () throws(ArborError) in try resolve(error) }) else {
          throw naming(ArborError(error, in: store.file))
        }
        metCommits += 1
        work.mendLinks()
        try throwFailure()
      }
    }
    throw ArborError(
      .conflict,
      "Other commits of the same objects came in between \(Self.maximumAttempts) times; try again.")
  }

  private func changeSet() -> ChangeSet {
    var changes = ChangeSet()
    changes.author = author
    changes.contextName = name
    changes.records.reserveCapacity(work.pending.count)
    var reordered: [ObjectNumber: UInt64] = [:]
    for (edit, members) in work.newOrders() {
      let bit = work.schema.entity(of: edit.owner)?.changeBit(ofLinks: edit.relation.slot)
      reordered[edit.owner, default: 0] |= bit ?? EntitySchema.otherProperties
      changes.links.append(
        .init(owner: edit.owner, relationship: edit.relation.schema, .reorder(members)))
    }
    work.links.forEach { edit in
      guard edit.relation.form == .links, !edit.relation.isOrdered, !work.isDeleted(edit.owner)
      else {
        return
      }
      for member in edit.removed.numbers {
        changes.links.append(
          .init(owner: edit.owner, relationship: edit.relation.schema, .remove(member)))
      }
      for member in edit.added.numbers {
        changes.links.append(
          .init(owner: edit.owner, relationship: edit.relation.schema, .add(member)))
      }
    }
    work.pending.forEach { change in
      let record = recordChange(change, reordered: reordered[change.live.number] ?? 0)
      change.isSubmitted = record != nil
      if let record {
        changes.records.append(record)
        if let view = record.record { changes.blobs += newBlobs(of: change.live, view) }
      }
    }
    return changes
  }

  /// The unique values of pending changes that others have already and no policy merges.
  func takenValues() throws(ArborError) -> [UniquenessViolation] {
    var changes = ChangeSet()
    work.pending.forEach { change in
      if let record = recordChange(change, reordered: 0) { changes.records.append(record) }
    }
    guard !changes.records.isEmpty else { return [] }
    let violations: [UniquenessViolation]
    do throws(StoreError) { violations = try store.file.uniquenessViolations(of: changes) } catch {
      throw ArborError(error, in: store.file)
    }
    if case .error = mergePolicy { return violations }
    let merger = UniqueMerger(self)
    return violations.filter { !merger.canResolve($0) }
  }

  /// What the store has to write of a change; nil where the object is as it was.
  ///
  /// - Parameter reordered: The bits of the object's ordered relationships that changed.
  private func recordChange(
    _ change: PendingObject, reordered: UInt64
  ) -> ChangeSet.RecordChange? {
    let object = change.live
    switch change.kind {
    case .inserted: return .insert(object.number, object.currentRecord, after: change.baseVersion)
    case .deleted: return .delete(object.number, from: change.baseVersion)
    case .dropped: return nil
    case .updated:
      guard let committed = change.committed else { return nil }
      var fields = committed.changedFields(
        since: object.currentRecord, in: object.binding.entity.layout)
      fields |= reordered
      guard fields != 0 else { return nil }
      return .update(
        object.number, from: change.baseVersion, object.currentRecord, changedProperties: fields)
    }
  }

  // MARK: Afterwards

  /// What the commit has written, while the changes are still there.
  private func tally() -> CommitTally {
    var tally = CommitTally(conflicts: metCommits)
    tally.updated = ownersOfLinks().count
    work.pending.forEach { change in
      guard change.isSubmitted else { return }
      switch change.kind {
      case .inserted: tally.inserted += 1
      case .updated: tally.updated += 1
      case .deleted: tally.deleted += 1
      case .dropped: break
      }
    }
    return tally
  }

  /// Makes the committed state the state of memory.
  private func finish(_ receipt: CommitReceipt?) {
    work.memberships.removeAll()
    var committed: [ManagedObject] = []
    committed.reserveCapacity(work.pending.count)
    let owners = ownersOfLinks()
    let hadLinks = !work.listeners.isEmpty && work.links.hasEdits
    work.pending.forEach { change in
      let object = change.live
      committed.append(object)
      if change.kind == .deleted {
        object.detach(.gone)
        work.registry.unregister(object)
      } else {
        settle(change, receipt)
        object.change = nil
        if !change.isSubmitted { work.yield(object, to: change.foreign) }
      }
    }
    newBlobs = [:]
    derivedAnew.removeAll()
    work.pending.removeAll()
    work.links.removeAll()
    work.registry.noteSettled(committed.count)
    if let receipt {
      hasCommitted = true
      if receipt.sequence == work.sequence + 1 {
        work.sequence = receipt.sequence
      } else {
        work.ownSequences.insert(receipt.sequence)
      }
    }
    work.tellListeners { $0.noteCommitted() }
    if hadLinks, let receipt, receipt.sequence != work.sequence { work.hasConcurrentLinks = true }
    work.endConcurrentLinks()
    work.settleListeners()
    work.undo?.noteCommit()
    releaseBlobs()
    for object in committed { object.didCommit() }
    for owner in owners { owner.didCommit() }
  }

  /// The record in memory takes the version that the store gave it, where it was written.
  private func settle(_ change: PendingObject, _ receipt: CommitReceipt?) {
    guard change.isSubmitted, let working = change.working else { return }
    guard change.committed == nil else { return working.setVersion(change.baseVersion &+ 1) }
    let insertion = ChangeSet.RecordChange.insert(
      change.live.number, working.view, after: change.baseVersion)
    working.setVersion(insertion.version(in: receipt?.sequence ?? 0))
  }
}
