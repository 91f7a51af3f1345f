internal import ArborModel
internal import ArborStore

/// Ordered relationships in a commit. The store receives complete lists based on its newest ones.
/// The owner's version, which every new list increments, allows the store to check that they are
/// still current.
extension Session {
  /// Prepares the orders for writing: assigns a new version to their owners, and discards the
  /// pending membership of members that will not be written.
  func beginWritingOrders() {
    forEachOrder { edit in
      guard edit.changesOwner else { return }
      leaveUnwritten(edit)
      if pending.change(of: edit.owner) == nil, exists(edit.owner), let owner = fault(edit.owner) {
        _ = beginWriting(owner)
      }
    }
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

  /// Returns the lists to write. Lists of missing or deleted objects are skipped.
  ///
  /// - Parameter isPreview: Whether to include the lists of owners that have no new version yet.
  func newOrders(isPreview: Bool) -> [(edit: PendingMembers, members: [ObjectNumber])] {
    var orders: [(edit: PendingMembers, members: [ObjectNumber])] = []
    forEachOrder { edit in
      guard edit.changesOwner,
        pending.change(of: edit.owner).map({ $0.kind != .deleted }) ?? isPreview
      else { return }
      orders.append((edit, members(of: edit.owner, edit.relationship)))
    }
    return orders
  }

  /// Returns whether members were moved both in this context and by other commits.
  func isContested(_ edit: PendingMembers) -> Bool {
    guard edit.order?.arrangement != nil else { return false }
    return edit.isContested(over: storedMembers(of: edit.owner, edit.relationship))
  }
}
