import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

@testable import crash_writer

/// A store gets indexes while another process writes to it, and while its own process is killed.
@Suite(.serialized) struct IndexBuildingTests {
  /// Who writes with the former model is stopped before it writes past an index it does not know.
  @Test func aWriterWithTheFormerModelIsStopped() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    let (store, writer) = try CrashWriterRun.stopped(at: path) { try LedgerIndexes.open(path) }
    defer { store.close() }
    let entries = try store.makeContext().fetch(FetchRequest<Entry>())
    let written = Set(entries.map(\.round))
    #expect(written.isSuperset(of: writer.acknowledged("appended").map(Int.init)))
    let words = try store.indexes.first { $0.name == "byAmount" }
    #expect(words?.entries == entries.count)
  }

  /// After a kill at any moment the store has all of the indexes or none, and is sound.
  @Test func aKillLeavesTheOldStateOrTheNew() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    try LedgerFile.fill(path, count: 30_000)
    var hasNewState = false
    let delays = [0, 80, 200, 450, 1200]
    for delay in TestLength.of(delays, long: Array(stride(from: 0, through: 2500, by: 50))) {
      let builder = try CrashWriterRun(["index", path, "0", "1"])
      _ = builder.read(until: 1, "building")
      Thread.sleep(forTimeInterval: Double(delay) / 1000)
      builder.kill()
      let store = try PersistentStore(at: .file(URL(filePath: path)))
      defer { store.close() }
      try store.check()
      let names = Set(try store.indexes.filter { $0.entity == "Entry" }.map(\.name))
      let isNew = names.isSuperset(of: LedgerIndexes.indexes.map(\.name))
      #expect(isNew || names.isDisjoint(with: LedgerIndexes.indexes.map(\.name)))
      #expect(isNew || !hasNewState, "a later state is never lost")
      #expect(isNew || builder.acknowledged("built").isEmpty)
      hasNewState = isNew
    }
    let store = try LedgerIndexes.open(path)
    defer { store.close() }
    #expect(try store.indexes.first { $0.name == "byAmount" }?.entries == 30_000)
    try store.check()
  }
}
