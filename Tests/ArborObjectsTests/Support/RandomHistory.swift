import ArborModel
import ArborObjects
import TestSupport

/// A difference between a context and the naive graph.
struct Mismatch: Error, CustomStringConvertible {
  let description: String
}

/// A random history, whose changes are applied to a context and to a naive graph.
struct RandomHistory {
  let store: PersistentStore
  var context: ManagedObjectContext
  var random: SeededRandom
  var world = PlainWorld()
  var committed = PlainWorld()
  var ids: [Int: ObjectID] = [:]
  var nextKey = 1
  var log: [String] = []
  /// The graphs before each group that can be undone. ``redoWorlds`` has those to redo.
  var undoWorlds: [PlainWorld] = []
  var redoWorlds: [PlainWorld] = []
  var committedUndoWorlds: [PlainWorld] = []

  init(_ store: PersistentStore, seed: UInt64) {
    self.store = store
    context = store.makeContext()
    context.undoHistory = UndoHistory()
    random = SeededRandom(seed: seed)
  }

  mutating func run(steps: Int) throws {
    do {
      for _ in 0..<steps {
        try step()
        try compare(context)
        try compareGroups()
      }
      try commit()
      try compare(store.makeContext())
      try undoAndRedoEverything()
    } catch let error as ArborError {
      throw difference(error.message)
    }
  }

  mutating func step() throws {
    switch Int.random(in: 0..<28, using: &random) {
    case 0..<18: try asGroup { history throws in try history.edit() }
    case 18: try interrupt()
    case 19..<21: try commit()
    case 21: rollback()
    case 22:
      try commit()
      context = store.makeContext()
      context.undoHistory = UndoHistory()
      forgetGroups()
      log.append("new context")
    case 23:
      context.reset()
      world = committed
      forgetGroups()
      log.append("reset")
    case 24: try group()
    case 25..<27: undo()
    default: redo()
    }
  }

  mutating func edit() throws {
    switch Int.random(in: 0..<18, using: &random) {
    case 0..<5: try insert()
    case 5..<8: try change()
    case 8..<16: try relate()
    default: try delete()
    }
  }

  mutating func commit() throws {
    log.append("commit")
    try context.commit()
    committed = world
    committedUndoWorlds = undoWorlds
  }

  mutating func rollback() {
    log.append("rollback")
    context.rollback()
    world = committed
    undoWorlds = committedUndoWorlds
    redoWorlds = []
  }

  func object(_ key: Int, _ context: ManagedObjectContext) throws -> ManagedObject {
    guard let id = ids[key] else { throw Mismatch(description: "no ID of \(key)") }
    return try context.object(with: id)
  }

  mutating func someKey(_ entity: String? = nil) -> Int? {
    world.items.keys.filter { entity == nil || world.entity(of: $0) == entity }.sorted()
      .randomElement(using: &random)
  }

  mutating func insert() throws {
    let entity = PlainWorld.entities.randomElement(using: &random) ?? ""
    let key = nextKey
    nextKey += 1
    log.append("\(key) = insert \(entity)")
    ids[key] = try context.insert(entity).objectID
    world.items[key] = PlainWorld.Item(entity: entity)
  }

  mutating func change() throws {
    guard let key = someKey() else { return }
    let name = Bool.random(using: &random) ? "age" : "name"
    let value: PropertyValue =
      switch Int.random(in: 0..<4, using: &random) {
      case 0: .null
      case 1 where name == "name":
        .string(String(repeating: "ä", count: .random(in: 0..<300, using: &random)))
      default:
        name == "age"
          ? .integer(.random(in: 0..<9, using: &random))
          : .string("n\(Int.random(in: 0..<9, using: &random))")
      }
    log.append("\(key).\(name) = …")
    try object(key, context).setValue(value, forKey: name)
    // Assigning a `nil` literal would store a value.
    world.items[key]?.values.removeValue(forKey: name)
    if !value.isNull { world.items[key]?.values[name] = value }
  }

  mutating func relate() throws {
    guard let key = someKey(),
      let relationship = PlainWorld.relationships(of: world.entity(of: key)).randomElement(
        using: &random)
    else { return }
    let owner = try object(key, context)
    let member = someKey(relationship.destination)
    guard relationship.isToMany else {
      let target = Int.random(in: 0..<4, using: &random) == 0 ? nil : member
      log.append("\(key).\(relationship.name) = \(target.map(String.init) ?? "nil")")
      try owner.setObject(target.map { try object($0, context) }, forKey: relationship.name)
      if let target {
        world.link(relationship, key, target)
      } else {
        for former in world.members(key, relationship.name) {
          world.unlink(relationship, key, former)
        }
      }
      return
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try replaceMembers(key, owner, relationship)
    case 1:
      guard let former = world.members(key, relationship.name).randomElement(using: &random) else {
        return
      }
      log.append("\(key).\(relationship.name) -= \(former)")
      try owner.objects(forKey: relationship.name).remove(object(former, context))
      world.unlink(relationship, key, former)
    default:
      guard let member else { return }
      log.append("\(key).\(relationship.name) += \(member)")
      try owner.objects(forKey: relationship.name).insert(object(member, context))
      world.link(relationship, key, member)
    }
  }

  mutating func replaceMembers(
    _ key: Int, _ owner: ManagedObject, _ relationship: PlainWorld.Relationship
  ) throws {
    let candidates = world.items.keys.filter { world.entity(of: $0) == relationship.destination }
    let count = Int.random(in: 0...min(candidates.count, 15), using: &random)
    let members = Array(candidates.sorted().shuffled(using: &random).prefix(count))
    log.append("\(key).\(relationship.name) = \(members)")
    try owner.objects(forKey: relationship.name).replaceAll(
      with: members.map { try object($0, context) })
    world.replace(relationship, key, with: members)
  }

  mutating func delete() throws {
    guard let key = someKey() else { return }
    log.append("delete \(key)")
    try context.delete(object(key, context))
    world.delete(key)
  }

  /// Performs some steps and reverts them with a savepoint.
  mutating func interrupt() throws {
    let (before, idsBefore) = (world, ids)
    log.append("savepoint")
    do {
      try context.withSavepoint {
        for _ in 0..<6 {
          switch Int.random(in: 0..<10, using: &random) {
          case 0..<2: try insert()
          case 2..<4: try change()
          case 4..<8: try relate()
          default: try delete()
          }
        }
        throw Interruption()
      }
    } catch is Interruption {
      (world, ids) = (before, idsBefore)
      log.append("back to the savepoint")
    }
  }

  // MARK: Comparing

  func compare(_ context: ManagedObjectContext) throws {
    var found = PlainWorld()
    let keys = Dictionary(uniqueKeysWithValues: ids.map { ($1, $0) })
    for key in world.items.keys {
      let object = try object(key, context)
      var item = PlainWorld.Item(entity: object.entity.name)
      for name in ["age", "name"] where !object[name].isNull { item.values[name] = object[name] }
      for relationship in PlainWorld.relationships(of: item.entity) {
        let ids = try members(object, relationship)
        let members = ids.compactMap { keys[$0] }
        if !members.isEmpty { item.links[relationship.name] = members }
        if relationship.isToMany, try object.objects(forKey: relationship.name).count() != ids.count
        {
          throw difference("\(key).\(relationship.name) counts other than it lists")
        }
      }
      found.items[key] = item
    }
    // Failed reads return default values. The next operation reports them.
    _ = try context.object(with: ids.values.first ?? store.objectID("Team", number: 1))
    for (key, item) in world.settled where found.settled[key] != item {
      throw difference(
        "\(key) is \(found.settled[key].map { "\($0)" } ?? "gone"), not \(item)")
    }
    try compareFetches(context)
  }

  func members(
    _ object: ManagedObject, _ relationship: PlainWorld.Relationship
  ) throws -> [ObjectID] {
    switch object[relationship.name] as PropertyValue {
    case .objectID(let id): [id]
    case .list(let values):
      try values.map {
        guard case .objectID(let id) = $0 else { throw difference("\($0) is no ID") }
        return id
      }
    default: []
    }
  }

  func compareFetches(_ context: ManagedObjectContext) throws {
    for entity in PlainWorld.entities {
      let expected = world.items.filter { $0.value.entity == entity }
      let found = try context.fetchIDs(FetchRequest<ManagedObject>(entity: entity))
      guard Set(found) == Set(expected.keys.compactMap { ids[$0] }) else {
        throw difference("a fetch of \(entity) finds \(found.count), not \(expected.count)")
      }
    }
    let young = world.items.values.filter {
      guard $0.entity == "Person", case .integer(let age)? = $0.values["age"] else { return false }
      return age < 5
    }
    let count = try context.count("Person", matching: "age < 5")
    guard count == young.count else {
      throw difference("\(count) persons are young, not \(young.count)")
    }
  }

  func difference(_ what: String) -> Mismatch {
    Mismatch(description: what + "\n" + log.joined(separator: "\n"))
  }
}
