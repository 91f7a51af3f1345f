internal import ArborModel

/// The members of an ordered relationship before an edit, and the edit's effect on their order.
/// Membership is covered by other edits.
///
/// The effect is the difference between what the context showed before and after the edit,
/// independent of other commits. A move can be undone even if a commit merged later happens to
/// produce the former order, because undoing restores what was visible before.
struct SequenceEdit {
  let owner: ObjectNumber
  let relationship: RelationshipSchema
  let before: [ObjectNumber]
  /// The members in the store when the edit began, without the context's pending changes. `nil`
  /// once the effect is known.
  var stored: [ObjectNumber]?
  /// The members that were removed.
  private(set) var left: Set<ObjectNumber> = []
  /// Whether the order of the remaining members changed.
  private(set) var isMoved = false

  /// Whether reverting the edit changes anything.
  var movesMembers: Bool { isMoved || !left.isEmpty }

  /// Determines the effect of the edit, before concurrent commits are merged into the pending
  /// changes.
  ///
  /// - Parameter pending: A closure that applies the pending changes to the stored members.
  mutating func seal(_ pending: (_ stored: [ObjectNumber]) -> [ObjectNumber]) {
    guard let stored else { return }
    self.stored = nil
    let after = pending(stored)
    guard let (own, now) = before.middles(after) else { return }
    let (former, present) = (Set(before[own]), Set(after[now]))
    left = former.subtracting(present)
    isMoved = before[own].filter(present.contains) != after[now].filter(former.contains)
  }

  /// Returns the order of members that reverts the edit. Changes made by other commits since are
  /// kept where the edit itself changed nothing.
  ///
  /// - Parameter present: The current members, including restored ones.
  func undone(_ present: [ObjectNumber]) -> [ObjectNumber] {
    let others = left.isEmpty ? present : present.filter { !left.contains($0) }
    var former = before
    if let (own, now) = before.middles(present) {
      let members = Set(present[now])
      former.replaceSubrange(own, with: before[own].filter(members.contains))
    }
    return isMoved ? former.inserting(others) : others.insertingBefore(former)
  }
}
