/// One-to-one relationships of naive contexts: a person's desk in a team, whose clerk is that
/// person. Both ends are stored as values, and the rules here keep them consistent.
enum PlainPairs {
  /// The names of the inverses.
  static let inverses = ["desk": "clerk", "clerk": "desk"]

  /// Returns the name of an entity's end, or `nil` if it has none.
  static func name(of entity: String) -> String? {
    ["Person": "desk", "Team": "clerk"][entity]
  }

  /// A merged object whose pair has to be repaired, and its former partners.
  struct Mending {
    let key: Int
    let former: Set<Int>
  }

  /// The side that decides if both ends disagree.
  enum Side {
    /// The context's change.
    case own
    /// The object that has another partner by now.
    case others
  }
}

extension PlainContext {
  private func name(of key: Int, _ store: PlainStore) -> String? {
    items(store)[key].flatMap { PlainPairs.name(of: $0.entity) }
  }

  private func partner(of key: Int, _ store: PlainStore) -> Int? {
    let item = items(store)[key]
    return item.flatMap { PlainPairs.name(of: $0.entity) }.flatMap { item?.values[$0] }
  }

  /// Sets or removes the partner of an object and updates both ends.
  mutating func pair(_ key: Int, with target: Int?, _ store: PlainStore) {
    let former = partner(of: key, store)
    guard former != target else { return }
    point(key, at: target, store)
    if let former { leave(key, at: former, store) }
    if let target { arrive(key, at: target, store) }
  }

  /// Sets one end only.
  private mutating func point(_ key: Int, at target: Int?, _ store: PlainStore) {
    guard let name = name(of: key, store) else { return }
    set(key, name, target, store)
  }

  /// Removes the reference of a former partner.
  mutating func leave(_ key: Int, at owner: Int, _ store: PlainStore) {
    if partner(of: owner, store) == key { point(owner, at: nil, store) }
  }

  /// Sets the reference of a new partner, whose former partner loses its own.
  private mutating func arrive(_ key: Int, at owner: Int, _ store: PlainStore) {
    let former = partner(of: owner, store)
    point(owner, at: key, store)
    if let former, former != key { leave(owner, at: former, store) }
  }

  /// Returns the repair of an object that is about to be merged.
  func mending(_ key: Int, _ items: [Item?]) -> PlainPairs.Mending {
    let targets = items.compactMap { item in
      item.flatMap { PlainPairs.name(of: $0.entity) }.flatMap { item?.values[$0] }
    }
    return PlainPairs.Mending(key: key, former: Set(targets))
  }

  /// Makes both ends consistent after a merge, in which the merged object decides.
  mutating func mend(
    _ mendings: [PlainPairs.Mending], _ store: PlainStore, _ side: PlainPairs.Side = .own
  ) {
    for mending in mendings {
      let key = mending.key
      guard items(store)[key] != nil else { continue }
      let target = partner(of: key, store)
      let former = mending.former.union(stored(key).map { [$0] } ?? [])
      for other in former.sorted() where other != target { leave(key, at: other, store) }
      if let target, items(store)[target] != nil { join(key, target, side, store) }
    }
  }

  private mutating func join(
    _ key: Int, _ target: Int, _ side: PlainPairs.Side, _ store: PlainStore
  ) {
    let partner = partner(of: target, store)
    guard partner != key else { return }
    let (isOwn, isTargets) = (isRepaired(key, store), isRepaired(target, store))
    let stays = side == .own ? isOwn || !isTargets : partner == nil
    if stays, !(isOwn && isTargets) || partner == nil {
      arrive(key, at: target, store)
    } else {
      pair(key, with: nil, store)
    }
  }

  /// Whether the partner of an object is a change of the context.
  private func isRepaired(_ key: Int, _ store: PlainStore) -> Bool {
    isChanged(key) && stored(key) != partner(of: key, store)
  }

  /// Makes both ends consistent after an object was revived.
  mutating func mendRevived(_ key: Int, _ store: PlainStore) {
    guard let target = partner(of: key, store) else { return }
    if items(store)[target] == nil {
      pair(key, with: nil, store)
    } else if partner(of: target, store) != key {
      pair(target, with: key, store)
    }
  }

  /// Repairs pairs before a commit: objects that survived a deletion keep partners that have no
  /// other one, and references to missing objects are removed.
  mutating func mendForCommit(_ survivors: [Int], _ store: PlainStore) {
    mend(survivors.map { mending($0, []) }, store, .others)
    for key in items(store).keys.sorted() where isChanged(key) {
      if let target = partner(of: key, store), items(store)[target] == nil {
        pair(key, with: nil, store)
      }
    }
  }
}
