import ArborModel
@testable import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct RecordsAheadTests {
  @Test("The stored records of any changes are returned in the order of the changes")
  func findsWhatIsStored() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let tags = try (0..<100).map { try draft.insert("Tag", ["name": .string("\($0)")]) }
      try draft.commit()
      for tag in tags where tag.sequence % 7 == 0 { try draft.delete(tag) }
      try draft.commit()
      let entity = try draft.entity("Tag")
      let database = store.file.databases.records(entity.index)
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      let reader = try snapshot.reader
      var random = SeededRandom()
      for count in [0, 1, 15, 16, 17, 40, 100] {
        let changes = tags.shuffled(using: &random).prefix(count).map {
          ChangeSet.RecordChange.delete($0, from: 1)
        }
        let last = tags[80].rawValue
        var found = RecordsAhead(reader, database, last: last)
        for position in changes.indices {
          if found.isEmpty { try found.find(changes[position...]) }
          let number = changes[position].number
          let isSought = number.rawValue <= last
          let stored = isSought ? try reader.get(database, key: number.rawValue) : nil
          #expect(found.next()?.base == stored?.baseAddress, "seed \(random.seed)")
        }
        #expect(found.isEmpty)
      }
    }
  }
}
