import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct IndexMaintainerTests {
  private func entries(_ file: StoreEngine, _ index: Database) throws -> [UInt64] {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let cursor = try snapshot.reader.cursor(index)
    var numbers: [UInt64] = []
    while let entry = try cursor.next() { numbers.append(cursor.number(of: entry)) }
    return numbers
  }

  @Test("An index has one entry per object, which follows updates and deletions")
  func keepsOneEntryForEachObject() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let people = try (0..<30).map { number in
        try draft.insert(
          "Employee", ["employeeID": .integer(Int64(29 - number)), "age": .integer(20)])
      }
      try draft.commit()
      let vandal = Vandal(file: store.file)
      let byID = try vandal.index("Employee", "employeeID")
      #expect(try entries(store.file, byID) == people.reversed().map(\.rawValue))
      try draft.update(people[0], ["employeeID": -5])
      try draft.update(people[1], ["age": 30])
      try draft.delete(people[2])
      try draft.commit()
      let rest = people.dropFirst(3).reversed().map(\.rawValue)
      #expect(
        try entries(store.file, byID)
          == [people[0].rawValue] + rest + [people[1].rawValue])
      let byAge = try vandal.index("Employee", "age")
      #expect(try entries(store.file, byAge).last == people[1].rawValue)
    }
  }

  @Test("Changing an attribute without an index leaves the index entries unchanged")
  func otherFieldsCostNothing() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let ada = try draft.insert("Employee", ["employeeID": 1, "salary": 1])
      try draft.commit()
      let before = try indexDump(store.file)
      try draft.update(ada, ["salary": 2])
      try draft.commit()
      #expect(try indexDump(store.file) == before)
    }
  }

  @Test("Entries in ascending or descending order fill their pages", arguments: [false, true])
  func sortedEntriesFillPages(isReversed: Bool) throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      for number in 0..<3000 {
        let id = isReversed ? 3000 - number : number
        try draft.insert("Employee", ["employeeID": .integer(Int64(id))])
      }
      try draft.commit()
      let index = try Vandal(file: store.file).index("Employee", "employeeID")
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      // Per entry: a key of 9 bytes padded to 10, a value of 8, a node header of 8, and an offset
      // of 2.
      let pages = try snapshot.reader.statistics(index).leafPages
      #expect(pages <= 3000 * 28 / 4080 + 2)
    }
  }
}
