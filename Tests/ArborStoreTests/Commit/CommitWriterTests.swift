import ArborModel
@testable import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct CommitWriterTests {
  @Test("Records are stored compactly, without the gaps that updates left in memory")
  func recordsAreStoredCompact() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let entity = try Draft(store.file).entity("Tag")
      let field = try Draft(store.file).field("name", entity)
      let allocator = SlabAllocator()
      var record = RecordBuffer(copying: entity.layout.template, into: allocator)
      for length in [5, 500, 50, 5000, 3] {
        record.store(field, String(repeating: "x", count: length), allocator: allocator)
      }
      let number = ObjectNumber(
        entity: entity.number, sequence: try store.file.takeNumbers(1, for: entity).lowerBound)
      var set = ChangeSet()
      set.records = [.insert(number, record.view)]
      #expect(try store.file.commit(set).sequence == 1)
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      let database = store.file.databases.records(entity.index)
      let stored = try snapshot.reader.get(database, key: number.rawValue)
      #expect(stored?.count == entity.layout.fixedEnd + 3 + RecordLayout.trailerSize)
    }
  }

  @Test("Records in ascending order fill their pages")
  func ascendingRecordsFillPages() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      for _ in 0..<2000 { try draft.insert("Tag", ["name": "0123456789"]) }
      try draft.commit()
      let entity = try draft.entity("Tag")
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      let size = entity.layout.fixedEnd + 10 + RecordLayout.trailerSize
      // Per record: the key of 8 bytes, a node header of 8 bytes, and a node offset of 2 bytes.
      let pages = try snapshot.reader.statistics(
        store.file.databases.records(entity.index)
      ).leafPages
      #expect(pages <= 2000 * (size + size % 2 + 18) / 4080 + 2)
    }
  }

  @Test("Metadata is set and removed")
  func metadataIsSetAndRemoved() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let draft = Draft(store.file)
      draft.changes.metadata = [("a", [1]), ("b", []), ("header", [2])]
      try draft.commit()
      #expect(try store.file.metadata("a") == [1])
      #expect(try store.file.metadata("b") == [])
      #expect(try store.file.metadata("header") == [2])
      draft.changes.metadata = [("a", nil), ("c", nil), ("b", [3])]
      try draft.commit()
      try store.reopen()
      #expect(try store.file.metadata("a") == nil)
      #expect(try store.file.metadata("b") == [3])
    }
  }

  @Test("The numbers of one block may be committed in any order")
  func commitsMayLandOutOfOrder() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let entity = try draft.entity("Tag")
      let taken = try store.file.takeNumbers(40, for: entity)
      var order = Array(taken)
      var random = SeededRandom()
      order.shuffle(using: &random)
      for sequence in order {
        try draft.insert(
          "Tag", ["name": .string("\(sequence)")],
          number: ObjectNumber(entity: entity.number, sequence: sequence))
        if sequence % 3 == 0 { try draft.commit() }
      }
      try draft.commit()
      #expect(try store.file.check().recordCount == 40, "seed \(random.seed)")
    }
  }

  @Test(
    "Change sets that share a transaction see the changes of previous ones", arguments: [20, 300])
  func aSetSeesThoseBeforeIt(count: Int) throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let tags = try (0..<count).map { _ in try draft.insert("Tag", ["name": "first"]) }
      try draft.commit()
      var random = SeededRandom()
      let drafts = try [("second", 1), ("stale", 1), ("third", 2)].map { name, version in
        let draft = Draft(store.file)
        for tag in tags.shuffled(using: &random) {
          try draft.update(tag, ["name": .string(name)], from: UInt32(version))
        }
        return draft
      }
      var waiting = drafts.map { CommitTicket($0.changes) }
      let done = withExtendedLifetime(drafts) {
        CommitBatch().commitGroup(to: store.file) {
          defer { waiting = [] }
          return waiting
        }
      }
      #expect(try done[0].result?.get().sequence == 2)
      guard case .failure(.conflict(let conflicts)) = done[1].result else {
        throw DraftError("The second set was based on what the first has changed.")
      }
      #expect(Set(conflicts.map(\.number)) == Set(tags), "seed \(random.seed)")
      #expect(try done[2].result?.get().sequence == 3)
      for tag in tags { #expect(try draft.value(tag, "name") == "third") }
    }
  }
}
