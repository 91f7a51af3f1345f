/// A naive context: its changes on top of a naive store, whose commits it sees at once.
///
/// A changed property keeps its value when another context commits; all other properties follow the
/// store. A changed object survives a deletion by another context until its changes are reverted.
/// For links, the context's last change counts, as long as both ends exist. A reference to a
/// deleted object is `nil`, and is restored if the deletion is undone.
struct PlainContext {
  typealias Item = PlainStore.Item
  typealias Link = PlainStore.Link

  private static let names = PlainStore.attributes + ["team", "desk", "clerk"]

  /// The changes of a group of operations.
  struct Difference {
    var before: [Int: Item] = [:]
    var after: [Int: Item] = [:]
    var linksBefore: Set<Link> = []
    var linksAfter: Set<Link> = []
    /// The objects that were written to, even without a net change.
    var objects: Set<Int> = []
    var links: Set<Link> = []
    /// The objects in the order in which they were first written to.
    var written: [Int] = []
    /// The moves of lists from which members were removed or in which members were moved.
    var moves: [PlainList: PlainMove] = [:]
    /// The lists from which members were removed or that were reordered.
    var lists: Set<PlainList> = []

    var isEmpty: Bool {
      before == after && linksBefore == linksAfter && !moves.contains { $0.value.isMoved }
    }

    /// - Parameter pieces: The changes that make up this one.
    init(_ before: View, _ after: View, _ pieces: [Difference] = []) {
      for key in Set(before.items.keys).union(after.items.keys)
      where before.items[key] != after.items[key] {
        self.before[key] = before.items[key]
        self.after[key] = after.items[key]
        objects.insert(key)
      }
      linksBefore = before.links.subtracting(after.links)
      linksAfter = after.links.subtracting(before.links)
      links = linksBefore.union(linksAfter)
      for (list, members) in before.lists {
        let move = PlainMove(members, after.lists[list] ?? [])
        if move.isMoved || !move.left.isEmpty { moves[list] = move }
      }
      for piece in pieces {
        objects.formUnion(piece.objects)
        links.formUnion(piece.links)
        lists.formUnion(piece.lists)
        note(written: piece.written)
      }
    }

    /// Appends the objects that were written to for the first time.
    mutating func note(written keys: [Int]) {
      for key in keys where !written.contains(key) { written.append(key) }
    }
  }

  /// The changes of a group of operations, split at concurrent commits.
  typealias Group = [Difference]

  /// The state that the context sees.
  struct View {
    let items: [Int: Item]
    let links: Set<Link>
    let lists: [PlainList: [Int]]
  }

  /// The state of each inserted or updated object.
  private var changed: [Int: Item] = [:]
  /// The last known stored state of each updated object.
  private var base: [Int: Item] = [:]
  private var deleted: Set<Int> = []
  /// The stored state of each deleted object at the time of its deletion, and the number of commits
  /// that had been merged.
  private var deletedBase: [Int: (item: Item, seen: Int)] = [:]
  /// Updated objects that another context has deleted.
  private var survivors: Set<Int> = []
  private var links: [Link: Bool] = [:]
  var orders: [PlainList: PlainOrder] = [:]
  /// The lists from which members were removed or that were reordered, since the last call of
  /// `takeTouched()`.
  var touched: Set<PlainList> = []
  /// The objects that were written to since the last call of `takeWritten()`, in order.
  private var written: [Int] = []
  /// The number of merged commits of the store.
  private var seen = 0

  /// Whether an object survives a deletion by another context.
  func survives(_ key: Int) -> Bool { survivors.contains(key) }

  /// Whether an object has changes.
  func isChanged(_ key: Int) -> Bool { changed[key] != nil }

  /// Returns the stored one-to-one partner of a changed object.
  func stored(_ key: Int) -> Int? {
    base[key].flatMap { item in PlainPairs.name(of: item.entity).flatMap { item.values[$0] } }
  }

  /// Whether an object isn't in the store, as far as the context knows.
  func isInserted(_ key: Int) -> Bool { changed[key] != nil && base[key] == nil }

  mutating func takeTouched() -> Set<PlainList> {
    defer { touched = [] }
    return touched
  }

  mutating func takeWritten() -> [Int] {
    defer { written = [] }
    return written
  }

  // MARK: Reading

  /// Merges concurrent commits.
  mutating func sync(_ store: PlainStore) {
    var mendings: [PlainPairs.Mending] = []
    var order: [Int] = []
    let rewritten = store.commits[min(seen, store.commits.count)...].joined()
    for key in rewritten + base.keys.sorted() where !order.contains(key) { order.append(key) }
    seen = store.commits.count
    for key in order {
      guard let known = base[key], let mine = changed[key] else { continue }
      guard let present = store.items[key] else {
        if mine == known, !survivors.contains(key) {
          forgetGone(key)
        } else {
          survivors.insert(key)
        }
        continue
      }
      if rewritten.contains(key) { mendings.append(mending(key, [mine, known])) }
      var merged = present
      for name in Self.names where mine.values[name] != known.values[name] {
        merged.values[name] = mine.values[name]
      }
      changed[key] = merged
      base[key] = present
      survivors.remove(key)
    }
    // Another context has revived an object that this context has revived, too.
    for key in changed.keys.sorted() where base[key] == nil {
      guard let present = store.items[key] else { continue }
      mendings.append(mending(key, [changed[key]]))
      base[key] = present
    }
    dropLost(store)
    mend(mendings, store)
    written = []
  }

  private mutating func forget(_ key: Int) {
    changed[key] = nil
    base[key] = nil
    survivors.remove(key)
  }

  /// Forgets an object that another context has deleted. A changed partner loses its reference to
  /// it.
  private mutating func forgetGone(_ key: Int) {
    let item = changed[key]
    forget(key)
    guard let item, let name = PlainPairs.name(of: item.entity),
      let inverse = PlainPairs.inverses[name], let partner = item.values[name],
      changed[partner]?.values[inverse] == key
    else { return }
    changed[partner]?.values[inverse] = nil
    if base[partner]?.values[inverse] == key { base[partner]?.values[inverse] = nil }
  }

  /// Drops links and orders of objects that another context has deleted.
  private mutating func dropLost(_ store: PlainStore) {
    let known = Set(items(store).keys).union(deleted)
    orders = orders.filter { known.contains($0.key.owner) }
    links = links.filter { link, _ in known.contains(link.person) && known.contains(link.skill) }
    for (key, item) in changed {
      guard let team = item.values["team"], !known.contains(team) else { continue }
      changed[key]?.values["team"] = nil
      if base[key]?.values["team"] == team { base[key]?.values["team"] = nil }
    }
  }

  func items(_ store: PlainStore) -> [Int: Item] {
    var items = store.items.merging(changed) { $1 }
    for key in deleted { items[key] = nil }
    return items
  }

  func links(_ store: PlainStore) -> Set<Link> {
    let items = items(store)
    var all = store.links
    for (link, isThere) in links { if isThere { all.insert(link) } else { all.remove(link) } }
    return all.filter { items[$0.person] != nil && items[$0.skill] != nil }
  }

  var deletedKeys: Set<Int> { deleted }

  /// Whether the context has removed a link.
  func isUnlinked(_ link: Link) -> Bool { links[link] == false }

  func view(_ store: PlainStore) -> View {
    let lists = lists(store).merging(deletedLists(store)) { $1 }
    return View(items: items(store), links: links(store), lists: lists)
  }

  // MARK: Changing

  mutating func insert(_ key: Int, _ entity: String) { changed[key] = Item(entity: entity) }

  mutating func set(_ key: Int, _ name: String, _ value: Int?, _ store: PlainStore) {
    guard var item = items(store)[key] else { return }
    let former = item.values[name]
    item.values[name] = value
    if changed[key] == nil { base[key] = store.items[key] }
    written.append(key)
    if name == "team", former != value {
      if let former { touched.insert(PlainList(owner: former, name: "members")) }
      if let value {
        let isBack = base[key]?.values["team"] == value
        putLast(key, PlainList(owner: value, name: "members"), isBack: isBack, store)
      }
    }
    changed[key] = item
  }

  mutating func setLink(_ link: Link, _ isThere: Bool, _ store: PlainStore) {
    for (list, member) in [
      (PlainList(owner: link.person, name: "skills"), link.skill),
      (PlainList(owner: link.skill, name: "holders"), link.person),
    ] {
      if isThere {
        putLast(member, list, isBack: links[link] == false, store)
      } else {
        touched.insert(list)
      }
    }
    links[link] = (isInserted(link.person) || isInserted(link.skill)) && !isThere ? nil : isThere
  }

  mutating func delete(_ key: Int, _ store: PlainStore) {
    for (member, item) in items(store) where item.values["team"] == key {
      set(member, "team", nil, store)
    }
    for link in links(store) where link.person == key || link.skill == key {
      setLink(link, false, store)
    }
    written.append(key)
    if let end = items(store)[key].flatMap({ PlainPairs.name(of: $0.entity) }),
      let partner = items(store)[key]?.values[end]
    {
      leave(key, at: partner, store)
    }
    if let team = items(store)[key]?.values["team"] {
      touched.insert(PlainList(owner: team, name: "members"))
    }
    if isInserted(key) { for list in orders.keys where list.owner == key { orders[list] = nil } }
    if changed[key] == nil || base[key] != nil {
      deletedBase[key] = (base[key] ?? store.items[key]).map { ($0, seen) }
      deleted.insert(key)
    }
    forget(key)
  }

  // MARK: Undoing

  /// Reverts a group: first revives what it deleted, and finally deletes what it inserted.
  mutating func undo(_ group: Group, _ store: PlainStore) {
    var revived: [Int] = []
    var mendings: [PlainPairs.Mending] = []
    for part in group {
      let lost = part.before.keys.filter { part.after[$0] == nil && items(store)[$0] == nil }
      for key in part.written + lost.sorted() where lost.contains(key) && !revived.contains(key) {
        mendings += revive(key, part.before[key], store).map { [$0] } ?? []
        revived.append(key)
      }
    }
    for part in group.reversed() {
      let rest = part.before.keys.sorted().filter { !part.written.contains($0) }
      for key in part.written.reversed() + rest {
        guard let before = part.before[key], let after = part.after[key],
          items(store)[key] != nil
        else { continue }
        for name in Self.names where before.values[name] != after.values[name] {
          if PlainPairs.inverses[name] != nil {
            guard items(store)[key]?.values[name] != before.values[name] else { continue }
            let target = before.values[name].flatMap { items(store)[$0] == nil ? nil : $0 }
            pair(key, with: target, store)
            continue
          }
          let isGone =
            name == "team" && before.values[name].map { items(store)[$0] == nil } ?? false
          set(key, name, isGone ? nil : before.values[name], store)
        }
      }
      restoreLinks(part, store)
    }
    for part in group.reversed() {
      for (list, move) in part.moves where items(store)[list.owner] != nil {
        arrange(move.undone(members(list, store)), list, store)
      }
    }
    for key in revived {
      if let team = items(store)[key]?.values["team"], items(store)[team] == nil {
        set(key, "team", nil, store)
      }
      mendRevived(key, store)
    }
    mend(mendings, store)
    for part in group.reversed() {
      for key in part.after.keys.sorted(by: >)
      where part.before[key] == nil && items(store)[key] != nil {
        delete(key, store)
      }
    }
  }

  /// Revives an object. If it was merged, returns how to repair its pair.
  private mutating func revive(
    _ key: Int, _ item: Item?, _ store: PlainStore
  ) -> PlainPairs.Mending? {
    written.append(key)
    if deleted.contains(key) { keepSequences(with: key, store) }
    changed[key] = item
    base[key] = store.items[key]
    // Changes made by another context since the deletion are kept.
    if deleted.remove(key) != nil, let item, let (known, seen) = deletedBase[key],
      var merged = store.items[key]
    {
      for name in Self.names where item.values[name] != known.values[name] {
        merged.values[name] = item.values[name]
      }
      changed[key] = merged
      // Even if they wrote the same values.
      if store.commits[seen...].joined().contains(key) { return mending(key, [item, known]) }
    }
    return nil
  }

  private mutating func restoreLinks(_ group: Difference, _ store: PlainStore) {
    let (items, links) = (items(store), links(store))
    for link in group.linksBefore.union(group.linksAfter) {
      let isThere = group.linksBefore.contains(link)
      guard items[link.person] != nil, items[link.skill] != nil, links.contains(link) != isThere
      else { continue }
      setLink(link, isThere, store)
    }
  }

  /// Drops changes of objects, links and lists that have no net effect.
  mutating func settle(_ group: Group, _ store: PlainStore) {
    for part in group {
      for key in part.objects.sorted() where base[key] != nil && changed[key] == base[key] {
        if survivors.contains(key) { forgetGone(key) } else { forget(key) }
      }
      for link in part.links where links[link] == store.links.contains(link) {
        links[link] = nil
      }
      for list in part.lists { settle(list, store) }
    }
    dropLost(store)
  }

  // MARK: Committing

  mutating func commit(to store: inout PlainStore) {
    for key in survivors.sorted() where changed[key] == base[key] { forgetGone(key) }
    mendForCommit(survivors.sorted(), store)
    let (lists, former) = (lists(store), store.items)
    for (key, item) in changed where base[key] != item { store.items[key] = item }
    for key in deleted { store.items[key] = nil }
    for (link, isThere) in links {
      if isThere { store.links.insert(link) } else { store.links.remove(link) }
    }
    store.dropDangling()
    store.orders = lists
    let keys = Set(store.items.keys).union(former.keys).filter { store.items[$0] != former[$0] }
    let rank = ["Person": 0, "Team": 1, "Skill": 2]
    store.commits.append(
      keys.sorted { one, other in
        let entities = [one, other].map { (former[$0] ?? store.items[$0])?.entity ?? "" }
        return (rank[entities[0]] ?? 3, one) < (rank[entities[1]] ?? 3, other)
      })
    rollback()
    seen = store.commits.count
  }

  mutating func rollback() {
    let seen = seen
    self = PlainContext()
    self.seen = seen
  }
}

extension PlainContext.Group {
  /// Whether there is nothing to undo.
  var hasNoEffect: Bool { allSatisfy(\.isEmpty) }
}
