import ArborModel
import LMDB
import TestSupport
import Testing

@testable import ArborStore

@Suite struct GreatestNumberTests {
  @Test("The greatest number is read from the database only if it isn't known")
  func looksOnlyWhereItDoesNotKnow() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let tags = try #require(store.file.schema.entity(named: "Tag"))
      let database = store.file.databases.records(tags.index)
      var greatest = GreatestNumber()
      func find() throws -> UInt64 {
        let snapshot = try store.file.snapshot()
        defer { snapshot.close() }
        return try greatest.find(in: database, snapshot.reader)
      }
      #expect(try find() == 0)
      let draft = Draft(store.file)
      _ = try draft.insert("Tag", ["name": "first"])
      let last = try draft.insert("Tag", ["name": "last"])
      try draft.commit()
      #expect(try find() == 0)
      greatest.forget()
      #expect(try find() == last.rawValue)
      greatest.note(last.rawValue + 1)
      #expect(try find() == last.rawValue + 1)
    }
  }
}
