internal import ArborModel

extension PendingMembers {
  /// Whether the edit is a change of its owner, which gets a new version by it: an order is a
  /// property.
  var changesOwner: Bool { relationship.isOrdered && !isEmpty }

  /// The members, the changes laid over the store's: in their order where the relationship has one,
  /// else ascending. Linear.
  ///
  /// The context's own sequence counts, and whom it has added stands where it was put. Whom others
  /// have added stands behind the one that it follows in the store; what stands there behind all
  /// others, behind all that both have. See ``MergePolicy``.
  func members(over stored: [ObjectNumber]) -> [ObjectNumber] {
    var kept = self.kept(of: stored)
    if relationship.isOrdered { return arranged(kept).inserting(kept) }
    guard !added.isEmpty else { return kept }
    kept += joining(kept)
    kept.sort()
    return kept
  }

  /// The store's members that are members still.
  private func kept(of stored: [ObjectNumber]) -> [ObjectNumber] {
    guard !removed.isEmpty || !hidden.isEmpty else { return stored }
    return stored.filter { says($0) != false }
  }

  /// Whom the context has added: first those whom nobody put anywhere, since merging or undo has
  /// made them members, then the others in the order in which they were put last.
  private func joining(_ kept: [ObjectNumber]) -> [ObjectNumber] {
    guard !added.isEmpty else { return [] }
    // Another context may have committed the same link since.
    let present = MemberList(kept.filter(added.contains))
    let joining = (order?.last.numbers ?? []).filter {
      added.contains($0) && !present.contains($0)
    }
    guard joining.count + present.count < added.count else { return joining }
    let arranged = MemberList(joining)
    let others = added.numbers.filter { !arranged.contains($0) && !present.contains($0) }
    return others.sorted() + joining
  }

  /// The context's own sequence, of the members that it knows of.
  private func arranged(_ kept: [ObjectNumber]) -> [ObjectNumber] {
    guard let order, let arrangement = order.arrangement else { return kept + joining(kept) }
    let present = MemberList(kept)
    func isMember(_ number: ObjectNumber) -> Bool {
      present.contains(number) || added.contains(number)
    }
    var members = arrangement.members.filter { !order.last.contains($0) && isMember($0) }
    if !added.isEmpty {
      let arranged = MemberList(members)
      members += added.numbers.filter {
        !arranged.contains($0) && !present.contains($0) && !order.last.contains($0)
      }.sorted()
    }
    return members + order.last.numbers.filter(isMember)
  }

  /// Lets an object that is about to become a member stand behind all others.
  ///
  /// - Parameter stored: The store's members; asked for where one of them comes back.
  func putLast(_ member: ObjectNumber, over stored: () -> [ObjectNumber]) {
    keepSequence(for: member, over: stored)
    let order = self.order ?? PendingOrder()
    if order.arrangement == nil, self[member] == .removed {
      let stored = stored()
      order.arrangement = .init(members: members(over: stored), base: stored)
      // Others may have put in their place whom the context had put last.
      order.last = MemberList()
    }
    order.last.remove(member)
    order.last.append(member)
    self.order = order
  }

  /// Holds on to the present sequence of the others where somebody comes back whom the store has:
  /// merged with the store's list, which others have changed since, they might stand otherwise.
  func keepSequence(for member: ObjectNumber, over stored: () -> [ObjectNumber]) {
    guard let order, order.isBehind, let base = order.arrangement?.base, says(member) == false
    else { return }
    order.isBehind = false
    let stored = stored()
    guard base != stored else { return }
    order.arrangement = .init(members: members(over: stored), base: stored)
    order.last = MemberList()
  }

  /// Gives all members a sequence.
  func arrange(_ members: [ObjectNumber], over stored: [ObjectNumber]) {
    let kept = kept(of: stored)
    let order = PendingOrder()
    if members.starts(with: kept) {
      order.last = MemberList(Array(members.dropFirst(kept.count)))
      self.order = order.last.isEmpty ? nil : order
    } else {
      order.arrangement = .init(members: members, base: stored)
      self.order = order
    }
  }

  /// Whether those that both have stand otherwise here and in the store, for others have moved or
  /// added some of them since the context chose its sequence.
  func isContested(over stored: [ObjectNumber]) -> Bool {
    guard let base = order?.arrangement?.base, base != stored else { return false }
    let kept = kept(of: stored)
    let own = arranged(kept)
    let both = Set(own).intersection(kept)
    let theirs = kept.filter(both.contains)
    return own.filter(both.contains) != theirs && base.filter(both.contains) != theirs
  }

  /// Gives up the own sequence for the store's; whom the context has added stands before the one
  /// that it preceded.
  func yieldOrder(to stored: [ObjectNumber]) {
    let kept = kept(of: stored)
    arrange(kept.insertingBefore(arranged(kept)), over: stored)
  }
}
