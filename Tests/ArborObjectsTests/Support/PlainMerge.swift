import ArborModel
import Foundation

/// The table and rules of the article *Merging*, applied to dictionaries.
enum PlainMerge {
  /// The values of one object.
  struct Item: Equatable {
    var entity: String
    /// Increases with each commit that changes the object. Not part of its values.
    var version = 0
    var values: [String: PropertyValue] = [:]
    var parent: Int?

    /// The value of an attribute. Only values other than null are in ``values``, so that equal objects
    /// have equal dictionaries.
    subscript(name: String) -> PropertyValue {
      get { values[name] ?? .null }
      set {
        if newValue.isNull { values.removeValue(forKey: name) } else { values[name] = newValue }
      }
    }

    /// Whether another state has the same values.
    func agrees(with other: Item) -> Bool { values == other.values && parent == other.parent }
  }

  struct Link: Hashable { let card: Int, tag: Int }

  /// All objects and links of a store, or as one context sees them. Seats are left out.
  struct State: Equatable {
    var items: [Int: Item] = [:]
    var tags: Set<Link> = []
    var pages: [Int: [Int]] = [:]

    /// Whether another state has the same objects, values and links.
    func agrees(with other: State) -> Bool {
      items.count == other.items.count && tags == other.tags && pages == other.pages
        && items.allSatisfy { key, item in other.items[key].map(item.agrees) ?? false }
    }

    /// Deletes an object and the links to it.
    mutating func delete(_ key: Int) {
      items[key] = nil
      for (kid, item) in items where item.parent == key { items[kid]?.parent = nil }
      tags = tags.filter { $0.card != key && $0.tag != key }
      pages[key] = nil
      for album in pages.keys { pages[album]?.removeAll { $0 == key } }
    }

    mutating func dropLinksToMissing(except hidden: Set<Int> = []) {
      func isThere(_ key: Int) -> Bool { items[key] != nil || hidden.contains(key) }
      for (key, item) in items {
        if let parent = item.parent, !isThere(parent) { items[key]?.parent = nil }
      }
      tags = tags.filter { isThere($0.card) && isThere($0.tag) }
      for album in pages.keys {
        pages[album]?.removeAll { !isThere($0) }
        if !isThere(album) { pages[album] = nil }
      }
    }

    /// Returns whether links to an object were added since an earlier state.
    ///
    /// - Parameter gone: The objects whose links don't count, because they are deleted, too.
    func hasNewLinks(to key: Int, since base: State, ignoring gone: Set<Int> = []) -> Bool {
      items.contains {
        $0.value.parent == key && base.items[$0.key]?.parent != key && !gone.contains($0.key)
      }
        || tags.contains {
          ($0.card == key && !gone.contains($0.tag) || $0.tag == key && !gone.contains($0.card))
            && !base.tags.contains($0)
        }
        || pages.contains { album, pages in
          pages.contains {
            ($0 == key && !gone.contains(album) || album == key && !gone.contains($0))
              && base.pages[album]?.contains($0) != true
          }
        }
    }
  }

  typealias Side = TestedPolicy.Side

  /// A large value that the store has removed and the context may no longer have.
  struct Lost: Hashable { let key: Int, name: String }

  /// The result of a merge.
  struct Result {
    var state: State
    /// Objects that both sides changed.
    var contested: Set<Int> = []
    /// Albums whose order both sides changed.
    var orders: Set<Int> = []
    /// Objects deleted by the context and changed by the store, whose deletion is still pending.
    var hidden: Set<Int> = []
    /// Whether the result requires a value that may be lost.
    var needsLost = false
    /// The other values that attributes may have, because the value is lost.
    var alternatives: [Lost: PropertyValue] = [:]
  }

  /// Merges a context's state with the store's.
  ///
  /// - Parameters:
  ///   - base: The state that the context started from.
  ///   - dropsFirst: Whether links to deleted objects are dropped before conflicts are resolved.
  ///   - seen: The newest values of contested objects that the context has seen.
  ///   - isFinal: Whether pending deletions of changed objects and new links to deleted objects are
  ///     resolved, too.
  static func merge(
    base: State, mine: State, theirs: State, _ side: (Int) -> Side, lost: Set<Lost> = [],
    seen: [Int: Item] = [:], dropsFirst: Bool = false, isFinal: Bool = true
  ) -> Result {
    var result = Result(state: theirs)
    let gone = Set(base.items.keys).subtracting(mine.items.keys)
    func isDeletedAndChanged(_ key: Int, ignoring others: Set<Int>) -> Bool {
      guard let other = theirs.items[key] else { return false }
      return other.version != base.items[key]?.version
        || theirs.hasNewLinks(to: key, since: base, ignoring: others)
    }
    /// Objects deleted by the context and kept by the policy. New links to them count as changes of
    /// other deleted objects.
    var kept: Set<Int> = []
    /// The parents of objects that the context hasn't deleted. A policy may have restored them.
    let parents = Set(
      mine.items.keys.compactMap { key -> Int? in
        guard let before = base.items[key], let own = mine.items[key], let other = theirs.items[key]
        else { return nil }
        if own.agrees(with: before) { return other.parent }
        if other.version == before.version { return own.parent }
        return merge(before, own, other, side(key)).parent
      })
    while isFinal {
      let more = gone.subtracting(kept).filter {
        guard [.storeWins, .rollback].contains(side($0)), theirs.items[$0] != nil else {
          return false
        }
        return parents.contains($0)
          || isDeletedAndChanged($0, ignoring: gone.subtracting(kept))
      }
      if more.isEmpty { break }
      kept.formUnion(more)
    }
    for key in Set(base.items.keys).union(mine.items.keys) {
      var (before, own) = (base.items[key], mine.items[key])
      let other = theirs.items[key]
      if dropsFirst, let parent = own?.parent, parent != before?.parent,
        theirs.items[parent] == nil,
        mine.items[parent].map({ base.items[parent]?.agrees(with: $0) ?? false }) ?? true
      {
        own?.parent = nil
        // Dropping a link is a change if the store has another one.
        if let parent = before?.parent ?? other?.parent { before?.parent = -parent }
      }
      guard let before else {
        guard own != nil, other != nil else {
          result.state.items[key] = own ?? other
          continue
        }
        // Both have restored the object, so one of them wins as a whole.
        result.contested.insert(key)
        if [.objectWins, .overwrite].contains(side(key)) { result.state.items[key] = own }
        continue
      }
      switch (own, other) {
      case (nil, nil): break
      case (nil, .some):
        if kept.contains(key) || isDeletedAndChanged(key, ignoring: gone.subtracting(kept)) {
          result.contested.insert(key)
        }
        if !isFinal { result.hidden.insert(key) }
        if !kept.contains(key) { result.state.items[key] = nil }
      case (.some(let own), nil):
        guard !own.agrees(with: before) else { break }
        result.contested.insert(key)
        guard [.objectWins, .overwrite].contains(side(key)) else { break }
        result.state.items[key] = seen[key].map { merge(before, own, $0, side(key)) } ?? own
        if lost.contains(where: {
          $0.key == key && own[$0.name] == before[$0.name]
        }) {
          result.needsLost = true
        }
      case (.some(let own), .some(let other)):
        guard !own.agrees(with: before) else { break }
        guard other.version != before.version else {
          result.state.items[key] = own
          result.state.items[key]?.version = other.version
          break
        }
        result.contested.insert(key)
        let merged = merge(before, own, other, side(key))
        for value in lost where value.key == key && merged[value.name] == before[value.name] {
          result.alternatives[value] = other[value.name]
        }
        result.state.items[key] = merged
      }
    }
    func isOwn(_ one: Int, _ other: Int) -> Bool { !kept.contains(one) && !kept.contains(other) }
    result.state.tags.formUnion(
      mine.tags.subtracting(base.tags).filter { isOwn($0.card, $0.tag) })
    result.state.tags.subtract(
      base.tags.subtracting(mine.tags).filter { isOwn($0.card, $0.tag) })
    for album in Set(base.pages.keys).union(mine.pages.keys) where !kept.contains(album) {
      let before = base.pages[album] ?? []
      let own = mine.pages[album] ?? []
      var pages = theirs.pages[album] ?? []
      let isSame = theirs.items[album]?.version == base.items[album]?.version
      if own == before || pages == before && isSame && kept.isEmpty {
        // Only one side has changed the list or its owner.
        result.state.pages[album] = pages == before ? own : pages
        continue
      }
      let (added, removed) = (Set(own).subtracting(before), Set(before).subtracting(own))
      let moved = isMoved(own, before), otherMoved = isMoved(pages, before)
      let isContested =
        moved && otherMoved
        || moved && base.items[album] != nil
          && theirs.items[album]?.version != base.items[album]?.version
      if !isSame, moved || !added.isEmpty {
        result.orders.insert(album)
      }
      pages.removeAll { removed.contains($0) && isOwn($0, album) }
      pages += own.filter { added.contains($0) && !pages.contains($0) && isOwn($0, album) }
      var usesOwn = moved
      if isContested {
        switch side(album) {
        case .objectWins, .overwrite: break
        case .storeWins: if otherMoved { usesOwn = false }
        case .rollback: usesOwn = false
        }
      }
      if usesOwn {
        let shared = pages.filter(own.contains)
        var order = own.filter(shared.contains).makeIterator()
        pages = pages.map { own.contains($0) ? order.next() ?? $0 : $0 }
      }
      result.state.pages[album] = pages
    }
    result.state.dropLinksToMissing(except: result.hidden)
    return result
  }

  /// Whether members that two lists share have different orders.
  static func isMoved(_ list: [Int], _ former: [Int]) -> Bool {
    list.filter(former.contains) != former.filter(list.contains)
  }

  /// The table, for one object that both sides changed.
  static func merge(_ before: Item, _ own: Item, _ other: Item, _ side: Side) -> Item {
    func choose<T: Equatable>(_ before: T, _ own: T, _ other: T) -> T {
      switch side {
      case .objectWins: own == before ? other : own
      case .storeWins: own == before || other != before ? other : own
      case .overwrite: own
      case .rollback: other
      }
    }
    var item = other
    for name in Set(before.values.keys).union(own.values.keys).union(other.values.keys) {
      item[name] = choose(before[name], own[name], other[name])
    }
    item.parent = choose(before.parent, own.parent, other.parent)
    return item
  }
}
