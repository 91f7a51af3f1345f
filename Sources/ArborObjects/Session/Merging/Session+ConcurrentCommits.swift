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
  /// Unchanged objects are updated to the snapshot or removed. Changed objects keep their changes:
  /// if the merge policy lets them win property by property, they are applied to the newer record
  /// immediately; otherwise the commit detects the conflict.
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
  func forgetLinks<E: Error>(where isGone: (ObjectNumber) throws(E) -> Bool) throws(E) {
    try links.forget(where: isGone) { edit, members in
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
    takeAway(object)
  }

  private func mergeEverything(_ snapshot: StoreSnapshot) throws(StoreError) {
    notifyListeners { $0.noteAnything() }
    for object in registry.objects {
      let exists = object.change?.kind == .inserted ? true : try snapshot.exists(object.number)
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
    // Only a restored object can already be in the store.
    if change.kind == .inserted, change.formerVersion > 0, !isDeleted, policy == .mergesAtOnce,
      let record = try snapshot.record(object.number, allocator: allocator)
    {
      let merger = ChangeMerger(self)
      return merger.resolveInserted(change, record, allocator.slab, .objectWins)
    }
    guard policy == .mergesAtOnce, change.kind == .updated, !isDeleted,
      let record = try snapshot.record(object.number, allocator: allocator),
      record.version != change.baseVersion
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
    ChangeMerger(self).rebase(change, onto: record, allocator.slab, .objectWins)
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
    let known = object.change?.baseVersion ?? object.currentRecord.version
    guard stored?.record.version != known else { return }
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
  func takeAway(_ object: ManagedObject) {
    noteReplaced(object)
    withMemberships(of: object) {
      if let change = object.change { pending.drop(change) }
    }
    object.detach(.gone)
    registry.unregister(object)
  }
}

/// The handling of objects that a concurrent commit has also changed, as far as it is determined
/// when that commit is merged.
enum ConcurrencyPolicy {
  /// The commit detects the conflict, and new links are not dropped.
  case refuses
  /// Changes are applied to the newer record immediately.
  case mergesAtOnce
  /// The commit detects and resolves the conflict.
  case mergesAtCommit
}

extension MergePolicy {
  /// The treatment of changed objects when a concurrent commit is merged.
  fileprivate var concurrencyPolicy: ConcurrencyPolicy {
    switch self {
    case .error: .refuses
    case .mergeByPropertyObjectWins: .mergesAtOnce
    case .mergeByPropertyStoreWins, .overwrite, .rollback, .custom: .mergesAtCommit
    }
  }
}
