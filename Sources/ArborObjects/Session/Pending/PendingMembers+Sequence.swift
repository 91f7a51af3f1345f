internal import ArborModel

extension PendingMembers {
  /// Whether the edit counts as a change of its owner and increments the owner's version, because
  /// the order is a property of the owner.
  var changesOwner: Bool { relationship.isOrdered && !isEmpty }

  /// Returns the members with the pending changes applied to the stored ones, in their order if the
  /// relationship is ordered, otherwise ascending. Takes linear time.
  ///
  /// The context's own order takes precedence, and members it has added keep their position.
  /// Members added by other commits are placed after their predecessor in the store; those at the
  /// end of the stored list are placed after all common members. See ``MergePolicy``.
  func members(over stored: [ObjectNumber]) -> [ObjectNumber] {
    var kept = self.kept(of: stored)
    if relationship.isOrdered { return arranged(kept).inserting(kept) }
    guard !added.isEmpty else { return kept }
    kept += joining(kept)
    kept.sort()
    return kept
  }

  /// Returns the stored members that are still members.
  private func kept(of stored: [ObjectNumber]) -> [ObjectNumber] {
    guard !removed.isEmpty || !hidden.isEmpty else { return stored }
    return stored.filter { says($0) != false }
  }

  /// Returns the members added by the context: first those without a position, added by merging or
  /// undo, then the others in the order in which they were moved to the end.
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

  /// Returns the context's own order of the members it knows.
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

  /// Places an object that is about to become a member at the end.
  ///
  /// - Parameter stored: A closure that returns the stored members. Called if one of them is
  ///   restored.
  func putLast(_ member: ObjectNumber, over stored: () -> [ObjectNumber]) {
    keepSequence(for: member, over: stored)
    let order = self.order ?? PendingOrder()
    if order.arrangement == nil, self[member] == .removed {
      let stored = stored()
      order.arrangement = .init(members: members(over: stored), base: stored)
      // Other commits may have positioned members that the context had placed at the end.
      order.last = MemberList()
    }
    order.last.remove(member)
    order.last.append(member)
    self.order = order
  }

  /// Preserves the current order of the other members when a stored member is restored. Otherwise
  /// merging with the stored list, which may have changed, could reorder them.
  func keepSequence(for member: ObjectNumber, over stored: () -> [ObjectNumber]) {
    guard let order, order.isBehind, let base = order.arrangement?.base, says(member) == false
    else { return }
    order.isBehind = false
    let stored = stored()
    guard base != stored else { return }
    order.arrangement = .init(members: members(over: stored), base: stored)
    order.last = MemberList()
  }

  /// Sets the order of all members.
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

  /// Returns whether the common members have different orders in the context and in the store,
  /// because other commits have moved or added members since the context chose its order.
  func isContested(over stored: [ObjectNumber]) -> Bool {
    guard let base = order?.arrangement?.base, base != stored else { return false }
    let kept = kept(of: stored)
    let own = arranged(kept)
    let both = Set(own).intersection(kept)
    let theirs = kept.filter(both.contains)
    return own.filter(both.contains) != theirs && base.filter(both.contains) != theirs
  }

  /// Replaces the context's order with the store's. Members added by the context are placed before
  /// their successors.
  func yieldOrder(to stored: [ObjectNumber]) {
    let kept = kept(of: stored)
    arrange(kept.insertingBefore(arranged(kept)), over: stored)
  }
}
