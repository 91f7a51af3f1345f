import ArborModel
import ArborStore
import TestSupport
import Testing

/// Unique indexes with conditions and folded columns, which apply only to the objects they contain.
@Suite struct IndexFilterTests {
  private func violation(_ draft: Draft) -> UniquenessViolation? {
    do {
      try draft.commit()
      return nil
    } catch StoreError.notUnique(let violations) {
      return violations.first
    } catch {
      Issue.record(error)
      return nil
    }
  }

  private func use(_ body: (Draft) throws -> Void) throws {
    try TemporaryStore.use(IndexKindsModel.make(), inMemory: true) { try body(Draft($0.file)) }
  }

  @Test("Objects outside of a partial unique index may share values")
  func onlyThoseInAPartialIndexAreBound() throws {
    try use { draft in
      let first = try draft.insert("Task", ["rank": 500])
      try draft.insert("Task", ["rank": 500, "isDone": true])
      try draft.insert("Task", ["rank": 50])
      try draft.insert("Task", ["rank": 50])
      #expect(violation(draft) == nil)
      let second = try draft.insert("Task", ["rank": 500])
      let found = violation(draft)
      #expect(found?.existing == first && found?.offending == second)
      #expect(found?.properties == ["rank"] && found?.entity == "Task")
    }
  }

  @Test("A change that adds an object to a partial unique index is validated")
  func anObjectThatComesIntoTheIndexIsValidated() throws {
    try use { draft in
      let first = try draft.insert("Task", ["rank": 500])
      let second = try draft.insert("Task", ["rank": 500, "isDone": true])
      #expect(violation(draft) == nil)
      try draft.update(second, ["isDone": false])
      #expect(violation(draft)?.existing == first)
      // One object leaves the index as the other enters it.
      try draft.update(second, ["isDone": false])
      try draft.update(first, ["isDone": true])
      #expect(violation(draft) == nil)
    }
  }

  @Test("Texts that are equal when folded violate a unique folded index")
  func foldedTextsThatAgreeAreTheSame() throws {
    try use { draft in
      let first = try draft.insert("Task", ["body": "Café", "rank": 7])
      try draft.insert("Task", ["body": "Café", "rank": 8])
      try draft.insert("Task", ["rank": 7])
      try draft.insert("Task", ["rank": 7])
      #expect(violation(draft) == nil)
      try draft.insert("Task", ["body": "CAFE", "rank": 7])
      #expect(violation(draft)?.existing == first)
    }
  }

  @Test("Long folded texts are compared completely, not only by their keys")
  func longTextsAreComparedAsAWhole() throws {
    let long = String(repeating: "Ä", count: 700)
    try use { draft in
      let first = try draft.insert("Task", ["body": .string(long + "x"), "rank": 7])
      try draft.insert("Task", ["body": .string(long + "y"), "rank": 7])
      #expect(violation(draft) == nil)
      try draft.insert("Task", ["body": .string(long.lowercased() + "X"), "rank": 7])
      #expect(violation(draft)?.existing == first)
      try draft.insert("Task", ["body": .string(long.lowercased() + "X"), "rank": 8])
      #expect(violation(draft) == nil)
      // Both objects are inserted in one commit.
      try draft.insert("Task", ["body": .string(long + "z"), "rank": 7])
      try draft.insert("Task", ["body": .string(long + "Z"), "rank": 7])
      #expect(violation(draft) != nil)
    }
  }

  @Test("Objects with `nil` in a column of a unique index may share the other values")
  func nilInAColumnBindsNobody() throws {
    try use { draft in
      try draft.insert("Task", ["title": "a", "isDone": true])
      try draft.insert("Task", ["title": "a", "isDone": true])
      let third = try draft.insert("Task", ["title": "a", "rank": 1, "isDone": true])
      #expect(violation(draft) == nil)
      try draft.insert("Task", ["title": "a", "rank": 1, "isDone": true])
      #expect(violation(draft)?.existing == third)
    }
  }
}
