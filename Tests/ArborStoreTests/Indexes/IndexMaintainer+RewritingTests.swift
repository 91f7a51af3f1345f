import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

/// Commits that rewrite an index because they change it in many places. Each test ends with a check
/// of the store, which compares every entry with its record.
@Suite struct IndexMaintainerRewritingTests {
  private func leafPages(_ index: String, _ file: StoreEngine) throws -> Int {
    let database = try Vandal(file: file).index("Employee", index)
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    return try snapshot.reader.statistics(database).leafPages
  }

  private func employees(
    _ ids: some Sequence<Int>, _ draft: Draft
  ) throws -> [ObjectNumber] {
    try ids.map { id in
      try draft.insert(
        "Employee", ["employeeID": .integer(Int64(id)), "age": .integer(Int64(20 + id % 40))])
    }
  }

  @Test("Rewriting most of an index leaves its pages full")
  func whatComesAndGoesInMostPagesLeavesThemFull() throws {
    var random = SeededRandom()
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      var numbers: [ObjectNumber] = []
      for part in 0..<3 {
        let draft = Draft(store.file)
        let ids = stride(from: part, to: 9000, by: 3).shuffled(using: &random)
        numbers += try employees(ids, draft)
        try draft.commit()
        // Per entry: a key of 9 bytes padded to 10, a value of 8, a node header of 8, and an offset
        // of 2.
        #expect(try leafPages("employeeID", store.file) <= numbers.count * 28 / 4080 + 3)
      }
      let draft = Draft(store.file)
      numbers.shuffle(using: &random)
      for number in numbers[..<3000] { try draft.delete(number) }
      for (row, number) in numbers[3000..<4500].enumerated() {
        try draft.update(
          number,
          ["employeeID": .integer(Int64(10_000 + row)), "age": .integer(Int64(row % 90))])
      }
      _ = try employees(20_000..<20_500, draft)
      try draft.commit()
      #expect(try leafPages("employeeID", store.file) <= 6500 * 28 / 4080 + 3)
    }
  }

  @Test("Changes in one part of an index don't rewrite the other parts")
  func changesInOnePartOfTheKeysCopyThatPart() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let numbers = try employees(0..<12_000, draft)
      try draft.commit()
      let before = try leafPages("employeeID", store.file)
      let other = Draft(store.file)
      for number in numbers[..<3000] {
        try other.update(number, ["employeeID": .integer(-Int64(number.sequence))])
      }
      try other.commit()
      // Inserting before all other entries splits pages; a rewritten index would have as many as
      // before.
      #expect(try leafPages("employeeID", store.file) > before)
    }
  }
}
