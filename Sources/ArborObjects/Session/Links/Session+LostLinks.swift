internal import ArborModel
internal import ArborStore

/// New links that have gone with what concurrent commits have deleted.
extension Session {
  /// Records the new links among those that an edit is about to forget.
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

  /// Records that a new link of an object has gone.
  func noteLost(_ target: ObjectNumber, of owner: ObjectNumber, _ slot: Int) {
    guard policy == .refuses else { return }
    lostLinks.insert(OwnedLink(owner: owner, slot: slot, target: target))
  }

  /// Forgets the lost links of an object, which callers that ask for its present state accept.
  func forgetLost(of number: ObjectNumber) {
    guard !lostLinks.isEmpty else { return }
    lostLinks = lostLinks.filter { $0.owner != number && $0.target != number }
  }

  /// Forgets the lost links between two objects, which an undo would have taken away.
  func forgetLost(between one: ObjectNumber, _ other: ObjectNumber) {
    guard !lostLinks.isEmpty else { return }
    lostLinks = lostLinks.filter {
      ($0.owner, $0.target) != (one, other) && ($0.owner, $0.target) != (other, one)
    }
  }

  /// Forgets the lost links of an object's references that are set to something else.
  func forgetLost(of object: ManagedObject, changing field: RecordField) {
    guard !lostLinks.isEmpty else { return }
    lostLinks = lostLinks.filter { link in
      link.owner != object.number
        || object.binding.entity.relationships[link.slot].field?.offset != field.offset
    }
  }

  /// Refuses a commit that would be without links which were made here.
  ///
  /// - Throws: `missingTargets` that names both ends of each.
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

  /// Whether nothing has been done about a link since.
  private func isLost(_ link: OwnedLink) -> Bool {
    guard exists(link.owner), let relationship = relationship(of: link.owner, link.slot) else {
      return false
    }
    if !relationship.isToMany { return fault(link.owner)?.target(of: relationship) == nil }
    return links.edit(link.owner, relationship)?.says(link.target) != true
  }
}
