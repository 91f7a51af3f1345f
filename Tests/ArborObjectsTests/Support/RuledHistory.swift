import ArborModel
import ArborObjects
import Foundation
import TestSupport

/// A random history of several contexts with merge policies and undo, after each of whose commits
/// the store must keep the rules of ``RuledWorld``.
struct RuledHistory {
  private let store: PersistentStore
  private let contexts: [ManagedObjectContext]
  private let names: [String]
  private let seed: UInt64
  /// The randomness of the current step, so that a step doesn't depend on other steps.
  private var random: SeededRandom
  private var log: [String] = []
  private(set) var commitCount = 0
  private(set) var refusalCount = 0

  init(_ store: PersistentStore, contexts count: Int, seed: UInt64) {
    self.store = store
    self.seed = seed
    var random = SeededRandom(seed: seed)
    let policies: [(String, MergePolicy)] = [
      ("object wins", .mergeByPropertyObjectWins), ("store wins", .mergeByPropertyStoreWins),
      ("overwrite", .overwrite), ("rollback", .rollback), ("error", .error),
      (
        "custom",
        .custom { conflict in conflict.contextValues == nil ? .objectWins : .storeWins }
      ),
    ]
    var names: [String] = []
    contexts = (0..<count).map { _ in
      let context = store.makeContext()
      let (name, policy) = policies.randomElement(using: &random) ?? policies[0]
      context.mergePolicy = policy
      context.undoHistory = Int.random(in: 0..<3, using: &random) > 0 ? UndoHistory() : nil
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
        try self.step(Int.random(in: contexts.indices, using: &random))
      }
      for contextIndex in contexts.indices { try commit(contextIndex) }
    } catch let error as ArborError {
      throw mismatch(error.debugDescription)
    }
  }

  private mutating func step(_ contextIndex: Int) throws {
    let context = contexts[contextIndex]
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<12:
      do { try edit(contextIndex) } catch let error as ArborError {
        // Another context has deleted an object that this one reads or links to.
        guard error.code == .objectNotFound else { throw error }
        log.append("\(contextIndex): not found")
      }
      if Int.random(in: 0..<4, using: &random) > 0 { context.undoHistory?.closeGroup() }
    case 12..<16: try commit(contextIndex)
    case 16, 17:
      log.append("\(contextIndex): undo")
      context.undo()
    case 18:
      log.append("\(contextIndex): redo")
      context.redo()
    default:
      log.append("\(contextIndex): rollback")
      context.rollback()
    }
  }

  // MARK: Editing

  private mutating func edit(_ contextIndex: Int) throws {
    let context = contexts[contextIndex]
    let entity = RuledWorld.entities.randomElement(using: &random) ?? ""
    let objects = try context.fetch(entity)
    guard objects.count > 1, let object = objects.randomElement(using: &random),
      Int.random(in: 0..<5, using: &random) > 0
    else { return try insert(contextIndex, entity) }
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<4:
      log.append("\(contextIndex): delete \(name(of: object))")
      context.delete(object)
    case 4:
      log.append("\(contextIndex): \(name(of: object)).n = …")
      try object.setValue(.integer(.random(in: 0..<9, using: &random)), forKey: "n")
    default: try link(contextIndex, object)
    }
  }

  /// Inserts an object, usually with everything that the model's rules ask for.
  private mutating func insert(_ contextIndex: Int, _ entity: String) throws {
    let object = try contexts[contextIndex].insert(entity)
    log.append("\(contextIndex): insert \(name(of: object))")
    if Int.random(in: 0..<8, using: &random) > 0 { try complete(contextIndex, object) }
  }

  private mutating func complete(_ contextIndex: Int, _ object: ManagedObject) throws {
    for relationship in RuledWorld.relationships(of: object.objectID.entityName)
    where !relationship.isOptional {
      let isSingle = relationship.inverse == "person"
      let others = try contexts[contextIndex].fetch(relationship.destination)
      // Most desks are free, so that not every commit is refused.
      if !isSingle || Int.random(in: 0..<3, using: &random) == 0,
        relationship.name != "items", let other = others.randomElement(using: &random)
      {
        try set(contextIndex, object, relationship, other)
        continue
      }
      let other = try contexts[contextIndex].insert(relationship.destination)
      log.append("\(contextIndex): insert \(name(of: other))")
      try set(contextIndex, object, relationship, other)
      try complete(contextIndex, other)
    }
  }

  private mutating func link(_ contextIndex: Int, _ object: ManagedObject) throws {
    let relationships = RuledWorld.relationships(of: object.objectID.entityName)
    guard let relationship = relationships.randomElement(using: &random) else { return }
    let others = try contexts[contextIndex].fetch(relationship.destination)
    let isNone = !relationship.isToMany && Int.random(in: 0..<8, using: &random) == 0
    try set(
      contextIndex, object, relationship, isNone ? nil : others.randomElement(using: &random))
  }

  /// Sets a target, or adds or removes a member.
  private mutating func set(
    _ contextIndex: Int, _ object: ManagedObject, _ relationship: RelationshipDescription,
    _ other: ManagedObject?
  ) throws {
    guard relationship.isToMany else {
      let target = other.map(name(of:)) ?? "nil"
      log.append("\(contextIndex): \(name(of: object)).\(relationship.name) = \(target)")
      return try object.setObject(other, forKey: relationship.name)
    }
    guard let other else { return }
    let members = try object.objects(forKey: relationship.name)
    let isThere = try members.fetch().contains(other)
    log.append(
      "\(contextIndex): \(name(of: object)).\(relationship.name) \(isThere ? "-" : "+")= "
        + name(of: other))
    if isThere { try members.remove(other) } else { try members.insert(other) }
  }

  // MARK: Committing

  private mutating func commit(_ contextIndex: Int) throws {
    let context = contexts[contextIndex]
    // Merges other commits and fetches all objects, so that a refused commit leaves exactly the same
    // changes. The context lists only objects that it holds as updated.
    _ = try RuledWorld.State(context)
    log.append("\(contextIndex): commit (\(names[contextIndex]))")
    let deletions = try RuledWorld.Deletions(
      of: context, over: RuledWorld.State(store.makeContext()))
    let pending = try pending(context)
    do throws(ArborError) { try context.commit() } catch {
      refusalCount += 1
      log.append("\(contextIndex): refused: \(error.message)")
      guard error.code == .validation || names[contextIndex] == "error" && error.code == .conflict
      else { throw mismatch("refused with \(error.code)") }
      let remaining = try self.pending(context)
      // The refused commit has merged what the context doesn't merge by itself.
      guard remaining == pending || !context.automaticallyMergesCommits else {
        throw mismatch("The refused commit left \(remaining), not \(pending).")
      }
      if Bool.random(using: &random) {
        log.append("\(contextIndex): rollback")
        context.rollback()
      }
      return
    }
    commitCount += 1
    guard !context.hasChanges else { throw mismatch("Changes remain after the commit.") }
    let state = try RuledWorld.State(store.makeContext())
    if let problem = state.brokenRule() ?? deletions.brokenRule(in: state) {
      throw mismatch(problem)
    }
  }

  /// Returns a description of a context's pending changes.
  private func pending(_ context: ManagedObjectContext) throws -> [String] {
    var lines = context.deletedObjects.map { "- \(name(of: $0))" }
    for (sign, objects) in [("+", context.insertedObjects), ("~", context.updatedObjects)] {
      for object in objects {
        var line = "\(sign) \(name(of: object))"
        for relationship in RuledWorld.relationships(of: object.objectID.entityName) {
          let targets = try RuledWorld.targets(of: object, relationship.name)
          let numbers = targets.map(\.number)
          line += " \(relationship.name) \(relationship.isOrdered ? numbers : numbers.sorted())"
        }
        lines.append(line)
      }
    }
    return lines.sorted()
  }

  private func name(of object: ManagedObject) -> String {
    "\(object.objectID.entityName) \(object.objectID.number)"
  }

  private func mismatch(_ what: String) -> Mismatch {
    Mismatch(description: what + "\n" + log.joined(separator: "\n"))
  }
}
