import ArborModel
@testable import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct StoreHeaderTests {
  private func header(_ file: StoreEngine) throws -> HeaderRecord {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    return try StoreHeader.read(snapshot.reader, file.databases.arbor)
  }

  /// Every commit names its transaction, its machine's start and its sequence.
  @Test func everyCommitRenewsIt() throws {
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
      // A reservation is a transaction and no commit.
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

  /// A file of format 1 is read as it is, and brought to the present one by what is written first.
  /// Libraries of that format find a version in the header's place that they do not know.
  @Test func filesOfFormatOneAreBroughtUp() throws {
    let folder = try TemporaryFolder()
    var opening = StoreOpening(.file(folder.path("a.arbor")), model: try OfficeModel.make())
    do {
      let file = try StoreEngine.open(opening)
      defer { file.close() }
      let mark = try #require(try entry(file.databases.arbor, of: file))
      #expect(Array(try header(file).encoded()[..<mark.count]) == mark)
      #expect(mark.starts(with: HeaderRecord.magic + [3, 0, 4, 0]))
      let draft = Draft(file)
      try draft.insert("Tag", ["name": "first"])
      try draft.commit()
      try Vandal(file: file).write { _, header in
        (header.majorVersion, header.minorVersion) = (1, 3)
      }
    }
    opening.isReadOnly = true
    do {
      let file = try StoreEngine.open(opening)
      defer { file.close() }
      #expect(try header(file).majorVersion == 1 && header(file).sequence == 1)
      #expect(try entry(.unnamed, of: file) == nil)
      #expect(try file.check().isSound)
    }
    opening.isReadOnly = false
    let file = try StoreEngine.open(opening)
    defer { file.close() }
    #expect(try header(file).majorVersion == 1)
    let draft = Draft(file)
    try draft.insert("Tag", ["name": "second"])
    try draft.commit()
    let raised = try header(file)
    #expect((raised.majorVersion, raised.minorVersion) == (3, 4) && raised.sequence == 2)
    #expect(try entry(.unnamed, of: file) == raised.encoded())
    #expect(try entry(file.databases.arbor, of: file) == raised.mark)
    #expect(try file.check().isSound)
  }

  /// Files of format 1 may have more commits than those of format 2; what comes first lets them go.
  @Test func whatIsTooManyGoesWithFormatOne() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let (file, history) = (store.file, store.file.databases.history)
      let draft = Draft(file)
      try draft.insert("Tag", ["name": "first"])
      try draft.commit()
      let most = StoreFormat.longestHistoryOfFormatOne
      let entries = (1...most).map { sequence in
        HistoryCodec.encode(
          HistoryEntry(
            sequence: sequence, date: Date(), author: nil, contextName: nil, isBulk: false,
            changes: []), file.schema)
      }
      try Vandal(file: file).write { transaction, header in
        for (index, entry) in entries.enumerated() {
          try entry.withUnsafeBytes {
            _ = try transaction.put(history, key: UInt64(index) + 1, value: $0)
          }
        }
        (header.sequence, header.latestCommits) = (most, LatestCommits())
        (header.majorVersion, header.minorVersion) = (1, 2)
      }
      #expect(try file.check().isSound)
      _ = try file.takeUniqueIDs(1)
      #expect(try header(file).majorVersion == 3)
      #expect(try file.check().isSound)
      let snapshot = try file.snapshot()
      defer { snapshot.close() }
      #expect(try snapshot.reader.entryCount(history) == Int(StoreFormat.historyLength))
    }
  }

  @Test func theMachineKnowsItsStart() {
    #expect(StoreHeader.bootID != UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
  }
}
