internal import ArborModel
internal import ArborStore

/// Merges a changed object with a newer stored record, field by field.
struct ChangeMerger {
  private let session: Session

  init(_ session: Session) { self.session = session }

  /// Resolves a conflict of a commit, so that the change can be submitted again.
  func resolve(_ conflict: CommitConflict, _ resolution: MergeResolution) {
    guard let change = session.pending.change(of: conflict.number) else { return }
    guard let current = conflict.currentRecord else { return resolveDeleted(change, resolution) }
    let record = RecordBuffer(copying: current, into: session.allocator)
    if change.kind == .inserted {
      return resolveInserted(change, record.view, record.slab, resolution)
    }
    guard change.kind == .deleted else {
      let object = change.object
      rebase(change, onto: record.view, record.slab, resolution)
      return decideOrders(of: object, resolution)
    }
    session.recordMerge(of: change.object)
    switch resolution {
    case .objectWins, .overwrite: delete(change, anew: record)
    case .storeWins, .rollback: revive(change, record)
    }
  }

  /// Resolves the order of the members of an object's ordered relationships.
  func decideOrders(of object: ManagedObject, _ resolution: MergeResolution) {
    for relationship in object.binding.entity.relationships where relationship.isOrdered {
      guard let edit = session.links.edit(object.number, relationship),
        edit.order?.arrangement != nil
      else { continue }
      let stored = session.storedMembers(of: object.number, relationship)
      let isContested = edit.isContested(over: stored)
      session.recordOrder(edit)
      switch resolution {
      case .objectWins, .overwrite: edit.arrange(edit.members(over: stored), over: stored)
      case .storeWins: if isContested { edit.yieldOrder(to: stored) }
      case .rollback: edit.yieldOrder(to: stored)
      }
    }
  }

  /// Resolves the case in which two contexts have restored the same deleted object. The changes of
  /// each are unknown, so one of them wins as a whole.
  func resolveInserted(
    _ change: PendingObject, _ record: RecordView, _ slab: RecordSlab, _ resolution: MergeResolution
  ) {
    let object = change.object
    session.recordMerge(of: object)
    session.noteMending(object, [object.currentRecord], resolution.side)
    session.withMemberships(of: object) {
      switch resolution {
      case .objectWins, .overwrite:
        change.kind = .updated
        change.committed = record
        change.committedSlab = slab
        change.working?.setVersion(record.version)
        change.mutations &+= 1
      case .storeWins, .rollback:
        session.pending.drop(change)
        object.hold(record, slab)
      }
    }
  }

  /// Deletes an object again, based on its current stored state, which may have different links.
  private func delete(_ change: PendingObject, anew record: RecordBuffer) {
    session.withMemberships(of: change.object) {
      change.committed = record.view
      change.committedSlab = record.slab
      change.origin = nil
      change.concurrent = .none
      change.object.hold(record.view, record.slab)
    }
    var propagation = DeletePropagation(session)
    propagation.propagateAgain(from: change.object)
  }

  /// Resolves a conflict with an object that is deleted in the store.
  private func resolveDeleted(_ change: PendingObject, _ resolution: MergeResolution) {
    let object = change.object
    session.recordMerge(of: object)
    switch (resolution, change.kind) {
    case (.objectWins, .updated), (.overwrite, .updated):
      // The object is inserted again with all its values in the context.
      let own = resolution == .overwrite ? ownRecord(of: change) : nil
      session.noteMending(object, [], .others)
      session.withMemberships(of: object) {
        if let own { replace(change, by: own) }
        change.kind = .inserted
        change.formerVersion = change.baseVersion
        change.mutations &+= 1
        change.committed = nil
        change.committedSlab = nil
        change.origin = nil
        change.concurrent = .none
      }
    default: session.takeAwayDeleted(object)
    }
  }

  /// Reverts a deletion, restoring the object's stored state and its links, except those to other
  /// objects that this context deletes.
  private func revive(_ change: PendingObject, _ record: RecordBuffer) {
    if let former = change.origin?.record ?? change.committed {
      noteRestoredLinks(of: change.object, record.view, since: former)
    }
    session.noteMending(change.object, [], .store)
    session.withMemberships(of: change.object) {
      session.pending.drop(change)
      change.object.hold(record.view, record.slab)
    }
    session.forgetLinks(where: { $0 == change.object.number }, unless: session.isDeleted)
  }

  /// Notes references of an object's stored record to objects that this context deletes, and that
  /// are not new, because the context's former record has them, too.
  private func noteRestoredLinks(
    of object: ManagedObject, _ store: RecordView, since former: RecordView
  ) {
    for relationship in object.binding.entity.relationships {
      guard let field = relationship.field, let target = store.reference(field),
        former.reference(field) == target, session.isDeleted(target)
      else { continue }
      session.restoredLinks.insert(
        OwnedLink(owner: object.number, slot: relationship.slot, target: target))
    }
  }

  /// Removes a changed object's reference to an object that is gone, from its committed record as
  /// well, so that this doesn't count as a change.
  func dropReference(_ change: PendingObject, to gone: ObjectNumber, _ inverse: RelationshipSchema)
  {
    let object = change.object
    guard change.kind != .deleted,
      let field = object.binding.entity.relationships[inverse.inverseSlot].field,
      object.currentRecord.reference(field) == gone
    else { return }
    session.recordMerge(of: object)
    if change.committed?.reference(field) != gone {
      session.noteLost(gone, of: object.number, inverse.inverseSlot)
    }
    session.withMemberships(of: object) {
      if let committed = change.committed, committed.reference(field) == gone {
        var known = RecordBuffer(copying: committed.bytes, into: session.allocator)
        known.setNull(field)
        change.committed = known.view
        change.committedSlab = known.slab
      }
      var working = RecordBuffer(copying: object.currentRecord.bytes, into: session.allocator)
      working.setNull(field)
      replace(change, by: working)
    }
  }

  private func replace(_ change: PendingObject, by working: RecordBuffer) {
    change.working = working
    // Makes the next change a separate edit.
    change.begin(session.epoch &- 2, in: session.pending)
    change.mutations &+= 1
    change.object.hold(working.view, working.slab)
  }

  /// Applies an object's changes to a newer committed record, and leaves it to the commit to
  /// detect and resolve the conflict.
  func follow(_ change: PendingObject, onto store: RecordView, _ slab: RecordSlab) {
    guard let committed = change.committed else { return }
    let fields = committed.editedFields(
      since: change.object.currentRecord, in: change.object.binding.entity.layout)
    var origin = change.origin ?? (committed, change.committedSlab, 0)
    origin.fields |= fields
    let isOwn = !change.hasNoEffect
    rebase(change, onto: store, slab, .objectWins)
    if isOwn { change.origin = origin }
  }

  /// Returns the context's values of a changed object, without those of newer commits.
  func ownRecord(of change: PendingObject) -> RecordBuffer {
    let mine = change.object.currentRecord
    guard let origin = change.origin, let committed = change.committed else {
      return RecordBuffer(copying: mine.bytes, into: session.allocator)
    }
    var own = RecordBuffer(copying: origin.record.bytes, into: session.allocator)
    let merge = RecordMerge(
      base: origin.record, shown: committed, edited: origin.fields, mine: mine, theirs: committed,
      .overwrite)
    for (index, field) in change.object.binding.entity.layout.fields.enumerated() {
      own.copy(field, from: merge.source(of: field, at: index), allocator: session.allocator)
    }
    return own
  }

  /// Applies an object's changes to a newer committed record.
  func rebase(
    _ change: PendingObject, onto store: RecordView, _ slab: RecordSlab,
    _ resolution: MergeResolution
  ) {
    guard let committed = change.committed else { return }
    let object = change.object
    let mine = object.currentRecord
    session.recordMerge(of: object)
    session.noteMending(object, [mine, committed], resolution.side)
    if resolution == .rollback {
      return session.withMemberships(of: object) {
        change.origin = nil
        session.pending.drop(change)
        object.hold(store, slab)
      }
    }
    var working = RecordBuffer(copying: store.bytes, into: session.allocator)
    let origin = change.origin
    defer { withExtendedLifetime(origin) {} }
    let merge = RecordMerge(
      base: origin?.record ?? committed, shown: committed, edited: origin?.fields ?? 0, mine: mine,
      theirs: store, resolution)
    for (index, field) in object.binding.entity.layout.fields.enumerated() {
      let source = field.isTransient ? mine : merge.source(of: field, at: index)
      if source.base != store.base {
        working.copy(field, from: source, allocator: session.allocator)
      }
    }
    session.withMemberships(of: object) {
      change.committed = store
      change.committedSlab = slab
      change.origin = nil
      change.concurrent = .none
      replace(change, by: working)
    }
  }
}

/// The resolution of a conflict between two commits, by property.
enum MergeResolution {
  /// Changes of the context win. Other values are the store's.
  case objectWins
  /// Changes of the store win. Other values are the context's.
  case storeWins
  /// All values are the context's.
  case overwrite
  /// All values are the store's.
  case rollback

  /// The side that determines links.
  fileprivate var side: LinkMending.Side {
    switch self {
    case .objectWins, .overwrite: .session
    case .storeWins, .rollback: .store
    }
  }
}
