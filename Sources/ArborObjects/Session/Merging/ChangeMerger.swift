internal import ArborModel
internal import ArborStore

/// Brings a changed object and a newer record of it in the store together, slot by slot.
struct ChangeMerger {
  private let session: Session

  init(_ session: Session) { self.session = session }

  /// Resolves one conflict of a commit, so that the change can be submitted again.
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

  /// Decides whose sequence the members of an object's ordered relationships have.
  private func decideOrders(of object: ManagedObject, _ resolution: MergeResolution) {
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

  /// Two contexts have brought back one object that a third had deleted: there is nothing to tell
  /// what either of them changed, so one of them wins as a whole.
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

  /// Deletes an object as it is in the store now: what it is linked to may be something else.
  private func delete(_ change: PendingObject, anew record: RecordBuffer) {
    session.withMemberships(of: change.object) {
      change.committed = record.view
      change.committedSlab = record.slab
      change.concurrent = .none
      change.object.hold(record.view, record.slab)
    }
    var propagation = DeletePropagation(session)
    propagation.propagateAgain(from: change.object)
  }

  /// The store's object is gone.
  private func resolveDeleted(_ change: PendingObject, _ resolution: MergeResolution) {
    let object = change.object
    session.recordMerge(of: object)
    switch (resolution, change.kind) {
    case (.objectWins, .updated), (.overwrite, .updated):
      // It is inserted again, with all that the context knows of it.
      session.noteMending(object, [], .others)
      session.withMemberships(of: object) {
        change.kind = .inserted
        change.formerVersion = change.baseVersion
        change.committed = nil
        change.committedSlab = nil
        change.concurrent = .none
      }
    default: session.takeAwayDeleted(object)
    }
  }

  /// Takes a deletion back: the object is as it is in the store, links included.
  private func revive(_ change: PendingObject, _ record: RecordBuffer) {
    session.noteMending(change.object, [], .store)
    session.withMemberships(of: change.object) {
      session.pending.drop(change)
      change.object.hold(record.view, record.slab)
    }
    session.forgetLinks { $0 == change.object.number }
  }

  /// Lets a changed object lead nowhere instead of to one that is gone. That it did before its
  /// change is no change either.
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
        let known = RecordBuffer(copying: committed.bytes, into: session.allocator)
        known.setNull(field)
        change.committed = known.view
        change.committedSlab = known.slab
      }
      let working = RecordBuffer(copying: object.currentRecord.bytes, into: session.allocator)
      working.setNull(field)
      replace(change, by: working)
    }
  }

  private func replace(_ change: PendingObject, by working: RecordBuffer) {
    change.working = working
    // The next change is a step of its own.
    change.begin(session.epoch &- 2, in: session.pending)
    change.mutations &+= 1
    change.object.hold(working.view, working.slab)
  }

  /// Puts an object's changes on top of a newer committed record.
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
        session.pending.drop(change)
        object.hold(store, slab)
      }
    }
    var working = RecordBuffer(copying: store.bytes, into: session.allocator)
    let merge = RecordMerge(base: committed, mine: mine, theirs: store, resolution)
    for field in object.binding.entity.layout.fields where field.isTransient || merge.isMine(field)
    {
      working.copy(field, from: mine, allocator: session.allocator)
    }
    session.withMemberships(of: object) {
      change.committed = store
      change.committedSlab = slab
      change.concurrent = .none
      replace(change, by: working)
    }
  }
}

/// How a conflict of two commits is resolved, property by property.
enum MergeResolution {
  /// What the context changed stays; the rest is the store's.
  case objectWins
  /// What the store changed stays; the rest is the context's.
  case storeWins
  /// All is the context's.
  case overwrite
  /// All is the store's.
  case rollback

  /// Whose word on links counts.
  fileprivate var side: LinkMending.Side {
    switch self {
    case .objectWins, .overwrite: .session
    case .storeWins, .rollback: .store
    }
  }
}
