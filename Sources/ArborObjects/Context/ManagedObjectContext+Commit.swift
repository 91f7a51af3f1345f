public import ArborModel
internal import ArborStore
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
    if let failure { throw failure.error }
    guard !isInSavepoint else {
      throw ArborError(
        .notAllowed,
        "commit() was called during a commit or a seed; let the outer one commit what changed.")
    }
    try limitOperation()
    try takeInKnownCommits()
    try checkLostLinks()
    guard hasChanges || mark != nil || !metadata.isEmpty else {
      undoHistory?.noteCommit()
      return
    }
    metCommits = 0
    let observation = store.instrument?.commitBegins(in: self)
    undoHistory?.beginCommit()
    let savepoint = beginSavepoint()
    let receipt: CommitReceipt?
    do throws(ArborError) {
      try announce()
      undoHistory?.seal()
      undoHistory?.isSuspended = true
      yieldIdleChanges()
      unlinkFromDeleted()
      undoHistory?.isSuspended = false
      if let failure { throw failure.error }
      try beginDeriving()
      try checkRules()
      undoHistory?.seal()
      undoHistory?.isSuspended = true
      defer { undoHistory?.isSuspended = false }
      receipt = try write(marking: mark, metadata)
      end(savepoint)
    } catch {
      restore(savepoint)
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
    pending.forEach { $0.announcedMutations = .max }
    for round in 0..<Self.maximumRounds {
      var isQuiet = true
      pending.forEach { change in
        guard !change.isQuiet, change.announcedMutations != change.mutations else { return }
        isQuiet = false
        change.announcedMutations = change.mutations
        if round == 0 { change.object.willCommit() } else { announceAgain(change) }
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
    let object = change.object
    let before = RecordBuffer(copying: object.currentRecord.bytes, into: allocator)
    object.willCommit()
    let fields = withExtendedLifetime(before) {
      object.currentRecord.changedFields(since: before.view, in: object.binding.entity.layout)
    }
    if fields == 0 { change.announcedMutations = change.mutations }
  }

  /// The objects that changed in the members of their relationships only.
  private func ownersOfLinks() -> [ManagedObject] {
    var owners: [ManagedObject] = []
    links.forEachOwner { number in
      if let owner = registry.object(number), owner.change == nil { owners.append(owner) }
    }
    return owners
  }

  /// Lets objects whose changes came to nothing be what others have made of them meanwhile, so that
  /// links which were changed at their other ends only are changed at theirs too.
  private func yieldIdleChanges() {
    var idle: [PendingObject] = []
    // Without merging nobody has noticed.
    let isUnaware = !automaticallyMergesCommits
    pending.forEach { if $0.foreign == .changed || isUnaware, $0.isIdle { idle.append($0) } }
    for change in idle {
      guard let stored = storedRecord(of: change.object.number),
        change.foreign == .changed || stored.record.version != change.baseVersion
      else { continue }
      ChangeMerger(context: self).rebase(change, onto: stored.record, stored.slab, .objectWins)
    }
    mendLinks()
  }

  /// Unlinks changed objects that others have linked to what is deleted here, as the commit does
  /// with unchanged ones; there is nothing in that to undo. Whoever links to a deleted object here
  /// is told by the validation.
  private func unlinkFromDeleted() {
    guard pending.deletedCount > 0 else { return }
    let keeper = InverseKeeper(context: self)
    for change in pending.all where change.kind == .updated {
      for relation in change.object.binding.relations {
        guard let field = relation.field, let target = change.object.target(of: relation),
          isDeleted(target), change.committed?.reference(field) == target
        else { continue }
        keeper.set(change.object, relation, to: nil)
      }
    }
  }

  // MARK: Writing

  private func write(
    marking mark: String?, _ metadata: [(key: String, value: [UInt8]?)]
  ) throws(ArborError) -> CommitReceipt? {
    for _ in 0..<(schema.hasDerivations ? Self.maximumDerivations : Self.maximumAttempts) {
      beginWritingOrders()
      // Hooks of the validation, or the commits of others, may have changed what values rest on.
      let basis = try derive()
      try moveBlobsOut()
      if let failure { throw failure.error }
      var changes = changeSet()
      changes.basis = basis
      changes.metadata = metadata
      if let mark {
        changes.metadata.append((mark, [1]))
        changes.absentMetadata = [mark]
      }
      guard !changes.isEmpty else { return nil }
      do throws(StoreError) {
        try checkOrders()
        // From here on it is written whatever happens to the task, and the caller hears of it.
        try limit.checkStoreNow()
        return try store.file.commit(changes)
      } catch {
        guard try onNewestSnapshot({ () throws(ArborError) in try resolve(error) }) else {
          throw naming(ArborError(error, in: store.file))
        }
        metCommits += 1
        mendLinks()
        if let failure { throw failure.error }
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
    changes.records.reserveCapacity(pending.count)
    var reordered: [ObjectNumber: UInt64] = [:]
    for (edit, members) in newOrders() {
      let bit = schema.entity(of: edit.owner)?.changeBit(ofLinks: edit.relation.slot)
      reordered[edit.owner, default: 0] |= bit ?? EntitySchema.otherProperties
      changes.links.append(
        .init(owner: edit.owner, relationship: edit.relation.schema, .reorder(members)))
    }
    links.forEach { edit in
      guard edit.relation.form == .links, !edit.relation.isOrdered, !isDeleted(edit.owner) else {
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
    pending.forEach { change in
      let record = recordChange(change, reordered: reordered[change.object.number] ?? 0)
      change.isSubmitted = record != nil
      if let record {
        changes.records.append(record)
        if let view = record.record { changes.blobs += newBlobs(of: change.object, view) }
      }
    }
    return changes
  }

  /// The unique values of pending changes that others have already and no policy merges.
  func takenValues() throws(ArborError) -> [UniquenessViolation] {
    var changes = ChangeSet()
    pending.forEach { change in
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
    let object = change.object
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
    pending.forEach { change in
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
    memberships.removeAll()
    var committed: [ManagedObject] = []
    committed.reserveCapacity(pending.count)
    let owners = ownersOfLinks()
    let hadLinks = !listeners.isEmpty && links.hasEdits
    pending.forEach { change in
      let object = change.object
      committed.append(object)
      if change.kind == .deleted {
        object.detach(.gone)
        registry.unregister(object)
      } else {
        settle(change, receipt)
        object.change = nil
        if !change.isSubmitted { yield(object, to: change.foreign) }
      }
    }
    newBlobs = [:]
    derivedAnew.removeAll()
    pending.removeAll()
    links.removeAll()
    registry.noteSettled(committed.count)
    if let receipt {
      hasCommitted = true
      if receipt.sequence == sequence + 1 {
        sequence = receipt.sequence
      } else {
        ownSequences.insert(receipt.sequence)
      }
    }
    tellListeners { $0.noteCommitted() }
    if hadLinks, let receipt, receipt.sequence != sequence { hasForeignLinks = true }
    endForeignLinks()
    observation?.settle()
    undoHistory?.noteCommit()
    releaseBlobs()
    for object in committed { object.didCommit() }
    for owner in owners { owner.didCommit() }
  }

  /// The record in memory takes the version that the store gave it, where it was written.
  private func settle(_ change: PendingObject, _ receipt: CommitReceipt?) {
    guard change.isSubmitted, let working = change.working else { return }
    guard change.committed == nil else { return working.setVersion(change.baseVersion &+ 1) }
    let insertion = ChangeSet.RecordChange.insert(
      change.object.number, working.view, after: change.baseVersion)
    working.setVersion(insertion.version(in: receipt?.sequence ?? 0))
  }

  /// The pending links are gone: what was read with them may be something else.
  func endForeignLinks() {
    guard hasForeignLinks else { return }
    hasForeignLinks = false
    tellListeners { $0.noteAnything() }
  }

  /// An object whose change came to nothing is what others have made of it meanwhile.
  func yield(_ object: ManagedObject, to foreign: PendingObject.Foreign) {
    switch foreign {
    case .none: break
    case .changed:
      noteReplaced(object)
      object.becomeFault()
    case .deleted:
      takeAway(object)
      links.forget(where: { $0 == object.number }, telling: { _, _ in })
    }
  }
}
