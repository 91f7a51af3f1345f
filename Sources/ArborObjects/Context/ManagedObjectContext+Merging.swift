public import ArborModel
internal import ArborStore

/// Taking in what other contexts and processes have committed.
extension ManagedObjectContext {
  /// Takes in what other contexts and processes have committed, as every operation does at its
  /// beginning: for a context that only waits.
  ///
  /// Objects that others have changed are read anew at their next use, those that others have
  /// deleted belong to the context no more, fetched results and observers are told. Pending changes
  /// stay; see ``mergePolicy``. With ``automaticallyMergesCommits`` off this is the way to take
  /// commits in.
  ///
  /// ```swift
  /// for await _ in store.changes {
  ///   if try context.takeInCommits() { view.show(results.objects) }
  /// }
  /// ```
  ///
  /// - Returns: Whether there were commits of others that had not been taken in. Inside of
  ///   ``withSnapshot(_:)``, which sees none: false.
  /// - Throws: ``ArborError`` `closed`, and what the store reports.
  /// - Complexity: Linear in the changes of those commits.
  @discardableResult
  public func takeInCommits() throws(ArborError) -> Bool {
    try beginOperation()
    return try takeInNewestCommits(always: true)
  }

  /// Takes in the newest commits, also of processes of which no news has come yet.
  ///
  /// - Parameter always: Also where that does not happen by itself.
  @discardableResult
  func takeInNewestCommits(always: Bool) throws(ArborError) -> Bool {
    guard pinned == nil else { return false }
    let isAutomatic = automaticallyMergesCommits
    if always { automaticallyMergesCommits = true }
    defer { automaticallyMergesCommits = isAutomatic }
    let former = sequence
    let own = ownSequences
    try onSnapshot { _ in }
    guard sequence > former else { return false }
    return sequence - former > own.count { $0 > former && $0 <= sequence }
  }

  /// Takes in the commits up to a snapshot, so that objects and what the snapshot finds never
  /// contradict each other.
  ///
  /// Unchanged objects become faults, or are gone. Changed ones keep their changes: where the
  /// context's policy is that they win property by property, they are put on top of the newer
  /// record at once; otherwise the commit finds the conflict.
  @inline(never)
  func takeInCommits(upTo snapshot: StoreSnapshot) throws(StoreError) {
    guard automaticallyMergesCommits, snapshot.sequence > sequence else { return }
    memberships.removeAll()
    undoHistory?.seal()
    links.noteForeign()
    if !listeners.isEmpty, links.hasEdits { hasForeignLinks = true }
    var hasDeletions = false
    if registry.count > 0 || !listeners.isEmpty {
      switch try snapshot.history(after: sequence) {
      case .tooOld:
        hasDeletions = true
        try takeInAll(snapshot)
      case .entries(let entries):
        for entry in entries where !ownSequences.contains(entry.sequence) {
          guard !entry.isBulk else {
            hasDeletions = true
            try takeInAll(snapshot)
            break
          }
          for change in entry.changes {
            let object = registry.object(change.number)
            // What was read ahead of the commit was not known before it.
            let wasKnown = object != nil && !readAhead.contains(change.number)
            tellListeners { $0.noteForeign(change, isRegistered: wasKnown) }
            if change.kind == .delete { hasDeletions = true }
            guard let object else { continue }
            var isDeleted = change.kind == .delete
            // A later commit may have brought it back.
            if isDeleted { isDeleted = try !snapshot.exists(change.number) }
            try takeIn(object, isDeleted: isDeleted, snapshot)
          }
        }
      }
    }
    if hasDeletions { try dropLostLinks(snapshot) }
    mendLinks()
    sequence = snapshot.sequence
    readAhead = []
    if !ownSequences.isEmpty { ownSequences = ownSequences.filter { $0 > sequence } }
    observation?.settle()
  }

  /// Drops the pending links of and to objects that others have deleted.
  ///
  /// - Parameter isFinal: Whether objects whose changes came to nothing live on no longer.
  private func dropLostLinks(
    _ snapshot: StoreSnapshot, isFinal: Bool = false
  ) throws(StoreError) {
    try dropLinks { (number) throws(StoreError) in
      if let change = pending.change(of: number), !isFinal || !change.isIdle { return false }
      return try !snapshot.exists(number)
    }
  }

  /// Drops the pending links of and to objects that are gone.
  func dropLinks<E: Error>(where isGone: (ObjectNumber) throws(E) -> Bool) throws(E) {
    var lost: [PendingMembers] = []
    try links.forEach { edit throws(E) in
      if !edit.relation.isInverseToMany, try isGone(edit.owner) { lost.append(edit) }
    }
    let merger = ChangeMerger(context: self)
    for edit in lost {
      for member in edit.addedMembers {
        guard let change = pending.change(of: member) else { continue }
        merger.dropReference(change, to: edit.owner, edit.relation)
      }
    }
    try forgetLinks(where: isGone)
  }

  /// Forgets what is said of links of and to some objects.
  func forgetLinks<E: Error>(where isGone: (ObjectNumber) throws(E) -> Bool) throws(E) {
    try links.forget(where: isGone) { edit, members in
      tellListeners { $0.noteReplaced(linksOf: edit.owner, edit.relation) }
      noteLost(edit, members)
      if edit.order != nil { recordOrder(edit, tellsListeners: false) }
      for member in members { recordEdit(of: edit, member, isMerge: true) }
    }
  }

  /// Takes every object as changed.
  private func takeInAll(_ snapshot: StoreSnapshot) throws(StoreError) {
    tellListeners { $0.noteAnything() }
    for object in registry.objects {
      let exists = object.change?.kind == .inserted ? true : try snapshot.exists(object.number)
      try takeIn(object, isDeleted: !exists, snapshot)
    }
  }

  private func takeIn(
    _ object: ManagedObject, isDeleted: Bool, _ snapshot: StoreSnapshot
  ) throws(StoreError) {
    guard let change = object.change, !isDeleted || !change.isIdle else {
      noteReplaced(object)
      if isDeleted {
        takeAway(object)
      } else if object.binding.rules.hasTransientFields, object.base != nil {
        try renew(object, snapshot)
      } else {
        object.becomeFault()
      }
      return
    }
    // Only what was brought back can be in the store already.
    if change.kind == .inserted, change.formerVersion > 0, !isDeleted,
      case .mergeByPropertyObjectWins = mergePolicy,
      let record = try snapshot.record(object.number, allocator: allocator)
    {
      let merger = ChangeMerger(context: self)
      return merger.resolveInserted(change, record, allocator.slab, .objectWins)
    }
    guard case .mergeByPropertyObjectWins = mergePolicy, change.kind == .updated, !isDeleted,
      let record = try snapshot.record(object.number, allocator: allocator),
      record.version != change.baseVersion
    else {
      guard change.kind != .inserted else { return }
      var record: RecordView?
      if change.kind == .deleted {
        record = try snapshot.record(object.number, allocator: allocator)
      }
      withMemberships(of: object) {
        change.foreign = isDeleted ? .deleted : .changed
        if let record { object.hold(record, allocator.slab) }
      }
      if record != nil { try hideLinks(to: object, snapshot) }
      return
    }
    ChangeMerger(context: self).rebase(change, onto: record, allocator.slab, .objectWins)
  }

  /// Leaves an object that is deleted here out of what others have linked to it.
  private func hideLinks(
    to object: ManagedObject, _ snapshot: StoreSnapshot
  ) throws(StoreError) {
    for relation in object.binding.relations
    where relation.isToMany && relation.isInverseToMany {
      for owner in try snapshot.members(relation.schema, of: object.number) {
        guard let inverse = self.relation(of: owner, relation.inverseSlot) else { continue }
        tellListeners { $0.noteReplaced(linksOf: owner, inverse) }
        links.hide(object.number, from: owner, inverse)
      }
    }
  }

  /// Takes over the store's record, keeping the values that live in memory only.
  private func renew(_ object: ManagedObject, _ snapshot: StoreSnapshot) throws(StoreError) {
    guard let record = try snapshot.record(object.number, allocator: allocator) else {
      return takeAway(object)
    }
    renew(object, record, allocator.slab)
  }

  /// Lets an object be what it is in the store by now, where it is about to be changed from its
  /// other ends: the context may hold what it was before others changed it too. Nothing happens to
  /// one whose change is to be committed, which finds the conflict.
  func renewUnchanged(_ number: ObjectNumber) {
    guard let object = registry.object(number), object.base != nil, object.change?.isIdle ?? true
    else { return }
    let stored = storedRecord(of: number)
    let known = object.change?.baseVersion ?? object.currentRecord.version
    guard stored?.record.version != known else { return }
    if let change = object.change {
      guard let stored else { return }
      return ChangeMerger(context: self).rebase(
        change, onto: stored.record, stored.slab, .objectWins)
    }
    guard let stored else { return takeAway(object) }
    noteReplaced(object)
    renew(object, stored.record, stored.slab)
  }

  /// Takes over a record, keeping the values that live in memory only.
  private func renew(_ object: ManagedObject, _ record: RecordView, _ slab: RecordSlab) {
    // The copy may open a new slab, which ends the life of the present one.
    var renewed = withExtendedLifetime(slab) {
      RecordBuffer(copying: record.bytes, into: allocator)
    }
    for field in object.binding.entity.layout.fields where field.isTransient {
      renewed.copy(field, from: object.currentRecord, allocator: allocator)
    }
    object.hold(renewed.view, renewed.slab)
  }

  /// Ends the object's belonging to the context: it is no longer in the store.
  func takeAway(_ object: ManagedObject) {
    noteReplaced(object)
    withMemberships(of: object) {
      if let change = object.change { pending.drop(change) }
    }
    object.detach(.gone)
    registry.unregister(object)
  }
}

/// Deciding the conflicts of a commit.
extension ManagedObjectContext {
  /// Applies the merge policy to what kept a commit from being written; returns whether it is worth
  /// another try.
  func resolve(_ error: StoreError) throws(ArborError) -> Bool {
    var error = error
    if case .conflict(let conflicts) = error {
      let others = resolveDerived(agree(on: conflicts))
      if others.isEmpty { return true }
      error = .conflict(others)
    }
    if case .error = mergePolicy { return false }
    switch error {
    case .conflict(let conflicts):
      let merger = ChangeMerger(context: self)
      for conflict in conflicts { merger.resolve(conflict, resolution(of: conflict)) }
      return true
    case .missingTargets(let missing):
      return try dropMissing(missing)
    case .stillLinked(let linked):
      // A new link to what is deleted here is a change of that.
      let merger = ChangeMerger(context: self)
      for number in Set(linked.map(\.deleted)).sorted() {
        guard let change = pending.change(of: number), change.kind == .deleted else { continue }
        let conflict = CommitConflict(
          number: number, baseVersion: change.baseVersion,
          currentRecord: storedRecord(of: number).map { Array($0.record.bytes) })
        merger.resolve(conflict, resolution(of: conflict))
      }
      return true
    case .notUnique(let violations):
      return UniqueMerger(self).resolve(violations, by: resolution)
    default: return false
    }
  }

  /// Takes out what others have deleted too, and who has other members only in ordered
  /// relationships, which are merged one by one: that is no conflict; the rest is.
  private func agree(on conflicts: [CommitConflict]) -> [CommitConflict] {
    conflicts.filter { conflict in
      guard let change = pending.change(of: conflict.number),
        change.kind == .deleted || change.isIdle
      else { return true }
      guard let current = conflict.currentRecord else {
        recordMerge(of: change.object)
        takeAway(change.object)
        return false
      }
      guard change.kind == .updated, !isContested(change.object) else { return true }
      let record = RecordBuffer(copying: current, into: allocator)
      ChangeMerger(context: self).rebase(change, onto: record.view, record.slab, .objectWins)
      return false
    }
  }

  /// Whether the members of an object's ordered relationships were moved both here and by others.
  private func isContested(_ object: ManagedObject) -> Bool {
    object.binding.relations.contains { relation in
      relation.isOrdered && links.edit(object.number, relation).map(isContested) == true
    }
  }

  private func resolution(of conflict: CommitConflict) -> MergeConflict.Resolution {
    switch mergePolicy {
    case .error, .rollback: .rollback
    case .mergeByPropertyObjectWins: .objectWins
    case .mergeByPropertyStoreWins: .storeWins
    case .overwrite: .overwrite
    case .custom(let decide): mergeConflict(conflict).map(decide) ?? .objectWins
    }
  }

  /// What becomes of an inserted object whose unique values another one has.
  private func resolution(
    of inserted: ManagedObject, _ other: ManagedObject
  ) -> MergeConflict.Resolution {
    switch mergePolicy {
    case .error, .rollback: .rollback
    case .mergeByPropertyObjectWins: .objectWins
    case .mergeByPropertyStoreWins: .storeWins
    case .overwrite: .overwrite
    case .custom(let decide): decide(MergeConflict(inserted, other))
    }
  }

  /// Drops links to objects that others have deleted.
  private func dropMissing(_ missing: [MissingTarget]) throws(ArborError) -> Bool {
    let keeper = InverseKeeper(context: self)
    for link in missing {
      guard let owner = registry.object(link.owner),
        let relation = owner.binding.relations.first(where: { $0.name == link.relationship }),
        !relation.isToMany
      else { continue }
      keeper.set(owner, relation, to: nil)
    }
    try peek { snapshot throws(StoreError) in try dropLostLinks(snapshot, isFinal: true) }
    return !missing.isEmpty
  }
}
