/// One-to-one relationships of naive contexts: a person's desk in a team, whose clerk it is. Each
/// end is a value of its item; both are kept in agreement by the rules here.
enum PlainPairs {
  /// The name of the other end.
  static let inverses = ["desk": "clerk", "clerk": "desk"]

  /// The end that an entity has; nil for none.
  static func name(of entity: String) -> String? {
    ["Person": "desk", "Team": "clerk"][entity]
  }

  /// An object whose values have been put together from what two contexts made of it, and what it
  /// led to before.
  struct Mending {
    let key: Int
    let former: Set<Int>
  }

  /// Whose word counts where both ends say something else.
  enum Side {
    /// The context's.
    case own
    /// That of the object that has another partner by now.
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

  /// Points an object at another one, or at none; both ends agree afterwards.
  mutating func pair(_ key: Int, with target: Int?, _ store: PlainStore) {
    let former = partner(of: key, store)
    guard former != target else { return }
    point(key, at: target, store)
    if let former { leave(key, at: former, store) }
    if let target { arrive(key, at: target, store) }
  }

  /// Sets one end alone.
  private mutating func point(_ key: Int, at target: Int?, _ store: PlainStore) {
    guard let name = name(of: key, store) else { return }
    set(key, name, target, store)
  }

  /// Tells a former partner that it is none any more.
  mutating func leave(_ key: Int, at owner: Int, _ store: PlainStore) {
    if partner(of: owner, store) == key { point(owner, at: nil, store) }
  }

  /// Tells a new partner, whose former one lets it go.
  private mutating func arrive(_ key: Int, at owner: Int, _ store: PlainStore) {
    let former = partner(of: owner, store)
    point(owner, at: key, store)
    if let former, former != key { leave(owner, at: former, store) }
  }

  /// What is to be mended of an object that is about to be merged.
  func mending(_ key: Int, _ items: [Item?]) -> PlainPairs.Mending {
    let targets = items.compactMap { item in
      item.flatMap { PlainPairs.name(of: $0.entity) }.flatMap { item?.values[$0] }
    }
    return PlainPairs.Mending(key: key, former: Set(targets))
  }

  /// Makes both ends agree after a merge: the object that was merged decides.
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

  /// Whether what an object leads to is a change of the context.
  private func isRepaired(_ key: Int, _ store: PlainStore) -> Bool {
    isChanged(key) && stored(key) != partner(of: key, store)
  }

  /// Makes both ends agree on what an object that came back leads to.
  mutating func mendRevived(_ key: Int, _ store: PlainStore) {
    guard let target = partner(of: key, store) else { return }
    if items(store)[target] == nil {
      pair(key, with: nil, store)
    } else if partner(of: target, store) != key {
      pair(target, with: key, store)
    }
  }

  /// What a commit decides: who lives on although others have deleted it keeps a partner that has
  /// found no other, and nothing leads to what is gone.
  mutating func mendForCommit(_ survivors: [Int], _ store: PlainStore) {
    mend(survivors.map { mending($0, []) }, store, .others)
    for key in items(store).keys.sorted() where isChanged(key) {
      if let target = partner(of: key, store), items(store)[target] == nil {
        pair(key, with: nil, store)
      }
    }
  }
}
