internal import ArborModel
internal import ArborStore

/// A list to write, and the edit that it results from.
typealias NewOrder = (edit: PendingMembers, members: [ObjectNumber])

/// Ordered relationships in a commit. The store receives complete lists based on its newest ones.
/// The owner's version, which every new list increments, allows the store to check that they are
/// still current.
extension Session {
  /// Prepares the lists for writing: assigns a new version to their owners, and discards the pending
  /// membership of members that will not be written.
  ///
  /// - Returns: The lists to write.
  func beginWritingOrders() -> [NewOrder] {
    var orders: [NewOrder] = []
    forEachOrder { edit in
      guard edit.changesOwner else { return }
      leaveUnwritten(edit)
      guard let members = newMembers(edit) else { return }
      if pending.change(of: edit.owner) == nil, let owner = fault(edit.owner) {
        _ = beginWriting(owner)
      }
      orders.append((edit, members))
    }
    return orders
  }

  /// Returns the lists that would be written.
  func newOrders() -> [NewOrder] {
    var orders: [NewOrder] = []
    forEachOrder { edit in
      if let members = newMembers(edit) { orders.append((edit, members)) }
    }
    return orders
  }

  /// Returns the list of an edit, or `nil` if its owner doesn't exist or the list is the stored one.
  private func newMembers(_ edit: PendingMembers) -> [ObjectNumber]? {
    guard edit.changesOwner, exists(edit.owner) else { return nil }
    let stored = storedMembers(of: edit.owner, edit.relationship)
    let members = edit.members(over: stored)
    return members == stored ? nil : members
  }

  /// Calls `body` with all edits, including those of ordered relationships, while the newest
  /// snapshot is pinned. Does nothing if there are no orders.
  private func forEachOrder(_ body: (PendingMembers) -> Void) {
    guard links.hasOrders else { return }
    onNewestSnapshot { links.forEach(body) }
  }

  /// Leaves the position of members without net change to concurrent commits, which may have moved
  /// them.
  private func leaveUnwritten(_ edit: PendingMembers) {
    guard !edit.relationship.isInverseToMany else { return }
    for member in edit.added.numbers + edit.removed.numbers
    where pending.change(of: member)?.hasNoEffect ?? true {
      recordEdit(of: edit, member, isMerge: true)
      edit[member] = .unmentioned
    }
  }

  /// Throws if other commits have also moved members, or have added members whose deletion is
  /// pending. The lists to write don't contain these.
  ///
  /// - Throws: `conflict` with the owners; `stillLinked`.
  func checkOrders() throws(StoreError) {
    var conflicts: [CommitConflict] = []
    var linked: [StillLinked] = []
    forEachOrder { edit in
      if edit.changesOwner, exists(edit.owner), !edit.hiddenMembers.isEmpty {
        let stored = Set(storedMembers(of: edit.owner, edit.relationship))
        linked += edit.hiddenMembers.filter(stored.contains).map {
          StillLinked(deleted: $0, owner: edit.owner, relationship: edit.relationship.name)
        }
      }
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
    if !linked.isEmpty { throw .stillLinked(linked) }
  }

  /// Returns whether members were moved both in this context and by other commits.
  func isContested(_ edit: PendingMembers) -> Bool {
    guard edit.order?.arrangement != nil else { return false }
    return edit.isContested(over: storedMembers(of: edit.owner, edit.relationship))
  }
}
