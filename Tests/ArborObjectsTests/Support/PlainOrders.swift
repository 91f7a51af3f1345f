/// A list of members in a naive store or context.
struct PlainList: Hashable {
  let owner: Int
  /// The name of the list: "skills", "holders" or "members".
  let name: String
}

/// The pending order of a list in a naive context.
struct PlainOrder: Equatable {
  /// The chosen sequence; `nil` for that of the store.
  var arrangement: [Int]?
  /// The members that were put last since then.
  var last: [Int] = []
  /// The store's members when the sequence was chosen.
  var base: [Int] = []
}

/// The change of a list's order by a group of operations.
struct PlainMove {
  let before: [Int]
  let left: [Int]
  let isMoved: Bool

  init(_ before: [Int], _ after: [Int]) {
    self.before = before
    left = before.filter { !after.contains($0) }
    isMoved = before.filter(after.contains) != after.filter(before.contains)
  }

  /// Returns the sequence after undoing the change.
  func undone(_ present: [Int]) -> [Int] {
    let former = before.filter(present.contains)
    let others = present.filter { !left.contains($0) }
    guard !isMoved else { return former.placing(others) }
    return [Int]([Int](others.reversed()).placing(former.reversed()).reversed())
  }
}

extension [Int] {
  /// Returns this list with the missing members of another list. Each follows its predecessor in
  /// the other list, or all common members if it follows all of them there.
  fileprivate func placing(_ guests: [Int]) -> [Int] {
    var merged = self
    let both = filter(guests.contains)
    for (index, guest) in guests.enumerated() where !contains(guest) {
      let isLast = !guests[index...].contains(where: contains)
      var anchor = index > 0 ? guests[index - 1] : nil
      if isLast, let known = anchor, contains(known) { anchor = both.last }
      var target = anchor.flatMap { merged.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
      // After those that follow the same member.
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
  /// Returns the members of a list, regardless of order.
  private func memberSet(_ list: PlainList, _ store: PlainStore) -> Set<Int> {
    switch list.name {
    case "skills": Set(links(store).filter { $0.person == list.owner }.map(\.skill))
    case "holders": Set(links(store).filter { $0.skill == list.owner }.map(\.person))
    default: Set(items(store).filter { $0.value.values["team"] == list.owner }.keys)
    }
  }

  /// Returns the members of a list in order.
  func members(_ list: PlainList, _ store: PlainStore) -> [Int] {
    let members = memberSet(list, store)
    guard store.isOrdered else { return members.sorted() }
    let kept = stored(list, store).filter(members.contains)
    let order = orders[list] ?? PlainOrder()
    var own = (order.arrangement ?? kept).filter(members.contains)
    var last = order.last.filter(members.contains)
    if order.arrangement == nil { last.removeAll(where: kept.contains) }
    own.removeAll(where: last.contains)
    // Members without a chosen position.
    own += members.sorted().filter { !(own + last + kept).contains($0) }
    return (own + last).placing(kept)
  }

  /// Returns the lists of all objects.
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

  /// Returns the lists of deleted teams. Others may have added members, which keep their references
  /// until the commit.
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

  /// Records that an object is about to become the last member.
  ///
  /// - Parameter isBack: Whether the object is a member in the store.
  mutating func putLast(_ member: Int, _ list: PlainList, isBack: Bool, _ store: PlainStore) {
    var order = orders[list] ?? PlainOrder()
    if isBack, order.arrangement == nil || order.base != stored(list, store) {
      order = PlainOrder(arrangement: members(list, store), base: stored(list, store))
    }
    order.last.removeAll { $0 == member }
    order.last.append(member)
    orders[list] = order
  }

  /// Prepares the orders for a deleted object that is about to be revived. If it is a member in the
  /// store and this context hasn't removed it, it becomes a member again without moving others.
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

  /// Sets the order of the members.
  mutating func arrange(_ members: [Int], _ list: PlainList, _ store: PlainStore) {
    guard members != self.members(list, store) else { return }
    touched.insert(list)
    settle(members, list, store)
  }

  /// Forgets the order of a list if it is that of the store.
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
