import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// Random changes of relationships in several contexts of one store. Under every policy, both ends
/// of every link in the store must agree after each commit, no link may lead to a missing object,
/// and the committing context must see members in the store's order.
@Suite("Random changes of relationships in several contexts") struct SharedGraphTests {
  @Test(
    "Both ends of every link agree after random histories", arguments: [(2, 30, 60), (3, 80, 12)])
  func bothEndsOfEveryLinkAgree(contexts: Int, steps: Int, count: Int) throws {
    var seeds = TestLength.isLong ? SeededRandom() : SeededRandom(seed: UInt64(contexts * steps))
    let model = try PlainWorld.model()
    for _ in 0..<TestLength.of(count, long: 100 * count) {
      let seed = seeds.next()
      guard var problem = Self.problem(model, contexts, seed, Array(0..<steps)) else { continue }
      // Reduces the history to the fewest steps that still fail.
      var shortest = Array(0..<steps)
      for step in shortest.reversed() {
        let fewer = shortest.filter { $0 != step }
        if let other = Self.problem(model, contexts, seed, fewer) {
          (problem, shortest) = (other, fewer)
        }
      }
      Issue.record("seed \(seed), steps \(shortest): \(problem)")
      return
    }
  }

  @Test(
    "Histories that failed before, by contexts, steps and seed",
    arguments: [(3, 80, 8_833_082_285_510_455_770 as UInt64)])
  func endsThatDisagreedAgree(contexts: Int, steps: Int, seed: UInt64) throws {
    let problem = Self.problem(try PlainWorld.model(), contexts, seed, Array(0..<steps))
    #expect(problem == nil)
  }

  private static func problem(
    _ model: ManagedObjectModel, _ contexts: Int, _ seed: UInt64, _ steps: [Int]
  ) -> String? {
    do {
      try ObjectStore.use(model) { store in
        var world = SharedGraph(store, contexts: contexts, seed: seed)
        try world.run(steps)
      }
      return nil
    } catch {
      return "\(error)"
    }
  }
}

private struct SharedGraph {
  private let store: PersistentStore
  private let contexts: [ManagedObjectContext]
  private let names: [String]
  private let seed: UInt64
  /// The randomness of the current step, so that a step doesn't depend on other steps.
  private var random: SeededRandom
  private var log: [String] = []

  init(_ store: PersistentStore, contexts count: Int, seed: UInt64) {
    self.store = store
    self.seed = seed
    var random = SeededRandom(seed: seed)
    let policies: [(String, MergePolicy)] = [
      ("object wins", .mergeByPropertyObjectWins), ("store wins", .mergeByPropertyStoreWins),
      ("overwrite", .overwrite), ("rollback", .rollback), ("error", .error),
    ]
    var names: [String] = []
    contexts = (0..<count).map { _ in
      let context = store.makeContext()
      let (name, policy) = policies.randomElement(using: &random) ?? policies[0]
      context.mergePolicy = policy
      context.undoHistory = Bool.random(using: &random) ? UndoHistory() : nil
      context.automaticallyMergesCommits = Int.random(in: 0..<4, using: &random) > 0
      names.append(name)
      return context
    }
    self.names = names
    self.random = random
  }

  mutating func run(_ steps: [Int]) throws {
    do {
      for step in steps {
        random = SeededRandom(seed: seed &+ UInt64(step) &* 0xD6E8_FEB8_6659_FD93)
        let contextIndex = Int.random(in: contexts.indices, using: &random)
        try self.step(contextIndex)
        if Int.random(in: 0..<4, using: &random) == 0 { try look(contextIndex) }
      }
      for contextIndex in contexts.indices { try commit(contextIndex) }
    } catch let error as ArborError {
      throw contradiction(error.debugDescription)
    }
  }

  /// Checks a context that merges commits at once. Its to-one relationships may lead to deleted
  /// objects until the commit.
  private func look(_ contextIndex: Int) throws {
    let context = contexts[contextIndex]
    guard names[contextIndex] == "object wins", context.automaticallyMergesCommits else { return }
    _ = try context.count("Note")
    try compare(context, "\(contextIndex)", includingDeleted: false)
  }

  private mutating func step(_ contextIndex: Int) throws {
    let context = contexts[contextIndex]
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<14: try edit(contextIndex)
    case 14..<17: try commit(contextIndex)
    case 17:
      log.append("\(contextIndex): rollback")
      context.rollback()
    case 18:
      log.append("\(contextIndex): undo")
      context.undo()
    default:
      log.append("\(contextIndex): redo")
      context.redo()
    }
  }

  private mutating func edit(_ contextIndex: Int) throws {
    let context = contexts[contextIndex]
    let entity = PlainWorld.entities.randomElement(using: &random) ?? ""
    let objects = try context.fetch(entity)
    guard objects.count > 2, let owner = objects.randomElement(using: &random),
      let relationship = PlainWorld.relationships(of: entity).randomElement(using: &random),
      Int.random(in: 0..<8, using: &random) > 0
    else {
      log.append("\(contextIndex): insert \(try context.insert(entity).objectID)")
      context.undoHistory?.closeGroup()
      return
    }
    defer { context.undoHistory?.closeGroup() }
    if Int.random(in: 0..<10, using: &random) == 0 {
      log.append("\(contextIndex): delete \(owner.objectID)")
      return context.delete(owner)
    }
    let member = try context.fetch(relationship.destination).randomElement(using: &random)
    guard relationship.isToMany else {
      let target = Int.random(in: 0..<4, using: &random) == 0 ? nil : member
      log.append("\(contextIndex): \(owner.objectID).\(relationship.name) = \(name(of: target))")
      return try owner.setObject(target, forKey: relationship.name)
    }
    guard let member else { return }
    if relationship.isOrdered, Bool.random(using: &random) {
      return try arrange(contextIndex, owner, relationship.name, member)
    }
    let isThere = try owner.objects(forKey: relationship.name).fetch().contains(member)
    log.append(
      "\(contextIndex): \(owner.objectID).\(relationship.name) "
        + "\(isThere ? "-" : "+")= \(name(of: member))")
    if isThere {
      try owner.objects(forKey: relationship.name).remove(member)
    } else {
      try owner.objects(forKey: relationship.name).insert(member)
    }
  }

  /// Reorders some of the members, and may insert one between them.
  private mutating func arrange(
    _ contextIndex: Int, _ owner: ManagedObject, _ name: String, _ member: ManagedObject
  ) throws {
    var members = try owner.objects(forKey: name).fetch()
    if let former = members.indices.randomElement(using: &random), Bool.random(using: &random) {
      let moved = members.remove(at: former)
      members.insert(moved, at: .random(in: 0...members.count, using: &random))
    }
    if !members.contains(member), Bool.random(using: &random) {
      members.insert(member, at: .random(in: 0...members.count, using: &random))
    }
    log.append("\(contextIndex): \(owner.objectID).\(name) = \(members.map(\.objectID))")
    try owner.objects(forKey: name).replaceAll(with: members)
  }

  private func name(of object: ManagedObject?) -> String {
    object.map { "\($0.objectID)" } ?? "nil"
  }

  private mutating func commit(_ contextIndex: Int) throws {
    log.append("\(contextIndex): commit (\(names[contextIndex]))")
    do throws(ArborError) { try contexts[contextIndex].commit() } catch {
      guard error.code == .conflict, names[contextIndex] == "error" else { throw error }
      log.append("\(contextIndex): rollback, since \(error.message)")
      contexts[contextIndex].rollback()
    }
    try compare(store.makeContext(), "the store")
    guard !contexts[contextIndex].hasChanges else {
      throw contradiction("\(contextIndex) has changes")
    }
    // A context that doesn't merge automatically keeps its values.
    guard contexts[contextIndex].automaticallyMergesCommits else { return }
    try compare(contexts[contextIndex], "\(contextIndex)")
    guard try orders(contexts[contextIndex]) == orders(store.makeContext()) else {
      throw contradiction("\(contextIndex) sees other orders")
    }
  }

  /// Returns the members of all ordered relationships.
  private func orders(_ context: ManagedObjectContext) throws -> [ObjectID: [String: [ObjectID]]] {
    var orders: [ObjectID: [String: [ObjectID]]] = [:]
    for relationship in PlainWorld.relationships where relationship.isOrdered {
      for object in try context.fetch(relationship.entity) {
        orders[object.objectID, default: [:]][relationship.name] = try members(
          of: object, relationship.name)
      }
    }
    return orders
  }

  /// Throws if the ends of a link disagree.
  private func compare(
    _ context: ManagedObjectContext, _ who: String, includingDeleted: Bool = true
  ) throws {
    for entity in PlainWorld.entities {
      for object in try context.fetch(entity) {
        for relationship in PlainWorld.relationships(of: entity) {
          let members = try members(of: object, relationship.name)
          guard Set(members).count == members.count else {
            throw contradiction("in \(who), \(object.objectID).\(relationship.name) is \(members)")
          }
          guard let inverse = relationship.inverse else { continue }
          for id in members {
            if !includingDeleted, try context.object(with: id).isDeleted { continue }
            let member = try context.existingObject(with: id)
            let back = try self.members(of: member, inverse)
            guard back.contains(object.objectID) else {
              throw contradiction(
                "in \(who), \(object.objectID).\(relationship.name) leads to \(id), whose \(inverse) "
                  + "is \(back)")
            }
          }
        }
      }
    }
  }

  private func members(of object: ManagedObject, _ name: String) throws -> [ObjectID] {
    switch try object.value(forKey: name) {
    case .objectID(let id): [id]
    case .list(let values):
      values.compactMap { if case .objectID(let id) = $0 { id } else { nil } }
    default: []
    }
  }

  private func contradiction(_ what: String) -> Mismatch {
    let text = log.joined(separator: "\n")
      .replacing("arbor://\(store.id)/", with: "")
    return Mismatch(description: what + "\n" + text)
  }
}
