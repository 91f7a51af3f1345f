internal import ArborModel
internal import ArborStore

/// Merging the commits of other contexts and processes.
extension Session {
  // MARK: Timing

  /// Merges the commits that this process knows of, for operations that don't read from the store.
  func mergeKnownCommits() throws(ArborError) {
    guard !isClosed else { throw ArborError(StoreError.closed, in: engine) }
    guard engine.lastSequence != sequence, pinned == nil else { return }
    // Taking a snapshot merges the commits up to it.
    try onSnapshot { _ in }
  }

  /// Merges the newest commits, including those of processes that haven't sent a notification yet.
  ///
  /// - Parameter always: Whether to merge even if the context doesn't do so automatically.
  /// - Returns: Whether there were commits of other contexts or processes.
  @discardableResult
  func mergeNewestCommits(always: Bool) throws(ArborError) -> Bool {
    guard pinned == nil else { return false }
    let isAutomatic = mergesCommits
    if always { mergesCommits = true }
    defer { mergesCommits = isAutomatic }
    let former = sequence
    let own = ownSequences
    try onSnapshot { _ in }
    guard sequence > former else { return false }
    return sequence - former > own.count { $0 > former && $0 <= sequence }
  }

  // MARK: Merging

  var policy: ConcurrencyPolicy { mergePolicy.concurrencyPolicy }

  /// Merges the commits up to a snapshot, so that objects and reads from the snapshot are
  /// consistent.
  ///
  /// Unchanged objects are updated to the snapshot or removed. The changes of others are applied to
  /// the newer record, so that both sides of every relationship agree: as the merge policy decides
  /// if it is the same for all objects, otherwise without deciding, so that the commit still
  /// detects the conflict.
  @inline(never)
  func mergeCommits(upTo snapshot: StoreSnapshot) throws(StoreError) {
    guard mergesCommits, snapshot.sequence > sequence else { return }
    memberships.removeAll()
    undo?.seal()
    links.noteConcurrent()
    if !listeners.isEmpty, links.hasEdits { hasConcurrentLinks = true }
    var hasDeletions = false
    if registry.count > 0 || !listeners.isEmpty {
      switch try snapshot.history(after: sequence) {
      case .tooOld:
        hasDeletions = true
        try mergeEverything(snapshot)
      case .entries(let entries):
        for entry in entries where !ownSequences.contains(entry.sequence) {
          guard !entry.isBulk else {
            hasDeletions = true
            try mergeEverything(snapshot)
            break
          }
          for change in entry.changes {
            if change.kind == .delete { hasDeletions = true }
            try merge(change, snapshot)
          }
        }
      }
    }
    if hasDeletions { try dropLostLinks(snapshot) }
    reloadOutdated(on: snapshot)
    mendLinks()
    sequence = snapshot.sequence
    readNewer = []
    if !ownSequences.isEmpty { ownSequences = ownSequences.filter { $0 > sequence } }
    settleListeners()
  }

  /// Reloads objects that were loaded before the merged commits, so that all values the program
  /// reads between two operations come from one commit.
  private func reloadOutdated(on snapshot: StoreSnapshot) {
    guard !outdated.isEmpty else { return }
    let numbers = outdated.filter { registry.object($0).map { $0.base == nil } ?? false }
    outdated = []
    guard !numbers.isEmpty else { return }
    var reloaded = self.reloaded ?? FetchedObjects()
    // An object that cannot be read remains a fault, and its next read reports the error.
    do throws(StoreError) { try load(numbers.sorted(), on: snapshot, &reloaded) } catch {}
    self.reloaded = reloaded
  }

  private func merge(_ change: HistoryEntry.Change, _ snapshot: StoreSnapshot) throws(StoreError) {
    let object = registry.object(change.number)
    // An object that was loaded in a newer state never had the older values.
    let wasKnown = object != nil && !readNewer.contains(change.number)
    notifyListeners { $0.noteConcurrent(change, isRegistered: wasKnown) }
    guard let object else { return }
    // A later commit may have restored a deleted object, or have changed the links of one that was
    // deleted before.
    var isDeleted = change.kind == .delete || object.change != nil
    if isDeleted { isDeleted = try !snapshot.exists(change.number) }
    try merge(object, isDeleted: isDeleted, snapshot)
  }

  /// Removes pending links from and to objects that other commits have deleted.
  ///
  /// - Parameter isFinal: Whether to include objects that have a pending change without net effect.
  func dropLostLinks(_ snapshot: StoreSnapshot, isFinal: Bool = false) throws(StoreError) {
    try dropLinks { (number) throws(StoreError) in
      if let change = pending.change(of: number), !isFinal || !change.hasNoEffect { return false }
      return try !snapshot.exists(number)
    }
  }

  /// Removes pending links from and to objects that are gone.
  func dropLinks<E: Error>(where isGone: (ObjectNumber) throws(E) -> Bool) throws(E) {
    var lost: [PendingMembers] = []
    try links.forEach { edit throws(E) in
      if !edit.relationship.isInverseToMany, try isGone(edit.owner) { lost.append(edit) }
    }
    let merger = ChangeMerger(self)
    for edit in lost {
      for member in edit.addedMembers {
        guard let change = pending.change(of: member) else { continue }
        merger.dropReference(change, to: edit.owner, edit.relationship)
      }
    }
    try forgetLinks(where: isGone)
  }

  /// Discards the edits of links from and to certain objects.
  ///
  /// - Parameter keepsRemoval: Returns whether a removed link stays removed, given the other object.
  func forgetLinks<E: Error>(
    where isGone: (ObjectNumber) throws(E) -> Bool,
    unless keepsRemoval: (ObjectNumber) -> Bool = { _ in false }
  ) throws(E) {
    try links.forget(where: isGone, unless: keepsRemoval) { edit, members in
      notifyListeners { $0.noteReplaced(linksOf: edit.owner, edit.relationship) }
      noteLost(edit, members)
      if edit.order != nil { recordOrder(edit, notifiesListeners: false) }
      for member in members { recordEdit(of: edit, member, isMerge: true) }
    }
  }

  /// Unlinks changed objects from a one-to-one partner that is gone, because another commit may
  /// restore it with a different partner before this context commits.
  func dropPairs(of gone: ManagedObject) {
    guard let record = gone.heldRecord else { return }
    for relationship in gone.binding.entity.relationships where relationship.isPaired {
      guard let partner = relationship.field.flatMap(record.reference),
        let change = pending.change(of: partner)
      else { continue }
      ChangeMerger(self).dropReference(change, to: gone.number, relationship)
    }
  }

  /// Removes an object that another commit has deleted.
  func takeAwayDeleted(_ object: ManagedObject) {
    dropPairs(of: object)
    takeAway(object, .lost)
  }

  private func mergeEverything(_ snapshot: StoreSnapshot) throws(StoreError) {
    notifyListeners { $0.noteAnything() }
    for object in registry.objects {
      let exists = isNew(object.number) ? true : try snapshot.exists(object.number)
      try merge(object, isDeleted: !exists, snapshot)
    }
  }

  private func merge(
    _ object: ManagedObject, isDeleted: Bool, _ snapshot: StoreSnapshot
  ) throws(StoreError) {
    guard let change = object.change, !isDeleted || !change.hasNoEffect else {
      noteReplaced(object)
      if isDeleted {
        takeAwayDeleted(object)
      } else if object.binding.hasTransientFields, object.base != nil {
        try renew(object, snapshot)
      } else {
        if object.base != nil { outdated.append(object.number) }
        object.becomeFault()
      }
      return
    }
    let merger = ChangeMerger(self)
    // Only a restored object can already be in the store.
    if change.kind == .inserted, change.formerVersion > 0, !isDeleted,
      case .mergesAtOnce(let resolution) = policy,
      let record = try snapshot.record(object.number, allocator: allocator)
    {
      return merger.resolveInserted(change, record, allocator.slab, resolution)
    }
    if !isDeleted, try takeDerivedValues(of: change, snapshot) { return }
    if isDeleted, change.kind == .updated, case .mergesAtOnce(let resolution) = policy,
      resolution == .storeWins || resolution == .rollback
    {
      recordMerge(of: object)
      return takeAwayDeleted(object)
    }
    guard change.kind == .updated, !isDeleted,
      let record = try snapshot.record(object.number, allocator: allocator),
      record.version != change.committed?.version || change.hasOtherDerivedValues(than: record)
    else {
      guard change.kind != .inserted else { return }
      var record: RecordView?
      if change.kind == .deleted {
        record = try snapshot.record(object.number, allocator: allocator)
      }
      withMemberships(of: object) {
        change.concurrent = isDeleted ? .deleted : .changed
        if let record { object.hold(record, allocator.slab) }
      }
      if record != nil { try hideLinks(to: object, snapshot) }
      return
    }
    let slab = allocator.slab
    guard case .mergesAtOnce(let resolution) = policy else {
      return merger.follow(change, onto: record, slab)
    }
    // Without changes of its own, an object only has different members, which are merged one by
    // one.
    let decides = resolution == .rollback && !change.hasNoEffect
    merger.rebase(change, onto: record, slab, change.hasNoEffect ? .objectWins : resolution)
    if decides { merger.decideOrders(of: object, resolution) }
  }

  /// Applies changes that were restored in an earlier state to the records of commits that have
  /// been merged since, and removes restored links to objects that these commits have deleted.
  func followConcurrent() {
    let behind = pending.all.filter { $0.kind == .updated && $0.concurrent == .changed }
    known(()) { snapshot throws(StoreError) in
      for change in behind { try merge(change.object, isDeleted: false, snapshot) }
      try dropLostLinks(snapshot)
    }
    mendLinks()
  }

  /// Updates the committed state of a changed object of which another commit has changed derived
  /// values only. Such an object keeps its version, so that no commit detects a conflict.
  ///
  /// - Returns: Whether nothing else has changed.
  private func takeDerivedValues(
    of change: PendingObject, _ snapshot: StoreSnapshot
  ) throws(StoreError) -> Bool {
    let object = change.object
    guard !object.binding.entity.layout.derivedFields.isEmpty, change.kind != .inserted,
      let record = try snapshot.record(object.number, allocator: allocator),
      record.version == change.baseVersion, change.hasOtherDerivedValues(than: record)
    else { return false }
    let slab = allocator.slab
    guard change.kind == .deleted else {
      ChangeMerger(self).rebase(change, onto: record, slab, .objectWins)
      return true
    }
    noteReplaced(object)
    change.committed = record
    change.committedSlab = slab
    object.hold(record, slab)
    return true
  }

  /// Hides an object deleted in this context from the owners that other commits have linked it to.
  private func hideLinks(to object: ManagedObject, _ snapshot: StoreSnapshot) throws(StoreError) {
    for relationship in object.binding.entity.relationships
    where relationship.isToMany && relationship.isInverseToMany {
      for owner in try snapshot.members(relationship, of: object.number) {
        guard let inverse = self.relationship(of: owner, relationship.inverseSlot) else { continue }
        notifyListeners { $0.noteReplaced(linksOf: owner, inverse) }
        links.hide(object.number, from: owner, inverse)
      }
    }
  }

  private func renew(_ object: ManagedObject, _ snapshot: StoreSnapshot) throws(StoreError) {
    guard let record = try snapshot.record(object.number, allocator: allocator) else {
      return takeAwayDeleted(object)
    }
    renew(object, record, allocator.slab)
  }

  /// Updates an object without net change to its stored state before it is changed through the
  /// other ends of its links, because the context may hold an older state. If it has changes to
  /// commit, the commit detects the conflict.
  func renewUnchanged(_ number: ObjectNumber) {
    guard let object = registry.object(number), object.base != nil,
      object.change?.hasNoEffect ?? true
    else { return }
    let stored = storedRecord(of: number)
    if let stored {
      let isOutdated =
        object.change?.isOutdated(by: stored.record)
        ?? (stored.record.version != object.currentRecord.version
          || stored.record.differsInDerivedFields(
            from: object.currentRecord, in: object.binding.entity.layout))
      guard isOutdated else { return }
    }
    if let change = object.change {
      guard let stored else { return }
      return ChangeMerger(self).rebase(change, onto: stored.record, stored.slab, .objectWins)
    }
    guard let stored else { return takeAwayDeleted(object) }
    noteReplaced(object)
    renew(object, stored.record, stored.slab)
  }

  /// Updates an object to a newer record and keeps its transient values.
  private func renew(_ object: ManagedObject, _ record: RecordView, _ slab: RecordSlab) {
    // Copying may start a new slab, which would release the current one.
    var renewed = withExtendedLifetime(slab) {
      RecordBuffer(copying: record.bytes, into: allocator)
    }
    for field in object.binding.entity.layout.fields where field.isTransient {
      renewed.copy(field, from: object.currentRecord, allocator: allocator)
    }
    object.hold(renewed.view, renewed.slab)
  }

  /// Detaches an object that is no longer in the store from the context.
  func takeAway(_ object: ManagedObject, _ state: ManagedObject.State = .gone) {
    noteReplaced(object)
    withMemberships(of: object) {
      if let change = object.change { pending.drop(change) }
    }
    object.detach(state)
    if state == .lost { object.binding.session = self }
    registry.unregister(object)
  }
}

/// The handling of objects that a concurrent commit has also changed, as far as it is determined
/// when that commit is merged.
enum ConcurrencyPolicy: Equatable {
  /// The commit detects the conflict, and new links are not dropped.
  case refuses
  /// Conflicts are resolved immediately.
  case mergesAtOnce(MergeResolution)
  /// The commit detects and resolves the conflict.
  case mergesAtCommit
}

extension MergePolicy {
  /// The treatment of changed objects when a concurrent commit is merged.
  fileprivate var concurrencyPolicy: ConcurrencyPolicy {
    switch self {
    case .error: .refuses
    case .mergeByPropertyObjectWins: .mergesAtOnce(.objectWins)
    case .mergeByPropertyStoreWins: .mergesAtOnce(.storeWins)
    case .overwrite: .mergesAtOnce(.overwrite)
    case .rollback: .mergesAtOnce(.rollback)
    case .custom: .mergesAtCommit
    }
  }
}
