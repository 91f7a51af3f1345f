internal import ArborModel
internal import ArborStore

/// New links that were lost because concurrent commits deleted their targets.
extension Session {
  /// Records the new links among those that an edit is about to discard.
  func noteLost(_ edit: PendingMembers, _ members: [ObjectNumber]) {
    guard policy == .refuses else { return }
    let isOwnerThere = exists(edit.owner)
    for member in members where edit[member] == .added {
      if isOwnerThere {
        noteLost(member, of: edit.owner, edit.relationship.slot)
      } else if exists(member) {
        noteLost(edit.owner, of: member, edit.relationship.inverseSlot)
      }
    }
  }

  /// Records that a new link of an object was lost.
  func noteLost(_ target: ObjectNumber, of owner: ObjectNumber, _ slot: Int) {
    guard policy == .refuses else { return }
    lostLinks.insert(OwnedLink(owner: owner, slot: slot, target: target))
  }

  /// Discards the lost links of an object, because the caller accepts its current state.
  func forgetLost(of number: ObjectNumber) {
    guard !lostLinks.isEmpty else { return }
    lostLinks = lostLinks.filter { $0.owner != number && $0.target != number }
  }

  /// Discards the lost links between two objects, which an undo would have removed.
  func forgetLost(between one: ObjectNumber, _ other: ObjectNumber) {
    guard !lostLinks.isEmpty else { return }
    lostLinks = lostLinks.filter {
      ($0.owner, $0.target) != (one, other) && ($0.owner, $0.target) != (other, one)
    }
  }

  /// Discards the lost link of an object's reference that is about to be changed.
  func forgetLost(of object: ManagedObject, changing field: RecordField) {
    guard !lostLinks.isEmpty else { return }
    lostLinks = lostLinks.filter { link in
      link.owner != object.number
        || object.binding.entity.relationships[link.slot].field?.offset != field.offset
    }
  }

  /// Throws if links created in this context would be missing from a commit.
  ///
  /// - Throws: `missingTargets` with both ends of each link.
  func checkLostLinks() throws(StoreError) {
    guard !lostLinks.isEmpty else { return }
    lostLinks = policy == .refuses ? lostLinks.filter(isLost) : []
    guard !lostLinks.isEmpty else { return }
    let missing = lostLinks.map { link in
      MissingTarget(
        owner: link.owner, relationship: relationship(of: link.owner, link.slot)?.name ?? "",
        target: link.target)
    }
    throw .missingTargets(missing.sorted { ($0.owner, $0.target) < ($1.owner, $1.target) })
  }

  /// Returns whether a lost link has not been replaced since.
  private func isLost(_ link: OwnedLink) -> Bool {
    guard exists(link.owner), let relationship = relationship(of: link.owner, link.slot) else {
      return false
    }
    if !relationship.isToMany { return fault(link.owner)?.target(of: relationship) == nil }
    return links.edit(link.owner, relationship)?.says(link.target) != true
  }
}
