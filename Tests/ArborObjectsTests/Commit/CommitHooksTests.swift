import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// Hooks that insert, delete and fetch objects with the same hooks.
@Suite("Hooks that change other objects") struct CommitHooksTests {
  static let endlessChanges =
    "willCommit still changed objects after 100 rounds. Set a value only if it differs from the "
    + "current one, and don't insert objects whose own hook inserts more."

  private static func use(
    _ body: (PersistentStore, ManagedObjectContext) throws -> Void
  ) throws {
    try ObjectStore.use(ManagedObjectModel(for: [Witness.self]), classes: [Witness.self]) {
      try body($0, $0.makeContext())
    }
  }

  /// Inserts an object whose hook inserts as many more, each with the same hook.
  @discardableResult
  private static func insert(
    _ context: ManagedObjectContext, inserting count: Int,
    in hook: Hook
  ) -> Witness {
    let witness = context.insert(Witness.self)
    witness[keyPath: hook.path] = { witness in
      guard let context = witness.context, witness.stamp == 0 else { return }
      witness.stamp = 1
      for _ in 0..<count { insert(context, inserting: count, in: hook) }
    }
    return witness
  }

  @Test("A commit fails if each inserted object's hook inserts another")
  func aChainOfInsertionsIsStopped() throws {
    try Self.use { store, context in
      let first = Self.insert(context, inserting: 1, in: .willCommit)
      let error = try failure { try context.commit() }
      #expect(error.code == .notAllowed && error.message == Self.endlessChanges)
      #expect(context.insertedObjects == [first] && first.stamp == 0)
      #expect(try store.makeContext().count(Witness.self) == 0)
      first.beforeCommit = { _ in }
      try context.commit()
      #expect(try store.makeContext().count(Witness.self) == 1)
    }
  }

  @Test(
    "A deadline and cancellation end a commit whose hooks keep inserting",
    arguments: Hook.allCases, [false, true])
  func limitsEndCommits(hook: Hook, isCancelled: Bool) async throws {
    func run() throws {
      try Self.use { store, context in
        let first = Self.insert(context, inserting: 2, in: hook)
        if isCancelled {
          first.calls = []
          let insert = first[keyPath: hook.path]
          first[keyPath: hook.path] = { witness in
            insert(witness)
            withUnsafeCurrentTask { $0?.cancel() }
          }
        } else {
          context.deadline = .now + .milliseconds(20)
        }
        let error = try failure { try context.commit() }
        #expect(error.code == (isCancelled ? .cancelled : .deadlineExceeded))
        #expect(context.insertedObjects == [first] && first.stamp == 0)
      }
    }
    let task = _Concurrency.Task { try run() }
    try await task.value
  }

  @Test("Objects that a hook deletes don't keep others from being validated")
  func deletionsSkipNoValidation() throws {
    try Self.use { store, context in
      let first = context.insert(Witness.self)
      let doomed = (0..<200).map { _ in context.insert(Witness.self) }
      let rest = (0..<50).map { _ in context.insert(Witness.self) }
      first.beforeInsertion = { _ in for witness in doomed { context.delete(witness) } }
      try context.commit()
      for witness in rest { #expect(witness.calls.contains("validateForInsert")) }
      #expect(try store.makeContext().count(Witness.self) == 51)
    }
  }

  /// A hook that inserts objects.
  enum Hook: CaseIterable {
    case willCommit, validateForInsert

    var path: ReferenceWritableKeyPath<Witness, (Witness) -> Void> {
      switch self {
      case .willCommit: \.beforeCommit
      case .validateForInsert: \.beforeInsertion
      }
    }
  }

  // MARK: Random hooks

  /// What the hook of one object does, and the hooks of the objects that it inserts.
  struct Script {
    var name: String
    var children: [Script] = []
    /// The indexes of the children that the hook deletes again.
    var deleted: Set<Int> = []
    /// Whether the hook renames its object once more in the next round.
    var renames = false

    static func random(
      _ name: String, depth: Int, using random: inout SeededRandom
    ) -> Script {
      var script = Script(name: name, renames: Int.random(in: 0..<3, using: &random) == 0)
      guard depth > 0 else { return script }
      for index in 0..<Int.random(in: 0...3, using: &random) {
        script.children.append(
          .random(name + ".\(index)", depth: depth - 1, using: &random))
        if Int.random(in: 0..<4, using: &random) == 0 { script.deleted.insert(index) }
      }
      return script
    }

    /// The names of the objects that remain, in any order.
    ///
    /// - Parameter deletes: Whether deletions are taken into account.
    func names(deletes: Bool = true) -> [String] {
      var names = [renames ? name + "!" : name]
      for (index, child) in children.enumerated() where !deletes || !deleted.contains(index) {
        names += child.names(deletes: deletes)
      }
      return names
    }

    @discardableResult
    func insert(_ context: ManagedObjectContext) -> Witness {
      let witness = context.insert(Witness.self)
      witness.text = name
      witness.beforeCommit = { witness in
        witness.stamp += witness.stamp < 2 ? 1 : 0
        if witness.stamp == 2, renames { witness.text = name + "!" }
        guard witness.stamp == 1, let context = witness.context else { return }
        let inserted = children.map { $0.insert(context) }
        for index in deleted { context.delete(inserted[index]) }
        _ = try? context.count(Witness.self, matching: "text BEGINSWITH 'a'")
      }
      return witness
    }
  }

  private static func names(in store: PersistentStore) throws -> [String] {
    try store.makeContext().fetch(Witness.self).map { $0.text ?? "" }.sorted()
  }

  @Test("A commit with random hooks stores what they leave, or nothing by its deadline")
  func randomHooks() throws {
    for _ in 0..<TestLength.of(150, long: 10_000) {
      var random = SeededRandom()
      let scripts = (0..<Int.random(in: 1...3, using: &random)).map {
        Script.random("a\($0)", depth: 4, using: &random)
      }
      let limit = Int.random(in: 0...4000, using: &random)
      try Self.use { store, context in
        let roots = scripts.map { $0.insert(context) }
        context.deadline = .now + .microseconds(limit)
        do throws(ArborError) {
          try context.commit()
        } catch {
          #expect(error.code == .deadlineExceeded, "seed \(random.seed)")
          #expect(context.insertedObjects == Set(roots), "seed \(random.seed)")
          #expect(roots.map(\.text) == scripts.map(\.name), "seed \(random.seed)")
          #expect(try Self.names(in: store) == [], "seed \(random.seed)")
          context.deadline = nil
          try context.commit()
        }
        let expected = scripts.flatMap { $0.names() }.sorted()
        #expect(try Self.names(in: store) == expected, "seed \(random.seed)")
      }
    }
  }

  @Test("The expected names tell whether a hook's deletion has been lost")
  func lostDeletionsAreFound() throws {
    let script = Script(
      name: "a", children: [Script(name: "a.0"), Script(name: "a.1")], deleted: [1])
    try Self.use { store, context in
      script.insert(context)
      try context.commit()
      #expect(try Self.names(in: store) == script.names().sorted())
      #expect(try Self.names(in: store) != script.names(deletes: false).sorted())
    }
  }
}
