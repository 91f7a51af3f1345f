import ArborModel
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// The cached ends of databases, which are valid until another writer commits.
@Suite struct CommitWorkspaceTests {
  private func commit(_ draft: Draft, by batch: CommitBatch, to file: StoreEngine) throws {
    var waiting = [CommitTicket(draft.changes)]
    defer { draft.changes = ChangeSet() }
    let done = withExtendedLifetime(draft) {
      batch.commitGroup(to: file) {
        defer { waiting = [] }
        return waiting
      }
    }
    _ = try done.first?.result?.get()
  }

  @Test("The writers of two processes can alternate without corrupting the store")
  func writersTakeTurns() throws {
    var random = SeededRandom()
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let (file, draft) = (store.file, Draft(store.file))
      let batches = [CommitBatch(), CommitBatch()]
      var names: Set<Int> = []
      for _ in 0..<400 {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let name = Int.random(in: 1000...9999, using: &random)
          guard names.insert(name).inserted else { continue }
          try draft.insert("Tag", ["name": .string("\(name)")])
        }
        guard !draft.changes.isEmpty, let batch = batches.randomElement(using: &random) else {
          continue
        }
        try commit(draft, by: batch, to: file)
      }
      #expect(try file.check().isSound, "seed \(random.seed)")
    }
  }

  @Test("An aborted transaction leaves nothing in the cache")
  func anAbortedTransactionIsForgotten() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let (file, draft) = (store.file, Draft(store.file))
      let tags = try draft.entity("Tag")
      let workspace = try CommitWorkspace(file)
      func write(_ names: [String], commits: Bool) throws {
        for name in names { try draft.insert("Tag", ["name": .string(name)]) }
        defer { draft.changes = ChangeSet() }
        let set = draft.changes
        var id: UInt64 = 0
        try? file.runTransaction { (transaction, header) throws(StoreError) in
          id = transaction.reader.id
          workspace.begin(id)
          var writer = CommitWriter(store: file, workspace: workspace, header: header)
          _ = try writer.writeChangeSet(set, transaction)
          header = writer.header
          if !commits { throw .closed }
        }
        workspace.end(id, isCommitted: commits)
      }
      try write(["b"], commits: true)
      try write(["d"], commits: false)
      // Another writer's transaction has the ID of the one that was aborted.
      try draft.insert("Tag", ["name": "f"])
      try draft.commit()
      try write(["c", "e", "g"], commits: true)
      let snapshot = try file.snapshot()
      defer { snapshot.close() }
      #expect(try snapshot.reader.entryCount(file.databases.records(tags.index)) == 5)
    }
  }

  @Test("Ascending keys fill pages even if each is committed separately")
  func singleCommitsFillPages() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let (file, draft) = (store.file, Draft(store.file))
      for round in 10_000..<12_000 {
        try draft.insert("Tag", ["name": .string("\(round)")])
        try draft.commit()
      }
      let tags = try draft.entity("Tag")
      let snapshot = try file.snapshot()
      defer { snapshot.close() }
      let names = try #require(file.databases.index(tags.index, "name"))
      let pages = try snapshot.reader.statistics(names).leafPages
      // Per entry: the key with its terminator, a node header of 8 bytes, the number, and a node
      // offset of 2 bytes.
      #expect(pages <= 2000 * (8 + 8 + 8 + 2) / 4080 + 2)
    }
  }
}
