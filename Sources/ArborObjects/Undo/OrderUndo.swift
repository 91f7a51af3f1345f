internal import ArborModel

/// The members of an ordered relationship before a step, and what the step changed in their
/// sequence. Who is a member, other steps tell.
struct OrderUndo {
  let owner: ObjectNumber
  let relation: Relation
  let before: [ObjectNumber]
  /// Those that are members no more.
  private(set) var left: Set<ObjectNumber> = []
  /// Whether those that have stayed stand otherwise.
  private(set) var isMoved = false

  init(_ owner: ObjectNumber, _ relation: Relation, _ before: [ObjectNumber]) {
    self.owner = owner
    self.relation = relation
    self.before = before
  }

  /// Whether something is to be done when the step is taken back.
  var placesMembers: Bool { isMoved || !left.isEmpty }

  mutating func seal(_ after: [ObjectNumber]) {
    (left, isMoved) = ([], false)
    guard let (own, now) = before.middles(after) else { return }
    let (former, present) = (Set(before[own]), Set(after[now]))
    left = former.subtracting(present)
    isMoved = before[own].filter(present.contains) != after[now].filter(former.contains)
  }

  /// The sequence of members that takes the step back. What others have made of it meanwhile stays,
  /// as far as the step changed nothing.
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
