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

  static let attributes = ["a", "b", "c"]

  static func model() throws -> ManagedObjectModel {
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
            name: "skills", destination: "Skill", inverse: "holders", isToMany: true),
        ]),
      entity(
        "Team",
        [
          RelationshipDescription(
            name: "members", destination: "Person", inverse: "team", isToMany: true)
        ]),
      entity(
        "Skill",
        [
          RelationshipDescription(
            name: "holders", destination: "Person", inverse: "skills", isToMany: true)
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
/// store. An object that it changed lives on when others delete it.
struct PlainContext {
  typealias Item = PlainStore.Item
  typealias Link = PlainStore.Link

  private static let names = PlainStore.attributes + ["team"]

  /// What one operation changed.
  struct Difference {
    var before: [Int: Item] = [:]
    var after: [Int: Item] = [:]
    var linksBefore: Set<Link> = []
    var linksAfter: Set<Link> = []
    /// Objects that were written to without effect.
    var touched: Set<Int> = []

    var isEmpty: Bool { before == after && linksBefore == linksAfter }
  }

  /// The state of every inserted or updated object.
  private var changed: [Int: Item] = [:]
  /// What the store had of the updated ones when it was last looked at.
  private var base: [Int: Item] = [:]
  private var deleted: Set<Int> = []
  /// What the deleted ones were in the store when they were deleted.
  private var deletedBase: [Int: Item] = [:]
  private var links: [Link: Bool] = [:]

  // MARK: Looking

  /// Takes in what others have committed. Links to what they deleted are dropped.
  mutating func sync(_ store: PlainStore) {
    for (key, known) in base {
      guard let present = store.items[key], let mine = changed[key] else { continue }
      var merged = present
      // Others have linked it to what is deleted here.
      if let team = merged.values["team"], deleted.contains(team) { merged.values["team"] = nil }
      for name in Self.names where mine.values[name] != known.values[name] {
        merged.values[name] = mine.values[name]
      }
      changed[key] = merged
      base[key] = present
    }
    // Others have brought back what this context has brought back too.
    for key in changed.keys where base[key] == nil { base[key] = store.items[key] }
    let items = items(store)
    for (link, isThere) in links where isThere {
      let ends = [link.person, link.skill]
      if ends.contains(where: { items[$0] == nil && !deleted.contains($0) }) { links[link] = nil }
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

  /// What `body` changes.
  mutating func difference(
    _ store: PlainStore, _ body: (inout PlainContext) -> Void
  ) -> Difference {
    var difference = Difference()
    (difference.before, difference.linksBefore) = (items(store), links(store))
    body(&self)
    (difference.after, difference.linksAfter) = (items(store), links(store))
    for (key, item) in difference.before where difference.after[key] == item {
      difference.before[key] = nil
      difference.after[key] = nil
    }
    let same = difference.linksBefore.intersection(difference.linksAfter)
    difference.linksBefore.subtract(same)
    difference.linksAfter.subtract(same)
    return difference
  }

  // MARK: Changing

  mutating func insert(_ key: Int, _ entity: String) { changed[key] = Item(entity: entity) }

  mutating func set(_ key: Int, _ name: String, _ value: Int?, _ store: PlainStore) {
    guard var item = items(store)[key] else { return }
    item.values[name] = value
    write(key, item, store)
  }

  private mutating func write(_ key: Int, _ item: Item, _ store: PlainStore) {
    if changed[key] == nil { base[key] = store.items[key] }
    changed[key] = item
  }

  mutating func setLink(_ link: Link, _ isThere: Bool, _ store: PlainStore) {
    let isNew = [link.person, link.skill].contains { changed[$0] != nil && base[$0] == nil }
    links[link] = isNew && !isThere ? nil : isThere
  }

  mutating func delete(_ key: Int, _ store: PlainStore) {
    for (member, item) in items(store) where item.values["team"] == key {
      set(member, "team", nil, store)
    }
    for link in links(store) where link.person == key || link.skill == key {
      setLink(link, false, store)
    }
    if changed[key] != nil, base[key] == nil {
      changed[key] = nil
    } else {
      deletedBase[key] = base[key] ?? store.items[key]
      changed[key] = nil
      base[key] = nil
      deleted.insert(key)
    }
  }

  // MARK: Undoing

  /// The differences of a group, where an object that goes takes with it what the group did to it
  /// before.
  private static func folded(_ group: [Difference]) -> [Difference] {
    var group = group
    for (place, difference) in group.enumerated() {
      for key in difference.before.keys where difference.after[key] == nil {
        let earlier = group[..<place].indices.filter {
          group[$0].before[key] != nil || group[$0].after[key] != nil
        }
        guard let first = earlier.first else { continue }
        group[place].before[key] = group[first].before[key]
        for index in earlier {
          group[index].before[key] = nil
          group[index].after[key] = nil
        }
      }
    }
    return group
  }

  /// Takes a group back: first what it deleted comes again, last what it inserted goes.
  mutating func undo(_ group: [Difference], _ store: PlainStore) {
    let group = Self.folded(group).reversed()
    for difference in group { revive(difference, store) }
    for difference in group {
      restoreValues(difference, store)
      restoreLinks(difference, store)
    }
    for difference in group {
      for key in difference.before.keys where difference.after[key] == nil {
        if let team = items(store)[key]?.values["team"], items(store)[team] == nil {
          set(key, "team", nil, store)
        }
      }
    }
    for difference in group {
      for key in difference.after.keys where difference.before[key] == nil {
        if items(store)[key] != nil { delete(key, store) }
      }
    }
  }

  private mutating func revive(_ difference: Difference, _ store: PlainStore) {
    for (key, item) in difference.before where difference.after[key] == nil {
      guard items(store)[key] == nil else { continue }
      changed[key] = item
      base[key] = store.items[key]
      // What others have changed since the deletion stays.
      if deleted.remove(key) != nil, let known = deletedBase[key], var merged = store.items[key] {
        for name in Self.names where item.values[name] != known.values[name] {
          merged.values[name] = item.values[name]
        }
        changed[key] = merged
      }
    }
  }

  private mutating func restoreValues(_ difference: Difference, _ store: PlainStore) {
    for (key, before) in difference.before {
      guard let after = difference.after[key], items(store)[key] != nil else { continue }
      for name in Self.names where before.values[name] != after.values[name] {
        let isGone = name == "team" && before.values[name].map { items(store)[$0] == nil } ?? false
        set(key, name, isGone ? nil : before.values[name], store)
      }
    }
  }

  private mutating func restoreLinks(_ difference: Difference, _ store: PlainStore) {
    let links = links(store)
    for link in difference.linksBefore.symmetricDifference(difference.linksAfter) {
      let isThere = difference.linksBefore.contains(link)
      let items = items(store)
      guard items[link.person] != nil, items[link.skill] != nil, links.contains(link) != isThere
      else { continue }
      setLink(link, isThere, store)
    }
  }

  /// Drops changes of some objects and links that came to nothing.
  mutating func settle(_ keys: Set<Int>, _ touched: Set<Link>, _ store: PlainStore) {
    for key in keys where base[key] != nil && changed[key] == base[key] {
      changed[key] = nil
      base[key] = nil
    }
    for link in touched where links[link] == store.links.contains(link) { links[link] = nil }
  }

  // MARK: Committing

  mutating func commit(to store: inout PlainStore) {
    var result = store
    for (key, item) in changed {
      // New links of an object that others have deleted ask for the object.
      let isLinked = links.contains { $1 && ($0.person == key || $0.skill == key) }
      if base[key] != item || isLinked && result.items[key] == nil { result.items[key] = item }
    }
    for key in deleted { result.items[key] = nil }
    for (link, isThere) in links {
      if isThere { result.links.insert(link) } else { result.links.remove(link) }
    }
    result.dropDangling()
    store = result
    rollback()
  }

  mutating func rollback() {
    changed = [:]
    base = [:]
    deleted = []
    links = [:]
  }
}
