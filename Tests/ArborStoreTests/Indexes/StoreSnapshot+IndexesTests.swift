import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct StoreSnapshotIndexesTests {
  @Test("Indexes are listed with their columns, sizes and use counts")
  func listsIndexesWithSizesAndUses() throws {
    try TemporaryStore.use(IndexKindsModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      for rank in 0..<10 {
        try draft.insert("Task", ["rank": .integer(Int64(rank)), "body": "two words"])
      }
      try draft.commit()
      let names = ["bodyWords", "byTitle", "onceOpen", "onceTitle", "open", "pair"]
      let index = try #require(store.file.databases.indexes.firstIndex { $0.schema.name == "open" })
      for _ in 0..<3 { store.file.noteUse(ofIndex: index) }
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      let indexes = try snapshot.indexes()
      #expect(indexes.map(\.name) == names)
      #expect(indexes.map(\.entries) == [20, 10, 0, 1, 10, 0])
      #expect(indexes.map(\.uses) == [0, 0, 0, 0, 3, 0])
      #expect(indexes.map(\.isPartial) == [false, false, true, true, true, true])
      #expect(indexes.allSatisfy { $0.bytes == $0.pages * 4096 || $0.pages == 0 })
      #expect(indexes[1].columns == [.init("title", kind: .folded), .init("rank")])
      #expect(
        indexes[4].description
          == "Task.open (rank) where isDone == NO · 10 entries · 1 page · used 3 times")
    }
  }
}
