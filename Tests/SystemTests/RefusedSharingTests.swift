import TestSupport
import Testing

/// Code that would pass contexts, their objects, or values tied to them to another task, actor or
/// thread does not compile.
@Suite("Sharing contexts between tasks or threads") struct RefusedSharingTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let code: String
    let message: String
    var testDescription: String { code }

    init(_ code: String, _ message: String) {
      self.code = code
      self.message = message
    }
  }

  private static let stays = "Objects belong to their context. Pass the objectID instead."
  private static let races = "risks causing data races"
  private static let captured = "concurrent execution of the closure"

  /// Code rejected because of a type's declaration.
  static let types = [
    Case("_ = try await store.perform { try $0.insert(\"A\") }", stays),
    Case("_ = try await store.perform { try $0.fetch(FetchRequest(entity: \"A\")) }", stays),
    Case("_ = try await store.performBackground { try $0.insert(\"A\") }", stays),
    Case("_ = try store.performBackgroundAndWait { try $0.insert(\"A\") }", stays),
    Case("_ = try await manager.commitInBackground { try $0.insert(\"A\") }", stays),
    Case(
      "_ = try await store.perform { context in context }",
      "Contexts cannot be shared. Use PersistentStore.perform."),
    Case(
      "_ = try await store.perform { $0.objects(\"A\") }",
      "A query belongs to its context. Pass its request instead."),
    Case(
      "_ = try await store.perform { try $0.fetchedResults(request) }",
      "Results belong to their context. Pass objectIDs instead."),
    Case("try await store.perform { _ in await Task.yield() }", "expecting synchronous function"),
    Case("struct Row: Sendable { let object: ManagedObject }", "non-Sendable type 'ManagedObject'"),
    Case("share(object)", stays),
    Case("share([object])", stays),
    Case("share(manager)", "A manager belongs to its context. Pass its store instead."),
    Case(
      "share(UndoHistory())",
      "An undo history belongs to its context. Create one for each context."),
    Case("share(DataManagerGroup())", "A group belongs to the context of its managers."),
    Case("try await owner.context.commit()", "cannot exit actor-isolated context"),
  ]

  /// Code rejected because of where a value is used later.
  static let flows = [
    Case("try await store.perform { $0.delete(object) }", captured),
    Case("try await store.performBackground { $0.delete(object) }", captured),
    Case("try store.performBackgroundAndWait { $0.delete(object) }", captured),
    Case("try await manager.commitInBackground { _ in manager.rollback() }", captured),
    Case("try await store.perform { _ in context.rollback() }", captured),
    Case("Task { try context.commit() }", captured),
    Case("Task { print(object) }", captured),
    Case("Task.detached { manager.rollback() }", captured),
    Case("Task { for await change in results.changes { print(change) } }", captured),
    Case("try await store.perform { inner in _ = Task { try inner.commit() } }", captured),
    Case(
      "try await store.perform { let new = try $0.insert(\"A\"); Task.detached { print(new) } }",
      captured),
    Case(
      "await withTaskGroup(of: Void.self) { $0.addTask { context.rollback() } }", captured),
    Case("async let done = context.commit(); _ = try await done", races),
    Case(
      "var kept: ManagedObject?; try await store.perform { kept = try $0.insert(\"A\") }; "
        + "print(kept as Any)",
      races),
    Case(
      "var kept: ManagedObjectContext?; try await store.performBackground { kept = $0 }; "
        + "print(kept as Any)",
      races),
    Case("let own = store.makeContext(); Task { try own.commit() }; own.rollback()", races),
    Case(
      "let own = store.makeContext(); let new = try own.insert(\"A\"); "
        + "try await store.perform { _ in new[\"a\"] = 1 }; print(new)",
      races),
    Case("await owner.take(object)", races),
    Case("print(try await owner.give())", "can not be returned from actor-isolated"),
    Case("await screen.show(object)", races),
  ]

  /// Valid code that resembles the rejected cases.
  static let accepted = [
    "let id = try await store.perform { try $0.insert(\"A\").objectID }; print(id)",
    "let id = object.objectID; try await store.perform { $0.delete(try $0.object(with: id)) }",
    "let rows = try await store.perform { try $0.fetchRows(request) }; print(rows)",
    "let own = store.makeContext(); Task { try own.commit() }",
    "let own = store.makeContext(); await owner.take(own)",
    "for await change in results.changes { print(change.isComplete) }",
    "Task { for await change in store.changes { print(change.inserted) } }",
    "var count = 0; try await store.perform { count = try $0.count(request) }; print(count)",
    "share(object.objectID); share(store); share(request); share(store.model); share(predicate)",
    "let a = try await store.perform { try $0.insert(\"A\")[\"a\"] as Int? }; print(a as Any)",
  ]

  @Test("Code that the types forbid does not compile")
  func whatTheTypesForbidDoesNotCompile() throws {
    try expect(Self.types, followingData: false)
  }

  @Test("Code that would be a data race does not compile")
  func whatWouldBeARaceDoesNotCompile() throws {
    try expect(Self.flows, followingData: true)
  }

  @Test("Similar code that is correct compiles")
  func theNearestThingsCompile() throws {
    let problems = try RefusedByCompiler.problems(
      in: Self.program(Self.accepted), followingData: true
    ).filter { $0.severity != "note" }
    #expect(problems.map(\.description) == [])
  }

  private func expect(_ cases: [Case], followingData: Bool) throws {
    let problems = try RefusedByCompiler.problems(
      in: Self.program(cases.map(\.code)), followingData: followingData)
    for (index, item) in cases.enumerated() {
      let line = Self.firstLine + index
      let found = problems.filter { $0.line == line && $0.severity == "error" }
      #expect(found.contains { $0.message.contains(item.message) }, "\(item.code): \(found)")
    }
  }

  /// Returns a program with each case as a function on a line of its own.
  private static func program(_ cases: [String]) -> String {
    let functions = cases.enumerated().map { index, code in
      """
      func f\(index)(_ store: PersistentStore, _ manager: DataManager, _ context: \
      ManagedObjectContext, _ object: ManagedObject, _ results: FetchedResults<ManagedObject>, \
      _ request: FetchRequest<ManagedObject>, _ predicate: FetchPredicate, _ owner: Owner, \
      _ screen: Screen) async throws { \(code) }
      """
    }
    return head + functions.joined(separator: "\n")
  }

  private static let head = """
    import ArborData
    func share<T: Sendable>(_ value: T) {}
    actor Owner {
      let context: ManagedObjectContext
      init(_ store: PersistentStore) { context = store.makeContext() }
      func give() throws -> ManagedObject { try context.insert("A") }
      func take(_ object: ManagedObject) {}
      func take(_ context: sending ManagedObjectContext) {}
    }
    @MainActor final class Screen {
      func show(_ object: ManagedObject) {}
    }

    """
  private static let firstLine = 1 + head.split(separator: "\n").count
}
