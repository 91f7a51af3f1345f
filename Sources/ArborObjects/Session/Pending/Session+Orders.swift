internal import ArborModel
internal import ArborStore

/// Ordered relationships in a commit. The store is given whole lists, made of its newest ones; the
/// version of their owner, which each new list raises, tells it whether they still are that.
extension Session {
  /// Makes ready to write the orders: their owners get a new version, and nothing is said of
  /// members of which nothing is written.
  func beginWritingOrders() {
    forEachOrder { edit in
      guard edit.changesOwner else { return }
      leaveUnwritten(edit)
      if pending.change(of: edit.owner) == nil, exists(edit.owner), let owner = fault(edit.owner) {
        _ = beginWriting(owner)
      }
    }
  }

  /// Calls `body` with all edits, those of ordered relationships among them, where the newest
  /// snapshot is read; not at all without orders.
  private func forEachOrder(_ body: (PendingMembers) -> Void) {
    guard links.hasOrders else { return }
    onNewestSnapshot { links.forEach(body) }
  }

  /// Leaves members without net change to concurrent commits, which may have moved them elsewhere.
  private func leaveUnwritten(_ edit: PendingMembers) {
    guard !edit.relationship.isInverseToMany else { return }
    for member in edit.added.numbers + edit.removed.numbers
    where pending.change(of: member)?.hasNoEffect ?? true {
      recordEdit(of: edit, member, isMerge: true)
      edit[member] = .unmentioned
    }
  }

  /// Refuses to write orders of members that others have moved too.
  ///
  /// - Throws: `conflict` that names their owners.
  func checkOrders() throws(StoreError) {
    var conflicts: [CommitConflict] = []
    forEachOrder { edit in
      guard edit.order?.arrangement != nil, let change = pending.change(of: edit.owner),
        change.kind == .updated, !conflicts.contains(where: { $0.number == edit.owner }),
        isContested(edit), let stored = storedRecord(of: edit.owner)
      else { return }
      conflicts.append(
        CommitConflict(
          number: edit.owner, baseVersion: change.baseVersion,
          currentRecord: Array(stored.record.bytes)))
    }
    if !conflicts.isEmpty { throw .conflict(conflicts) }
  }

  /// The lists that a commit writes. Those of objects that are not there, or not any more, come to
  /// nothing.
  func newOrders() -> [(edit: PendingMembers, members: [ObjectNumber])] {
    var orders: [(edit: PendingMembers, members: [ObjectNumber])] = []
    forEachOrder { edit in
      guard edit.changesOwner, let change = pending.change(of: edit.owner), change.kind != .deleted
      else { return }
      orders.append((edit, members(of: edit.owner, edit.relationship)))
    }
    return orders
  }

  /// Whether members were moved both here and by others.
  func isContested(_ edit: PendingMembers) -> Bool {
    guard edit.order?.arrangement != nil else { return false }
    return edit.isContested(over: storedMembers(of: edit.owner, edit.relationship))
  }
}
