import ArborModel
import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct StoreHeaderTests {
  private func header(_ file: StoreEngine) throws -> HeaderRecord {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    return try StoreHeader.read(snapshot.reader)
  }

  @Test("Every commit updates the transaction, the boot ID and the sequence in the header")
  func everyCommitRenewsIt() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let draft = Draft(store.file)
      var last = try header(store.file)
      #expect(last.storeID == store.file.id && last.sequence == 0)
      #expect(last.bootID == StoreHeader.bootID)
      #expect(Int(last.pageSize) == (try store.file.environment.info().pageSize))
      for round in 1...3 {
        try draft.insert("Tag", ["name": .string("\(round)")])
        try draft.commit()
        let next = try header(store.file)
        #expect(next.sequence == last.sequence + 1)
        #expect(next.transactionID > last.transactionID)
        #expect(next.transactionID == (try store.file.environment.lastTransactionID))
        last = next
      }
      // A reservation is a transaction, but not a commit.
      _ = try store.file.takeUniqueIDs(1)
      let reserved = try header(store.file)
      #expect(reserved.sequence == last.sequence)
      #expect(reserved.transactionID == last.transactionID + 1)
    }
  }

  private func entry(_ database: Database, of file: StoreEngine) throws -> [UInt8]? {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let key = Array(StoreFormat.headerKey.utf8)
    return try snapshot.reader.get(database, key: key).map(Array.init)
  }

  @Test("The header's mark, which is stored in the main database, matches the header")
  func theMarkIsTheHeadersBeginning() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let mark = try #require(try entry(store.file.databases.arbor, of: store.file))
      #expect(try header(store.file).mark == mark)
      #expect(mark.starts(with: HeaderRecord.magic + [5, 0, 0, 0]))
      #expect(try entry(.unnamed, of: store.file) == header(store.file).encoded())
    }
  }

  @Test("The boot ID is that of the system")
  func theMachineKnowsItsStart() throws {
    #if os(Linux)
      let text = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
      let known = UUID(uuidString: text.trimmingCharacters(in: .whitespacesAndNewlines))
      #expect(StoreHeader.bootID == known)
    #endif
    #expect(StoreHeader.bootID != UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
  }
}
