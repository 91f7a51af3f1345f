internal import ArborModel

/// What a context says of the sequence of one owner's members in an ordered relationship.
///
/// It says nothing of who is a member: that is said pair by pair, by the ``LinkEdit`` it belongs
/// to, as for relationships without an order. Numbers of objects that are no members, or none any
/// more, do not count. So a sequence can be laid over whatever others commit meanwhile.
final class OrderEdit {
  /// A sequence of all members, as somebody has chosen it.
  struct Arrangement {
    let members: [ObjectNumber]
    /// The store's members at that time: whether others have moved them since is told by these.
    let base: [ObjectNumber]
  }

  /// nil: the store's members stand as they do in the store.
  var arrangement: Arrangement?
  /// Who was put behind all others since, in their order.
  var last = MemberList()

  /// The same, sharing nothing, for savepoints.
  var copy: OrderEdit {
    let copy = OrderEdit()
    copy.arrangement = arrangement
    copy.last = last.copy
    return copy
  }
}

/// The sequence of members.
extension LinkEdit {
  /// Whether the edit is a change of its owner, which gets a new version by it: an order is a
  /// property.
  var changesOwner: Bool { relation.isOrdered && !isEmpty }

  /// The members, the changes laid over the store's: in their order where the relationship has one,
  /// else ascending. Linear.
  ///
  /// The context's own sequence counts, and whom it has added stands where it was put. Whom others
  /// have added stands behind the one that it follows in the store; what stands there behind all
  /// others, behind all that both have. See ``MergePolicy``.
  func members(over stored: [ObjectNumber]) -> [ObjectNumber] {
    var kept = self.kept(of: stored)
    guard relation.isOrdered else {
      guard !added.isEmpty else { return kept }
      // Another context may have committed the same link since.
      let present = MemberList(kept)
      kept += added.numbers.filter { !present.contains($0) }
      kept.sort()
      return kept
    }
    return arranged(kept).inserting(kept)
  }

  /// The store's members that are members still.
  private func kept(of stored: [ObjectNumber]) -> [ObjectNumber] {
    guard !removed.isEmpty || !hidden.isEmpty else { return stored }
    return stored.filter { says($0) != false }
  }

  /// The context's own sequence, of the members that it knows of.
  private func arranged(_ kept: [ObjectNumber]) -> [ObjectNumber] {
    guard order != nil || !added.isEmpty else { return kept }
    let present = MemberList(kept)
    func isMember(_ number: ObjectNumber) -> Bool {
      present.contains(number) || added.contains(number)
    }
    var members: MemberList
    if let arrangement = order?.arrangement {
      members = MemberList()
      for number in arrangement.members
      where order?.last.contains(number) != true && isMember(number) {
        members.append(number)
      }
      for number in order?.last.numbers ?? [] where isMember(number) { members.append(number) }
    } else {
      members = present
      for number in order?.last.numbers ?? [] where added.contains(number) {
        members.append(number)
      }
    }
    // Whom nobody put anywhere: merging has made them members.
    for number in added.numbers.sorted() { members.append(number) }
    return members.numbers
  }

  /// Lets an object that is about to become a member stand behind all others.
  ///
  /// - Parameter stored: The store's members; asked for where one of them comes back.
  func putLast(_ member: ObjectNumber, over stored: () -> [ObjectNumber]) {
    let order = self.order ?? OrderEdit()
    if order.arrangement == nil, self[member] == .removed {
      let stored = stored()
      order.arrangement = .init(members: members(over: stored), base: stored)
    }
    order.last.remove(member)
    order.last.append(member)
    self.order = order
  }

  /// Gives all members a sequence.
  func arrange(_ members: [ObjectNumber], over stored: [ObjectNumber]) {
    let kept = kept(of: stored)
    let order = OrderEdit()
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

/// Two lists of members made one.
extension [ObjectNumber] {
  /// This list with the members that it lacks of another one: each behind the one that it follows
  /// there; those that follow all others there, behind all that both lists have. Linear.
  func inserting(_ guests: [ObjectNumber]) -> [ObjectNumber] {
    let own = Set(self)
    guard guests.contains(where: { !own.contains($0) }) else { return self }
    let theirs = Set(guests)
    var runs: [ObjectNumber?: [ObjectNumber]] = [:]
    var anchor: ObjectNumber?
    var run: [ObjectNumber] = []
    for guest in guests {
      guard own.contains(guest) else {
        run.append(guest)
        continue
      }
      runs[anchor] = run
      (anchor, run) = (guest, [])
    }
    runs[anchor == nil ? nil : last { theirs.contains($0) }, default: []] += run
    var merged = runs[nil] ?? []
    for member in self {
      merged.append(member)
      if let run = runs[member] { merged += run }
    }
    return merged
  }

  /// This list with the members that it lacks of another one: each before the one that it precedes
  /// there; those that precede all others there, before all that both lists have. Linear.
  func insertingBefore(_ guests: [ObjectNumber]) -> [ObjectNumber] {
    [ObjectNumber](reversed()).inserting(guests.reversed()).reversed()
  }
}
