internal import ArborModel
internal import ArborStore
internal import ArborWork

/// What a policy of the application is shown.
extension ConflictResolver {
  /// What a function that decides is shown of a conflict; nil where nothing of the object was read.
  func mergeConflict(_ conflict: CommitConflict) -> MergeConflict? {
    guard let change = work.pending.change(of: conflict.number), let committed = change.committed
    else { return nil }
    let object = change.live
    return MergeConflict(
      objectID: object.objectID, committedValues: object.values(in: committed),
      contextValues: change.kind == .deleted ? nil : object.values(in: object.currentRecord),
      storeValues: conflict.currentRecord.map { bytes in
        object.values(in: RecordBuffer(copying: bytes, into: work.allocator).view)
      }, contestedOrders: contestedOrders(of: object))
  }

  private func contestedOrders(of object: ManagedObject) -> [MergeConflict.ContestedOrder] {
    object.binding.relations.compactMap { relation in
      guard relation.isOrdered, let edit = work.links.edit(object.number, relation),
        let arrangement = edit.order?.arrangement
      else { return nil }
      let stored = work.storedMembers(of: object.number, relation)
      guard edit.isContested(over: stored) else { return nil }
      return .init(
        relationship: relation.schema.name,
        committedMembers: arrangement.base.map(context.objectID),
        contextMembers: edit.members(over: stored).map(context.objectID),
        storeMembers: stored.map(context.objectID))
    }
  }
}
