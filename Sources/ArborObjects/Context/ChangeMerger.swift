internal import ArborModel
internal import ArborStore

/// Brings a changed object and a newer record of it in the store together, slot by slot.
struct ChangeMerger {
  let context: ManagedObjectContext

  /// Resolves one conflict of a commit, so that the change can be submitted again.
  func resolve(_ conflict: CommitConflict, _ resolution: MergeConflict.Resolution) {
    guard let change = context.pending.change(of: conflict.number) else { return }
    guard let current = conflict.currentRecord else {
      return resolveDeleted(change, resolution)
    }
    let record = RecordBuffer(copying: current, into: context.allocator)
    if change.kind == .inserted {
      return resolveInserted(change, record.view, record.slab, resolution)
    }
    guard change.kind == .deleted else {
      return rebase(change, onto: record.view, record.slab, resolution)
    }
    context.noteMerge(of: change.object)
    switch resolution {
    case .objectWins, .overwrite:
      delete(change, anew: record)
    case .storeWins, .rollback:
      revive(change, record)
    }
  }

  /// Two contexts have brought back one object that a third had deleted: there is nothing to tell
  /// what either of them changed, so one of them wins as a whole.
  func resolveInserted(
    _ change: ObjectChange, _ record: RecordView, _ slab: RecordSlab,
    _ resolution: MergeConflict.Resolution
  ) {
    let object = change.object
    let mine = object.currentRecord
    context.noteMerge(of: object)
    switch resolution {
    case .objectWins, .overwrite:
      change.kind = .updated
      change.committed = record
      change.committedSlab = slab
      change.working?.setVersion(record.version)
      change.mutations &+= 1
      moveLinks(of: object, from: record, to: mine)
    case .storeWins, .rollback:
      moveLinks(of: object, from: mine, to: record)
      context.pending.drop(change)
      object.hold(record, slab)
    }
  }

  /// Deletes an object as it is in the store now: what it is linked to may be something else.
  private func delete(_ change: ObjectChange, anew record: RecordBuffer) {
    let object = change.object
    for (_, inverse, target) in derivedReferences(of: object, object.currentRecord) {
      context.links.arrive(object.number, at: target, inverse)
    }
    change.committed = record.view
    change.committedSlab = record.slab
    change.foreign = .none
    object.hold(record.view, record.slab)
    for (_, inverse, target) in derivedReferences(of: object, record.view) {
      context.links.leave(object.number, at: target, inverse)
    }
    var propagation = DeletePropagation(context)
    propagation.propagateAgain(from: object)
  }

  /// The store's object is gone.
  private func resolveDeleted(_ change: ObjectChange, _ resolution: MergeConflict.Resolution) {
    let object = change.object
    context.noteMerge(of: object)
    switch (resolution, change.kind) {
    case (.objectWins, .updated), (.overwrite, .updated):
      // It is inserted again, with all that the context knows of it. At the other ends it has to
      // arrive where it was before, too.
      for (field, inverse, target) in derivedReferences(of: object, object.currentRecord)
      where change.committed.map({ !object.currentRecord.differs(from: $0, field) }) ?? false {
        context.links.arrive(object.number, at: target, inverse)
      }
      change.kind = .inserted
      change.formerVersion = change.baseVersion
      change.committed = nil
      change.committedSlab = nil
      change.foreign = .none
    default:
      context.takeAway(object)
    }
  }

  /// Takes a deletion back: the object is as it is in the store.
  private func revive(_ change: ObjectChange, _ record: RecordBuffer) {
    let object = change.object
    context.pending.drop(change)
    object.hold(record.view, record.slab)
    for (_, inverse, target) in derivedReferences(of: object, record.view) {
      context.links.arrive(object.number, at: target, inverse)
    }
  }

  /// Puts an object's changes on top of a newer committed record.
  func rebase(
    _ change: ObjectChange, onto store: RecordView, _ slab: RecordSlab,
    _ resolution: MergeConflict.Resolution
  ) {
    guard let committed = change.committed else { return }
    let object = change.object
    let mine = object.currentRecord
    context.noteMerge(of: object)
    moveLinks(of: object, from: committed, to: mine, isUndone: true)
    if resolution == .rollback {
      context.pending.drop(change)
      return object.hold(store, slab)
    }
    var working = RecordBuffer(copying: store.bytes, into: context.allocator)
    for field in object.binding.entity.layout.fields {
      let isMine =
        switch resolution {
        case .overwrite: true
        case .storeWins:
          mine.differs(from: committed, field) && !store.differs(from: committed, field)
        default: mine.differs(from: committed, field)
        }
      if isMine || field.isTransient {
        working.copy(field, from: mine, allocator: context.allocator)
      } else if case .reference = field.kind, let target = store.reference(field),
        context.isDeleted(target)
      {
        // Others have linked it to what is deleted here.
        working.setNull(field)
      }
    }
    change.committed = store
    change.committedSlab = slab
    change.foreign = .none
    change.working = working
    // The next change is a step of its own.
    change.epoch = context.epoch &- 1
    change.mutations &+= 1
    object.hold(working.view, working.slab)
    moveLinks(of: object, from: store, to: working.view)
  }

  /// Repeats the difference of two records' references in the link edits of their targets, or takes
  /// that repetition back.
  func moveLinks(
    of object: ManagedObject, from before: RecordView, to after: RecordView, isUndone: Bool = false
  ) {
    let (left, arrived) = isUndone ? (after, before) : (before, after)
    for (field, inverse, target) in derivedReferences(of: object, left)
    where before.differs(from: after, field) {
      context.links.leave(object.number, at: target, inverse)
    }
    for (field, inverse, target) in derivedReferences(of: object, arrived)
    where before.differs(from: after, field) {
      context.links.arrive(object.number, at: target, inverse)
    }
  }

  private func derivedReferences(
    of object: ManagedObject, _ record: RecordView
  ) -> [(RecordField, Relation, ObjectNumber)] {
    object.binding.relations.compactMap { relation in
      guard let field = relation.field, let target = record.reference(field),
        let inverse = context.relation(of: target, relation.inverseSlot), inverse.form == .derived
      else { return nil }
      return (field, inverse, target)
    }
  }
}
