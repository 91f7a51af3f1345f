package import ArborModel

/// What a context says of the sequence of one owner's members in an ordered relationship.
///
/// It says nothing of who is a member: that is said pair by pair, by the ``PendingMembers`` it
/// belongs to, as for relationships without an order. Numbers of objects that are no members, or none any
/// more, do not count. So a sequence can be laid over whatever others commit meanwhile.
package final class PendingOrder {
  /// A sequence of all members, as somebody has chosen it.
  package struct Arrangement {
    package let members: [ObjectNumber]
    /// The store's members at that time: whether others have moved them since is told by these.
    package let base: [ObjectNumber]
  }

  /// nil: the store's members stand as they do in the store.
  package var arrangement: Arrangement?
  /// Whether others may have changed the store's members since ``arrangement`` was chosen.
  package var isBehind = false
  /// Who was put behind all others since, in their order.
  package var last = MemberList()
  /// Who became a member in a savepoint, for undo; in no other one does it count.
  private var joined: (numbers: Set<ObjectNumber>, epoch: UInt32) = ([], 0)

  package func noteJoined(_ member: ObjectNumber, in epoch: UInt32) {
    if joined.epoch != epoch { joined = ([], epoch) }
    joined.numbers.insert(member)
  }

  /// Who has become a member since a savepoint began.
  package func joined(in epoch: UInt32) -> Set<ObjectNumber> {
    joined.epoch == epoch ? joined.numbers : []
  }

  /// The same, sharing nothing, for savepoints.
  package var copy: PendingOrder {
    let copy = PendingOrder()
    copy.arrangement = arrangement
    copy.isBehind = true
    copy.last = last.copy
    return copy
  }
}

/// The sequence of members.
extension PendingMembers {
  /// Whether the edit is a change of its owner, which gets a new version by it: an order is a
  /// property.
  package var changesOwner: Bool { relation.isOrdered && !isEmpty }

  /// The members, the changes laid over the store's: in their order where the relationship has one,
  /// else ascending. Linear.
  ///
  /// The context's own sequence counts, and whom it has added stands where it was put. Whom others
  /// have added stands behind the one that it follows in the store; what stands there behind all
  /// others, behind all that both have. See ``MergePolicy``.
  package func members(over stored: [ObjectNumber]) -> [ObjectNumber] {
    var kept = self.kept(of: stored)
    if relation.isOrdered { return arranged(kept).inserting(kept) }
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
    let placed = MemberList(joining)
    return added.numbers.filter { !placed.contains($0) && !present.contains($0) }.sorted() + joining
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
      let placed = MemberList(members)
      members += added.numbers.filter {
        !placed.contains($0) && !present.contains($0) && !order.last.contains($0)
      }.sorted()
    }
    return members + order.last.numbers.filter(isMember)
  }

  /// Lets an object that is about to become a member stand behind all others.
  ///
  /// - Parameter stored: The store's members; asked for where one of them comes back.
  package func putLast(_ member: ObjectNumber, over stored: () -> [ObjectNumber]) {
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
  package func keepSequence(for member: ObjectNumber, over stored: () -> [ObjectNumber]) {
    guard let order, order.isBehind, let base = order.arrangement?.base, says(member) == false
    else { return }
    order.isBehind = false
    let stored = stored()
    guard base != stored else { return }
    order.arrangement = .init(members: members(over: stored), base: stored)
    order.last = MemberList()
  }

  /// Gives all members a sequence.
  package func arrange(_ members: [ObjectNumber], over stored: [ObjectNumber]) {
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
  package func isContested(over stored: [ObjectNumber]) -> Bool {
    guard let base = order?.arrangement?.base, base != stored else { return false }
    let kept = kept(of: stored)
    let own = arranged(kept)
    let both = Set(own).intersection(kept)
    let theirs = kept.filter(both.contains)
    return own.filter(both.contains) != theirs && base.filter(both.contains) != theirs
  }

  /// Gives up the own sequence for the store's; whom the context has added stands before the one
  /// that it preceded.
  package func yieldOrder(to stored: [ObjectNumber]) {
    let kept = kept(of: stored)
    arrange(kept.insertingBefore(arranged(kept)), over: stored)
  }
}

/// Two lists of members made one. What both begin and end with costs a comparison.
extension [ObjectNumber] {
  /// This list with the members that it lacks of another one: each behind the one that it follows
  /// there; those that follow all others there, behind all that both lists have. Linear.
  package func inserting(_ guests: [ObjectNumber]) -> [ObjectNumber] {
    guard let (own, theirs) = middles(guests) else { return self }
    let host = Set(self[own])
    guard guests[theirs].contains(where: { !host.contains($0) }) else { return self }
    let common = host.intersection(guests[theirs])
    var runs: [ObjectNumber?: [ObjectNumber]] = [:]
    var anchor: ObjectNumber?
    var run: [ObjectNumber] = []
    for guest in guests[theirs] {
      guard common.contains(guest) else {
        run.append(guest)
        continue
      }
      runs[anchor] = run
      (anchor, run) = (guest, [])
    }
    if theirs.upperBound == guests.endIndex { anchor = self[own].last(where: common.contains) }
    runs[anchor, default: []] += run
    var merged = self[..<own.lowerBound] + (runs[nil] ?? [])
    for member in self[own] {
      merged.append(member)
      if let run = runs[member] { merged += run }
    }
    return [ObjectNumber](merged + self[own.upperBound...])
  }

  /// This list with the members that it lacks of another one: each before the one that it precedes
  /// there; those that precede all others there, before all that both lists have. Linear.
  package func insertingBefore(_ guests: [ObjectNumber]) -> [ObjectNumber] {
    [ObjectNumber](reversed()).inserting(guests.reversed()).reversed()
  }

  /// What lies between the same beginning and the same end of two lists; nil where they are one.
  package func middles(_ other: [ObjectNumber]) -> (own: Range<Int>, theirs: Range<Int>)? {
    let shorter = Swift.min(count, other.count)
    var start = 0
    while start < shorter, self[start] == other[start] { start += 1 }
    var length = 0
    while length < shorter - start, self[count - 1 - length] == other[other.count - 1 - length] {
      length += 1
    }
    let (end, otherEnd) = (count - length, other.count - length)
    return start == end && start == otherEnd ? nil : (start..<end, start..<otherEnd)
  }
}
