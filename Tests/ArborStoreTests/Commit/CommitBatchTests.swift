import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct CommitBatchTests {
  @Test("Consecutive large commits reuse the pages that the previous one freed")
  func largeCommitsTakeWhatTheOnesBeforeHaveFreed() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let name = String(repeating: "n", count: 200)
      let tags = try (0..<6000).map { try draft.insert("Tag", ["name": .string("\(name)\($0)")]) }
      try draft.commit()
      var sizes: [Int] = []
      for round in 0..<4 {
        let next = Draft(store.file)
        for tag in tags { try next.update(tag, ["name": .string("\(round)\(name)")]) }
        try next.commit()
        sizes.append(try store.file.environment.info().lastPage)
      }
      #expect(sizes[3] <= sizes[0] + sizes[0] / 10, "\(sizes)")
    }
  }
}
