import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct StoreSnapshotTests {
  private func use(_ body: (TemporaryStore, Draft) throws -> Void) throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      try body(store, Draft(store.file))
    }
  }

  @Test("A snapshot doesn't change after later commits")
  func staysAsItWas() throws {
    try use { store, draft in
      let tag = try draft.insert("Tag", ["name": "a"])
      try draft.commit()
      let before = try store.file.snapshot()
      try draft.update(tag, ["name": "b"])
      let other = try draft.insert("Tag", ["name": "c"])
      try draft.commit()
      let after = try store.file.snapshot()
      #expect(before.sequence == 1 && after.sequence == 2)
      #expect(try before.exists(tag) && !before.exists(other) && after.exists(other))
      let allocator = SlabAllocator()
      let entity = try draft.entity("Tag")
      let field = try draft.field("name", entity)
      #expect(try before.record(tag, allocator: allocator)?.string(field) == "a")
      #expect(try after.record(tag, allocator: allocator)?.string(field) == "b")
      before.close()
      after.close()
    }
  }

  @Test("A closed snapshot rejects all reads")
  func refusesWorkOnceItIsClosed() throws {
    try use { store, draft in
      let tag = try draft.insert("Tag", ["name": "a"])
      try draft.commit()
      let snapshot = try store.file.snapshot()
      snapshot.close()
      snapshot.close()
      let reads: [() throws -> Void] = [
        { _ = try snapshot.exists(tag) },
        { _ = try snapshot.record(tag, allocator: SlabAllocator()) },
        { _ = try snapshot.history(after: 0) },
      ]
      for (index, read) in reads.enumerated() {
        do {
          try read()
          Issue.record("Read \(index) succeeded.")
        } catch StoreError.closed {}
      }
    }
  }

  @Test("Objects of abstract and unknown entities don't exist in a snapshot")
  func knowsNothingOfOtherEntities() throws {
    try use { store, draft in
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      let abstract = ObjectNumber(entity: try draft.entity("Person").number, sequence: 1)
      let unknown = ObjectNumber(entity: 4000, sequence: 1)
      for number in [abstract, unknown] {
        #expect(try !snapshot.exists(number))
        #expect(try snapshot.record(number, allocator: SlabAllocator()) == nil)
      }
    }
  }

  @Test("Damaged records are errors and never read as values")
  func damagedRecordsAreErrorsAndNeverValues() throws {
    let folder = try TemporaryFolder()
    let file = try StoreEngine.open(
      StoreOpening(.file(folder.path("a.arbor")), model: OfficeModel.make()))
    defer { file.close() }
    let draft = Draft(file)
    let tag = try draft.insert("Tag", ["name": "a"])
    try draft.commit()
    let vandal = Vandal(file: file)
    let records = try vandal.database(records: "Tag")
    for index in 0..<12 {
      try vandal.write { transaction, _ in
        var bytes = try transaction.get(records, key: tag.rawValue).map(Array.init) ?? []
        bytes[index] ^= 0x10
        _ = try bytes.withUnsafeBytes {
          try transaction.put(records, key: tag.rawValue, value: $0)
        }
      }
      do {
        _ = try draft.value(tag, "name")
        Issue.record("byte \(index)")
      } catch StoreError.corrupted(let entity, let object, _) {
        #expect(entity == "Tag" && object == tag)
      }
      // A commit based on it is rejected as well.
      draft.changes.records = [.delete(tag, from: 1)]
      #expect(throws: StoreError.self) { try draft.commit() }
      try vandal.write { transaction, _ in
        var bytes = try transaction.get(records, key: tag.rawValue).map(Array.init) ?? []
        bytes[index] ^= 0x10
        _ = try bytes.withUnsafeBytes {
          try transaction.put(records, key: tag.rawValue, value: $0)
        }
      }
    }
    #expect(try draft.value(tag, "name") == "a")
  }

  @Test("Many members of a relationship are listed completely")
  func listsMembersInBatches() throws {
    try use { store, draft in
      let company = try draft.insert("Company", ["name": "Foo"])
      var expected: [ObjectNumber] = []
      for id in 0..<3000 {
        expected.append(
          try draft.insert(
            "Employee", ["employeeID": .integer(Int64(id))], to: ["company": company]))
      }
      try draft.commit()
      #expect(try draft.members(company, "employees") == expected)
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      let relationship = try draft.relationship("employees", of: company)
      #expect(try snapshot.memberCount(relationship, of: company) == 3000)
      #expect(try snapshot.memberCount(relationship, of: expected[0]) == 0)
    }
  }

  // MARK: History

  @Test("The history describes the changes of each commit")
  func tellsWhatEachCommitDid() throws {
    try use { store, draft in
      draft.changes.author = "Ada"
      draft.changes.contextName = "editor"
      let tag = try draft.insert("Tag", ["name": "a"])
      let ada = try draft.insert("Employee", ["employeeID": 1])
      try draft.commit()
      try draft.link(ada, "tags", tag)
      try draft.commit()
      draft.changes.metadata = [("note", [1, 2, 3])]
      try draft.commit()
      try draft.unlink(ada, "tags", tag)
      try draft.delete(tag)
      try draft.commit()
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      guard case .entries(let all) = try snapshot.history(after: 0) else {
        throw DraftError("history")
      }
      #expect(all.map(\.sequence) == [1, 2, 3, 4])
      #expect(all[0].author == "Ada" && all[0].contextName == "editor")
      #expect(all[0].changes.map(\.number) == [ada, tag].sorted())
      #expect(all[0].changes.allSatisfy { $0.kind == .insert })
      #expect(all[1].author == nil)
      let schema = store.file.schema
      let changed = all[1].changes.map { change in
        schema.entity(of: change.number)?.propertyNames(changed: change.changedProperties)
      }
      #expect(changed == [["tags"], ["employees"]])
      #expect(all[2].changes == [] && !all[2].isBulk)
      #expect(all[3].changes.map(\.kind) == [.update, .delete])
      #expect(try snapshot.history(after: 3) == .entries([all[3]]))
      #expect(try snapshot.history(after: 4) == .entries([]))
      #expect(try store.file.metadata("note") == [1, 2, 3])
      #expect(try store.file.metadata("other") == nil)
    }
  }

  @Test("Commits beyond the length of the history are reported as too old")
  func forgetsOldCommits() throws {
    try use { store, draft in
      for round in 0..<1100 {
        draft.changes.metadata = [("round", [UInt8(round & 255)])]
        try draft.commit()
      }
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      #expect(try snapshot.history(after: 67) == .tooOld)
      guard case .entries(let kept) = try snapshot.history(after: 100) else {
        throw DraftError("history")
      }
      #expect(kept.map(\.sequence) == Array(101...1100))
    }
  }

  @Test("Bulk changes are marked in the history without a list of objects")
  func doesNotListBulkChanges() throws {
    try use { store, draft in
      for round in 0...StoreFormat.maximumListedChanges {
        try draft.insert("Tag", ["name": .string("\(round)")])
      }
      try draft.commit()
      try store.file.purge()
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      guard case .entries(let entries) = try snapshot.history(after: 0) else {
        throw DraftError("history")
      }
      #expect(entries.map(\.isBulk) == [true, true])
      #expect(entries.allSatisfy { $0.changes == [] })
    }
  }
}
