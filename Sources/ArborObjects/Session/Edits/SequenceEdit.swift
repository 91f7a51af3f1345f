internal import ArborModel

/// The members of an ordered relationship before an edit, and what the edit changed in their
/// sequence. Who is a member, other edits tell.
///
/// What an edit changed is what the context showed before and after it, whatever others commit: a
/// move is one to take back also where a commit that is taken in afterwards happens to bring the
/// former sequence about, for undoing it is to show what was there before it.
struct SequenceEdit {
  let owner: ObjectNumber
  let relationship: RelationshipSchema
  let before: [ObjectNumber]
  /// The store's members when the edit began, on which the context has laid its changes since; nil
  /// as soon as the edit knows what it changed.
  var stored: [ObjectNumber]?
  /// Those that are members no more.
  private(set) var left: Set<ObjectNumber> = []
  /// Whether those that have stayed stand otherwise.
  private(set) var isMoved = false

  /// Whether something is to be done when the edit is taken back.
  var movesMembers: Bool { isMoved || !left.isEmpty }

  /// Determines what the edit changed, before concurrent commits are merged into the pending
  /// changes.
  ///
  /// - Parameter pending: Lays what is pending over the store's members.
  mutating func seal(_ pending: (_ stored: [ObjectNumber]) -> [ObjectNumber]) {
    guard let stored else { return }
    self.stored = nil
    let after = pending(stored)
    guard let (own, now) = before.middles(after) else { return }
    let (former, present) = (Set(before[own]), Set(after[now]))
    left = former.subtracting(present)
    isMoved = before[own].filter(present.contains) != after[now].filter(former.contains)
  }

  /// The sequence of members that takes the edit back. What others have made of it meanwhile stays,
  /// as far as the edit changed nothing.
  ///
  /// - Parameter present: The members now; those that had left have come back.
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
