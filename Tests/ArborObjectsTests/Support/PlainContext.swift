import ArborModel

/// A naive store that several naive contexts share: objects as dictionaries, links as pairs.
struct PlainStore: Equatable {
  /// Attributes by name, and the key of the team under "team".
  struct Item: Equatable {
    var entity: String
    var values: [String: Int] = [:]
  }

  struct Link: Hashable {
    let person: Int
    let skill: Int
  }

  var items: [Int: Item] = [:]
  var links: Set<Link> = []
  /// Whether the members of all relationships have an order.
  var isOrdered = false
  /// The members in their order, where they have one.
  var orders: [PlainList: [Int]] = [:]

  static let attributes = ["a", "b", "c"]

  static func model(isOrdered: Bool = false) throws -> ManagedObjectModel {
    func entity(_ name: String, _ relationships: [RelationshipDescription]) -> EntityDescription {
      EntityDescription(
        name: name,
        attributes: attributes.map {
          AttributeDescription(name: $0, type: .integer32, isOptional: true, isIndexed: $0 == "a")
        }, relationships: relationships)
    }
    return try ManagedObjectModel(entities: [
      entity(
        "Person",
        [
          RelationshipDescription(name: "team", destination: "Team", inverse: "members"),
          RelationshipDescription(
            name: "skills", destination: "Skill", inverse: "holders", isToMany: true,
            isOrdered: isOrdered),
        ]),
      entity(
        "Team",
        [
          RelationshipDescription(
            name: "members", destination: "Person", inverse: "team", isToMany: true,
            isOrdered: isOrdered)
        ]),
      entity(
        "Skill",
        [
          RelationshipDescription(
            name: "holders", destination: "Person", inverse: "skills", isToMany: true,
            isOrdered: isOrdered)
        ]),
    ]).validated()
  }

  /// Takes out what leads to objects that are not there.
  mutating func dropDangling() {
    for (key, item) in items {
      if let team = item.values["team"], items[team] == nil { items[key]?.values["team"] = nil }
    }
    links = links.filter { items[$0.person] != nil && items[$0.skill] != nil }
  }
}

/// A naive context: what it changed, on top of a naive store whose every commit it sees at once.
///
/// A property that it changed keeps its value when others commit another; the rest follows the
/// store. An object that it changed lives on when others delete it, until what was changed has been
/// taken back. Of a link the context's last word holds, as long as both ends are there. What leads
/// to something that is deleted leads nowhere, and is there again when the deletion is undone.
struct PlainContext {
  typealias Item = PlainStore.Item
  typealias Link = PlainStore.Link

  private static let names = PlainStore.attributes + ["team"]

  /// What a group of operations changed.
  struct Difference {
    var before: [Int: Item] = [:]
    var after: [Int: Item] = [:]
    var linksBefore: Set<Link> = []
    var linksAfter: Set<Link> = []
    /// What was written to, also without net change.
    var objects: Set<Int> = []
    var links: Set<Link> = []
    /// Of the lists that somebody has left, or in which members were moved.
    var moves: [PlainList: PlainMove] = [:]
    /// The lists of which somebody was taken, or whose members were given a sequence.
    var lists: Set<PlainList> = []

    var isEmpty: Bool {
      before == after && linksBefore == linksAfter && !moves.contains { $0.value.isMoved }
    }

    /// - Parameter pieces: The changes that it consists of.
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
      }
    }
  }

  /// What a group of operations changed, in parts: between them were concurrent commits.
  typealias Group = [Difference]

  /// What the context sees.
  struct View {
    let items: [Int: Item]
    let links: Set<Link>
    let lists: [PlainList: [Int]]
  }

  /// The state of every inserted or updated object.
  private var changed: [Int: Item] = [:]
  /// What the store had of the updated ones when it was last looked at.
  private var base: [Int: Item] = [:]
  private var deleted: Set<Int> = []
  /// What the deleted ones were in the store when they were deleted.
  private var deletedBase: [Int: Item] = [:]
  /// Updated objects that others have deleted.
  private var survivors: Set<Int> = []
  private var links: [Link: Bool] = [:]
  var orders: [PlainList: PlainOrder] = [:]
  /// The lists of which somebody was taken, or whose members were given a sequence, since somebody
  /// asked for it.
  var touched: Set<PlainList> = []

  /// Whether an object is not in the store, for all that the context knows.
  func isInserted(_ key: Int) -> Bool { changed[key] != nil && base[key] == nil }

  mutating func takeTouched() -> Set<PlainList> {
    defer { touched = [] }
    return touched
  }

  // MARK: Looking

  /// Takes in concurrent commits.
  mutating func sync(_ store: PlainStore) {
    for (key, known) in base {
      guard let mine = changed[key] else { continue }
      guard let present = store.items[key] else {
        if mine == known, !survivors.contains(key) { forget(key) } else { survivors.insert(key) }
        continue
      }
      var merged = present
      for name in Self.names where mine.values[name] != known.values[name] {
        merged.values[name] = mine.values[name]
      }
      changed[key] = merged
      base[key] = present
      survivors.remove(key)
    }
    // Others have brought back what this context has brought back too.
    for key in changed.keys where base[key] == nil { base[key] = store.items[key] }
    dropLost(store)
  }

  private mutating func forget(_ key: Int) {
    changed[key] = nil
    base[key] = nil
    survivors.remove(key)
  }

  /// What others have deleted is linked to nothing, and has no members to put in a sequence.
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

  /// Whether the context's word on a link is that it is none.
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
    if let team = items(store)[key]?.values["team"] {
      touched.insert(PlainList(owner: team, name: "members"))
    }
    if isInserted(key) { for list in orders.keys where list.owner == key { orders[list] = nil } }
    if changed[key] == nil || base[key] != nil {
      deletedBase[key] = base[key] ?? store.items[key]
      deleted.insert(key)
    }
    forget(key)
  }

  // MARK: Undoing

  /// Takes a group back: first what it deleted comes again, last what it inserted goes.
  mutating func undo(_ group: Group, _ store: PlainStore) {
    var revived: [Int] = []
    for part in group {
      let lost = part.before.keys.filter { part.after[$0] == nil && items(store)[$0] == nil }
      for key in lost { revive(key, part.before[key], store) }
      revived += lost
    }
    for part in group.reversed() {
      for (key, before) in part.before {
        guard let after = part.after[key], items(store)[key] != nil else { continue }
        for name in Self.names where before.values[name] != after.values[name] {
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
    }
    for part in group {
      for key in part.after.keys where part.before[key] == nil && items(store)[key] != nil {
        delete(key, store)
      }
    }
  }

  private mutating func revive(_ key: Int, _ item: Item?, _ store: PlainStore) {
    if deleted.contains(key) { keepSequences(with: key, store) }
    changed[key] = item
    base[key] = store.items[key]
    // What others have changed since the deletion stays.
    if deleted.remove(key) != nil, let item, let known = deletedBase[key],
      var merged = store.items[key]
    {
      for name in Self.names where item.values[name] != known.values[name] {
        merged.values[name] = item.values[name]
      }
      changed[key] = merged
    }
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

  /// Drops changes of some objects and links that have no net effect.
  mutating func settle(_ group: Group, _ store: PlainStore) {
    for part in group {
      for key in part.objects where base[key] != nil && changed[key] == base[key] { forget(key) }
      for link in part.links where links[link] == store.links.contains(link) {
        links[link] = nil
      }
      for list in part.lists { settle(list, store) }
    }
    dropLost(store)
  }

  // MARK: Committing

  mutating func commit(to store: inout PlainStore) {
    let lists = lists(store)
    for (key, item) in changed where base[key] != item { store.items[key] = item }
    for key in deleted { store.items[key] = nil }
    for (link, isThere) in links {
      if isThere { store.links.insert(link) } else { store.links.remove(link) }
    }
    store.dropDangling()
    store.orders = lists
    rollback()
  }

  mutating func rollback() { self = PlainContext() }
}

extension PlainContext.Group {
  /// Whether there is nothing to take back.
  var hasNoEffect: Bool { allSatisfy(\.isEmpty) }
}
