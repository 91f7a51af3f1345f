import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Random histories in a context against a naive graph of dictionaries: after every step both say
/// the same, whether what was done has been committed, rolled back, undone, redone, taken back to a
/// savepoint or read anew.
@Suite struct ModelBasedTests {
  @Test func randomHistoriesAgreeWithPlainDictionaries() throws {
    var seeds = SeededRandom()
    for _ in 0..<1000 {
      let seed = seeds.next()
      do {
        try ObjectStore.use(PlainWorld.model()) { store in
          var history = RandomHistory(store, seed: seed)
          try history.run(steps: 40)
        }
      } catch {
        Issue.record(error, "seed \(seed)")
        return
      }
    }
  }

  /// A history that once went wrong is named here by its seed.
  @Test(arguments: [1, 2, 3] as [UInt64]) func longHistoriesAgree(seed: UInt64) throws {
    try ObjectStore.use(PlainWorld.model(), inMemory: false) { store in
      var history = RandomHistory(store, seed: seed)
      try history.run(steps: 600)
    }
  }
}

/// A difference between a context and the naive graph.
struct Difference: Error, CustomStringConvertible {
  let description: String
}

/// One random history: what it does to a context it does to a naive graph.
struct RandomHistory {
  private let store: PersistentStore
  private var context: ManagedObjectContext
  private var random: SeededRandom
  private var world = PlainWorld()
  private var committed = PlainWorld()
  private var ids: [Int: ObjectID] = [:]
  private var nextKey = 1
  private var log: [String] = []
  /// The world before each group that can be undone, and after each that can be redone.
  private var undoWorlds: [PlainWorld] = []
  private var redoWorlds: [PlainWorld] = []
  private var committedUndoWorlds: [PlainWorld] = []

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

  private mutating func step() throws {
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

  private mutating func edit() throws {
    switch Int.random(in: 0..<18, using: &random) {
    case 0..<5: try insert()
    case 5..<8: try change()
    case 8..<16: try relate()
    default: try delete()
    }
  }

  private mutating func commit() throws {
    log.append("commit")
    try context.commit()
    committed = world
    committedUndoWorlds = undoWorlds
  }

  private mutating func rollback() {
    log.append("rollback")
    context.rollback()
    world = committed
    undoWorlds = committedUndoWorlds
    redoWorlds = []
  }

  private func object(_ key: Int, _ context: ManagedObjectContext) throws -> ManagedObject {
    guard let id = ids[key] else { throw Difference(description: "no ID of \(key)") }
    return try context.object(with: id)
  }

  private mutating func someKey(_ entity: String? = nil) -> Int? {
    world.items.keys.filter { entity == nil || world.entity(of: $0) == entity }.sorted()
      .randomElement(using: &random)
  }

  private mutating func insert() throws {
    let entity = PlainWorld.entities.randomElement(using: &random) ?? ""
    let key = nextKey
    nextKey += 1
    log.append("\(key) = insert \(entity)")
    ids[key] = try context.insert(entity).objectID
    world.items[key] = PlainWorld.Item(entity: entity)
  }

  private mutating func change() throws {
    guard let key = someKey() else { return }
    let name = Bool.random(using: &random) ? "age" : "name"
    let value: Value =
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
    // The literal nil would be a value too.
    world.items[key]?.values.removeValue(forKey: name)
    if !value.isNull { world.items[key]?.values[name] = value }
  }

  private mutating func relate() throws {
    guard let key = someKey(),
      let relation = PlainWorld.relations(of: world.entity(of: key)).randomElement(using: &random)
    else { return }
    let owner = try object(key, context)
    let member = someKey(relation.destination)
    guard relation.isToMany else {
      let target = Int.random(in: 0..<4, using: &random) == 0 ? nil : member
      log.append("\(key).\(relation.name) = \(target.map(String.init) ?? "nil")")
      try owner.setObject(target.map { try object($0, context) }, forKey: relation.name)
      if let target {
        world.link(relation, key, target)
      } else {
        for former in world.members(key, relation.name) { world.unlink(relation, key, former) }
      }
      return
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try replaceMembers(key, owner, relation)
    case 1:
      guard let former = world.members(key, relation.name).randomElement(using: &random) else {
        return
      }
      log.append("\(key).\(relation.name) -= \(former)")
      try owner.remove(object(former, context), forKey: relation.name)
      world.unlink(relation, key, former)
    default:
      guard let member else { return }
      log.append("\(key).\(relation.name) += \(member)")
      try owner.add(object(member, context), forKey: relation.name)
      world.link(relation, key, member)
    }
  }

  private mutating func replaceMembers(
    _ key: Int, _ owner: ManagedObject, _ relation: PlainWorld.Relation
  ) throws {
    let candidates = world.items.keys.filter { world.entity(of: $0) == relation.destination }
    let count = Int.random(in: 0...min(candidates.count, 15), using: &random)
    let members = Array(candidates.sorted().shuffled(using: &random).prefix(count))
    log.append("\(key).\(relation.name) = \(members)")
    try owner.setObjects(members.map { try object($0, context) }, forKey: relation.name)
    world.replace(relation, key, with: members)
  }

  private mutating func delete() throws {
    guard let key = someKey() else { return }
    log.append("delete \(key)")
    try context.delete(object(key, context))
    world.delete(key)
  }

  /// Some steps that are taken back.
  private mutating func interrupt() throws {
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

  // MARK: Undoing

  /// What `body` changes is one group.
  private mutating func asGroup(_ body: (inout RandomHistory) throws -> Void) throws {
    let before = world
    try body(&self)
    context.processPendingChanges()
    guard let names = context.undoHistory?.undoNames, names.count > undoWorlds.count else { return }
    undoWorlds.append(before)
    redoWorlds = []
  }

  /// An explicit group, of which a part may be taken back and brought again inside.
  private mutating func group() throws {
    log.append("group {")
    var isUndone = false
    var after = world
    try asGroup { history throws in
      history.context.undoHistory?.beginGroup(named: "group")
      try history.edit()
      let before = history.world
      history.context.undoHistory?.beginGroup()
      try history.edit()
      try history.edit()
      history.context.undoHistory?.endGroup()
      after = history.world
      if Bool.random(using: &history.random), history.isRecorded(since: before) {
        history.log.append("undo group")
        isUndone = true
        history.context.undoHistory?.undoGroup()
        history.world = before
        try history.compare(history.context)
        if Bool.random(using: &history.random) {
          history.log.append("redo group")
          isUndone = false
          history.context.undoHistory?.redoGroup()
          history.world = after
          try history.compare(history.context)
        }
      }
      history.context.undoHistory?.endGroup()
    }
    log.append("}")
    redoWorlds = isUndone ? [after] : context.undoHistory?.canRedo == true ? redoWorlds : []
  }

  /// Whether the inner group has anything in it: else the outer one's part would be taken back.
  private func isRecorded(since before: PlainWorld) -> Bool { world.settled != before.settled }

  private mutating func undo() {
    log.append("undo")
    context.undo()
    guard let before = undoWorlds.popLast() else { return }
    redoWorlds.append(world)
    world = before
  }

  private mutating func redo() {
    guard let after = redoWorlds.popLast() else { return }
    log.append("redo")
    context.redo()
    undoWorlds.append(world)
    world = after
  }

  private func compareGroups() throws {
    guard let history = context.undoHistory, history.undoNames.count == undoWorlds.count,
      history.redoNames.count == redoWorlds.count
    else { throw difference("other groups can be undone or redone") }
  }

  private mutating func forgetGroups() {
    undoWorlds = []
    redoWorlds = []
    committedUndoWorlds = []
  }

  private mutating func undoAndRedoEverything() throws {
    for _ in 0..<10 { try asGroup { history throws in try history.edit() } }
    while undoWorlds.count > committedUndoWorlds.count { undo() }
    try compare(context)
    if context.hasChanges {
      let updated = context.updatedObjects.map { "\($0.objectID): \($0.changedValues())" }
      throw difference(
        "\(context.insertedObjects.count) + \(updated) + \(context.deletedObjects.count) changes "
          + "are left after all were undone")
    }
    while !redoWorlds.isEmpty { redo() }
    for _ in 0..<2 {
      try compare(context)
      try commit()
      try compare(store.makeContext())
      while !undoWorlds.isEmpty { undo() }
      try compare(context)
      try commit()
      try compare(store.makeContext())
      while !redoWorlds.isEmpty { redo() }
    }
    try compare(context)
  }

  // MARK: Comparing

  private func compare(_ context: ManagedObjectContext) throws {
    var found = PlainWorld()
    let keys = Dictionary(uniqueKeysWithValues: ids.map { ($1, $0) })
    for key in world.items.keys {
      let object = try object(key, context)
      var item = PlainWorld.Item(entity: object.entity.name)
      for name in ["age", "name"] where !object[name].isNull { item.values[name] = object[name] }
      for relation in PlainWorld.relations(of: item.entity) {
        let ids = try members(object, relation)
        let members = ids.compactMap { keys[$0] }
        if !members.isEmpty { item.links[relation.name] = members }
        if relation.isToMany, try object.count(forKey: relation.name) != ids.count {
          throw difference("\(key).\(relation.name) counts other than it lists")
        }
      }
      found.items[key] = item
    }
    // A read that failed would have given defaults: the next operation says so.
    _ = try context.object(with: ids.values.first ?? store.objectID("Team", 1))
    for (key, item) in world.settled where found.settled[key] != item {
      throw difference(
        "\(key) is \(found.settled[key].map { "\($0)" } ?? "gone"), not \(item)")
    }
    try compareFetches(context)
  }

  private func members(
    _ object: ManagedObject, _ relation: PlainWorld.Relation
  ) throws -> [ObjectID] {
    switch object[relation.name] as Value {
    case .objectID(let id): [id]
    case .list(let values):
      try values.map {
        guard case .objectID(let id) = $0 else { throw difference("\($0) is no ID") }
        return id
      }
    default: []
    }
  }

  private func compareFetches(_ context: ManagedObjectContext) throws {
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

  private func difference(_ what: String) -> Difference {
    Difference(description: what + "\n" + log.joined(separator: "\n"))
  }
}
