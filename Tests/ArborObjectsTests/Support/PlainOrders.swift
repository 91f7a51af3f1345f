/// A list of members in a naive store or context.
struct PlainList: Hashable {
  let owner: Int
  /// "skills", "holders" or "members".
  let name: String
}

/// What a naive context says of the sequence of a list.
struct PlainOrder: Equatable {
  /// The sequence that was chosen; nil: that of the store.
  var arrangement: [Int]?
  /// Who was put last since.
  var last: [Int] = []
  /// The store's members when it was chosen.
  var base: [Int] = []
}

/// What a group of operations changed in the sequence of a list.
struct PlainMove {
  let before: [Int]
  let left: [Int]
  let isMoved: Bool

  init(_ before: [Int], _ after: [Int]) {
    self.before = before
    left = before.filter { !after.contains($0) }
    isMoved = before.filter(after.contains) != after.filter(before.contains)
  }

  /// The sequence that takes it back.
  func undone(_ present: [Int]) -> [Int] {
    let former = before.filter(present.contains)
    let others = present.filter { !left.contains($0) }
    guard !isMoved else { return former.placing(others) }
    return [Int]([Int](others.reversed()).placing(former.reversed()).reversed())
  }
}

extension [Int] {
  /// This list with the members that it lacks of another one, each put in by itself: behind the one
  /// that it follows there, or behind all that both lists have, where it follows all of them.
  fileprivate func placing(_ guests: [Int]) -> [Int] {
    var merged = self
    let both = filter(guests.contains)
    for (index, guest) in guests.enumerated() where !contains(guest) {
      let isLast = !guests[index...].contains(where: contains)
      var anchor = index > 0 ? guests[index - 1] : nil
      if isLast, let known = anchor, contains(known) { anchor = both.last }
      var target = anchor.flatMap { merged.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
      // Behind those that follow the same member.
      while isLast, anchor != nil, anchor == both.last, target < merged.count,
        !contains(merged[target])
      {
        target += 1
      }
      merged.insert(guest, at: target)
    }
    return merged
  }
}

extension PlainContext {
  /// The members of a list, whatever their sequence.
  private func memberSet(_ list: PlainList, _ store: PlainStore) -> Set<Int> {
    switch list.name {
    case "skills": Set(links(store).filter { $0.person == list.owner }.map(\.skill))
    case "holders": Set(links(store).filter { $0.skill == list.owner }.map(\.person))
    default: Set(items(store).filter { $0.value.values["team"] == list.owner }.keys)
    }
  }

  /// The members of a list in their order.
  func members(_ list: PlainList, _ store: PlainStore) -> [Int] {
    let members = memberSet(list, store)
    guard store.isOrdered else { return members.sorted() }
    let kept = stored(list, store).filter(members.contains)
    let order = orders[list] ?? PlainOrder()
    var own = (order.arrangement ?? kept).filter(members.contains)
    var last = order.last.filter(members.contains)
    if order.arrangement == nil { last.removeAll(where: kept.contains) }
    own.removeAll(where: last.contains)
    // Whom nobody put anywhere.
    own += members.sorted().filter { !(own + last + kept).contains($0) }
    return (own + last).placing(kept)
  }

  /// The lists of all objects.
  func lists(_ store: PlainStore) -> [PlainList: [Int]] {
    guard store.isOrdered else { return [:] }
    var lists: [PlainList: [Int]] = [:]
    for (key, item) in items(store) {
      let names = ["Person": "skills", "Skill": "holders", "Team": "members"]
      let list = PlainList(owner: key, name: names[item.entity] ?? "")
      lists[list] = members(list, store)
    }
    return lists
  }

  /// The lists of the deleted teams: others may have given them members, which lead there until the
  /// commit, and may leave.
  func deletedLists(_ store: PlainStore) -> [PlainList: [Int]] {
    guard store.isOrdered else { return [:] }
    var lists: [PlainList: [Int]] = [:]
    for key in deletedKeys where store.items[key]?.entity == "Team" {
      let list = PlainList(owner: key, name: "members")
      lists[list] = members(list, store)
    }
    return lists
  }

  private func stored(_ list: PlainList, _ store: PlainStore) -> [Int] {
    isInserted(list.owner) ? [] : store.orders[list] ?? []
  }

  /// An object is about to become a member.
  ///
  /// - Parameter isBack: Whether it is one in the store.
  mutating func putLast(_ member: Int, _ list: PlainList, isBack: Bool, _ store: PlainStore) {
    var order = orders[list] ?? PlainOrder()
    if isBack, order.arrangement == nil || order.base != stored(list, store) {
      order = PlainOrder(arrangement: members(list, store), base: stored(list, store))
    }
    order.last.removeAll { $0 == member }
    order.last.append(member)
    orders[list] = order
  }

  /// An object that was deleted is about to come back: where the store has it as a member, and
  /// nobody else says anything of it, it is one again at once, and moves none of the others.
  mutating func keepSequences(with key: Int, _ store: PlainStore) {
    for (list, order) in orders where order.arrangement != nil {
      let stored = stored(list, store)
      let isUnlinked =
        switch list.name {
        case "skills": isUnlinked(.init(person: list.owner, skill: key))
        case "holders": isUnlinked(.init(person: key, skill: list.owner))
        default: false
        }
      guard !isUnlinked, order.base != stored, stored.contains(key),
        !memberSet(list, store).contains(key)
      else { continue }
      orders[list] = PlainOrder(arrangement: members(list, store), base: stored)
    }
  }

  /// Gives members a sequence.
  mutating func arrange(_ members: [Int], _ list: PlainList, _ store: PlainStore) {
    guard members != self.members(list, store) else { return }
    touched.insert(list)
    settle(members, list, store)
  }

  /// Forgets what is said of a sequence where it is the store's.
  mutating func settle(_ list: PlainList, _ store: PlainStore) {
    if orders[list] != nil { settle(members(list, store), list, store) }
  }

  private mutating func settle(_ members: [Int], _ list: PlainList, _ store: PlainStore) {
    let present = memberSet(list, store)
    let kept = stored(list, store).filter(present.contains)
    if members.starts(with: kept) {
      let last = Array(members.dropFirst(kept.count))
      orders[list] = last.isEmpty ? nil : PlainOrder(last: last)
    } else {
      orders[list] = PlainOrder(arrangement: members, base: stored(list, store))
    }
  }
}
