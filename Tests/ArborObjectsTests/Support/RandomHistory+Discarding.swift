import ArborModel
import ArborObjects
import TestSupport

/// Rollbacks of single objects, compared with the naive graph.
extension RandomHistory {
  /// - Parameter losesLink: Whether a link is removed that the graph contains, which the comparison
  ///   must find.
  mutating func runDiscarding(steps: Int, losesLink: Bool = false) throws {
    for step in 0..<steps {
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        try asGroup { history throws in try history.edit() }
      }
      if step % 5 == 0 { try commit() }
      try asGroup { history throws in try history.discard() }
      try compare(context)
      switch Int.random(in: 0..<8, using: &random) {
      case 0..<3: undo()
      case 3: redo()
      default: break
      }
      try compare(context)
      try compareGroups()
    }
    if losesLink {
      try link()
      try commit()
      try link()
      try compare(context)
    }
    // Rolling back every object leaves the committed graph, apart from orders of members.
    try asGroup { history throws in
      for key in history.ids.keys.sorted() { try history.discard(key) }
      for key in history.committed.items.keys.sorted() { try history.discard(key) }
    }
    world = committed
    try adoptOrders()
    try compare(context)
    undo()
    try compare(context)
    try commit()
    try compare(store.makeContext())
  }

  /// Adds a friend whom the graph doesn't know.
  private mutating func link() throws {
    let (one, other) = (try context.insert("Person"), try context.insert("Person"))
    for person in [one, other] {
      ids[nextKey] = person.objectID
      world.items[nextKey] = PlainWorld.Item(entity: "Person")
      nextKey += 1
    }
    try one.objects(forKey: "friends").insert(other)
  }

  private mutating func discard() throws {
    guard let key = ids.keys.sorted().randomElement(using: &random) else { return }
    try discard(key)
  }

  /// Rolls back an object.
  private mutating func discard(_ key: Int) throws {
    guard let id = ids[key], let object = context.registeredObject(for: id), object.hasChanges
    else { return }
    log.append("roll back \(key)")
    let wasDeleted = world.items[key] == nil
    context.rollback(object)
    guard let item = committed.items[key] else {
      world.remove(key)
      return
    }
    if wasDeleted { world.items[key] = PlainWorld.Item(entity: item.entity) }
    world.items[key]?.values = item.values
    world.restoreLinks(of: key, from: committed, includesHidden: wasDeleted)
    try adoptOrders()
  }

  /// Takes over the orders of members, which a rollback restores only for the object itself.
  private mutating func adoptOrders() throws {
    let keys = Dictionary(uniqueKeysWithValues: ids.map { ($1, $0) })
    for (key, item) in world.items {
      for relationship in PlainWorld.relationships(of: item.entity) where relationship.isOrdered {
        let members = try members(object(key, context), relationship).compactMap { keys[$0] }
        if Set(members) == Set(item.links[relationship.name] ?? []) {
          world.items[key]?.links[relationship.name] = members
        }
      }
    }
  }
}
