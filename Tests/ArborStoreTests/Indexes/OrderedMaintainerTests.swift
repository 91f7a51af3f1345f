import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

/// Commits of ordered relationships: order, membership, and the amount of writing.
@Suite struct OrderedMaintainerTests {
  private func use(
    _ body: (Draft, ObjectNumber, [ObjectNumber]) throws -> Void
  ) throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let project = try draft.insert("Project")
      let tasks = try (0..<8).map { _ in try draft.insert("Task", to: ["project": project]) }
      try draft.edit(project, "tasks", .reorder(tasks))
      try draft.commit()
      try body(draft, project, tasks)
    }
  }

  private func positions(_ draft: Draft, _ owner: ObjectNumber) throws -> [UInt64] {
    let snapshot = try draft.file.snapshot()
    defer { snapshot.close() }
    let order = try Vandal(file: draft.file).relationship("Project", "tasks").order
    return try OrderedMembers.read(snapshot.reader, #require(order), owner).map(\.position)
  }

  @Test("Members are returned in the order in which they were committed")
  func keepsTheOrderGiven() throws {
    var random = SeededRandom()
    try use { draft, project, tasks in
      var order = tasks
      for _ in 0..<60 {
        order.shuffle(using: &random)
        try draft.edit(project, "tasks", .reorder(order))
        try draft.commit()
        #expect(try draft.members(project, "tasks") == order, "seed \(random.seed)")
      }
    }
  }

  @Test("The edits of an ordered relationship are applied one after another")
  func appliesEditsInTheirOrder() throws {
    try use { draft, project, tasks in
      let new = try draft.insert("Task", to: ["project": project])
      try draft.edit(project, "tasks", .remove(tasks[2]))
      try draft.edit(project, "tasks", .add(new))
      try draft.edit(project, "tasks", .add(tasks[2]))
      try draft.edit(project, "tasks", .add(tasks[0]))
      try draft.commit()
      let rest = [0, 1, 3, 4, 5, 6, 7].map { tasks[$0] }
      #expect(try draft.members(project, "tasks") == rest + [new, tasks[2]])
    }
  }

  @Test("Moving one member keeps the positions of the others")
  func movesOnlyWhoMoves() throws {
    try use { draft, project, tasks in
      let before = try positions(draft, project)
      try draft.edit(
        project, "tasks", .reorder([tasks[7]] + tasks.dropLast()))
      try draft.commit()
      let after = try positions(draft, project)
      #expect(Array(after.dropFirst()) == Array(before.dropLast()))
    }
  }

  /// Insertions at the front halve the gap until all members are renumbered.
  @Test("Any number of members can be inserted at the front")
  func frontInsertionsNeverRunOut() throws {
    try use { draft, project, tasks in
      var order = tasks
      for _ in 0..<80 {
        let new = try draft.insert("Task", to: ["project": project])
        order.insert(new, at: 0)
        try draft.edit(project, "tasks", .reorder(order))
        try draft.commit()
      }
      #expect(try draft.members(project, "tasks") == order)
      let found = try positions(draft, project)
      #expect(zip(found, found.dropFirst()).allSatisfy { $0 < $1 })
    }
  }

  @Test("Deleting an owner with its members leaves no links or positions")
  func deletedOwnersLeaveNothing() throws {
    try use { draft, project, tasks in
      for number in tasks + [project] { try draft.delete(number) }
      try draft.commit()
      #expect(try draft.file.check().linkCount == 0)
      #expect(try positions(draft, project) == [])
    }
  }
}
