import ArborModel
@testable import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct IndexBuilderTests {
  @Test("Sorted runs of any length result in the same entries", arguments: [1, 1500, 1 << 20])
  func everyRunLengthBuildsTheSame(length: Int) throws {
    try TemporaryStore.use(IndexKindsModel.make()) { store in
      var random = SeededRandom()
      let draft = Draft(store.file)
      for row in 0..<4000 {
        try draft.insert(
          "Task",
          [
            "title": .string("T\(Int.random(in: 0..<300, using: &random))"),
            "body": .string("word\(row % 17) and w\(row % 701)"),
            "rank": .integer(Int64.random(in: -50...90, using: &random)),
          ])
      }
      try draft.commit()
      let expected = try indexDump(store.file)
      let file = store.file
      let builder = try IndexBuilder(
        file.schema, file.databases, file.layouts, storeID: file.id, runLength: length
      ) { _ in true }
      try Vandal(file: file).write { transaction, _ in
        for index in file.databases.indexes { try transaction.clear(index.database) }
        try builder.build(transaction)
      }
      #expect(try indexDump(file) == expected, "seed \(random.seed)")
    }
  }
}
