import ArborData
import ArborModel
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

@testable import crash_writer

/// Indexes are added to a store while another process writes to it, and while the building process
/// is killed.
@Suite("Building indexes while other processes write", .serialized) struct IndexBuildingTests {
  @Test("Building indexes stops a writer that uses the former model")
  func aWriterWithTheFormerModelIsStopped() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    let (store, writer) = try CrashWriterRun.stopped(at: path) { try LedgerIndexes.open(path) }
    defer { store.close() }
    let entries = try store.makeContext().fetch(FetchRequest<Entry>())
    let written = Set(entries.map(\.round))
    #expect(written.isSuperset(of: writer.acknowledged("appended").map(Int.init)))
    let words = try store.indexes().first { $0.name == "byAmount" }
    #expect(words?.entries == entries.count)
  }

  @Test("After a kill at any moment the store has all of the indexes or none, and is sound")
  func aKillLeavesTheOldStateOrTheNew() throws {
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
      let names = Set(try store.indexes().filter { $0.entity == "Entry" }.map(\.name))
      let isNew = names.isSuperset(of: LedgerIndexes.indexes.map(\.name))
      #expect(isNew || names.isDisjoint(with: LedgerIndexes.indexes.map(\.name)))
      #expect(isNew || !hasNewState, "a later state is never lost")
      #expect(isNew || builder.acknowledged("built").isEmpty)
      hasNewState = isNew
    }
    let store = try LedgerIndexes.open(path)
    defer { store.close() }
    #expect(try store.indexes().first { $0.name == "byAmount" }?.entries == 30_000)
    try store.check()
  }
  /// After a kill between any two batches the partial indexes are correct, the store can be used,
  /// and the next opening continues the build.
  @Test("A kill between any two batches leaves correct partial indexes")
  func aKillBehindAnyBatchGoesOn() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let original = folder.path("original.arbor")
    let (count, batch) = (240, 200)
    try LedgerFile.fill(original, count: count)
    var (event, lastLeft) = (1, Int.max)
    while true {
      let path = folder.path("ledger-\(event).arbor")
      try FileManager.default.copyItem(atPath: original, toPath: path)
      let isDone = try CrashWriterRun(["build", path, "\(event)", "\(batch)"]).finish().status == 0
      try TemporaryStore.check(path: path)
      var reading = StoreOpening(.file(path), model: nil)
      reading.isReadOnly = true
      let killed = try StoreEngine.open(reading)
      let builds = try killed.indexBuilds()
      killed.close()
      #expect(builds.isEmpty == isDone)
      // Every completed batch is kept, including those of earlier processes.
      let left = builds.reduce(0) { $0 + $1.objectCount - $1.objectsDone }
      #expect(left < lastLeft, "event \(event): \(builds)")
      lastLeft = left
      if event == 2 {
        let listed = try BuiltProgram("lmdb-inspect").run(["index", path]).output
        #expect(listed.contains("being filled: about 199 of 240 objects"), "\(listed)")
        #expect(listed.contains("being filled: about 0 of 240 objects"), "\(listed)")
      }
      let next = try CrashWriterRun(["build", path, "0", "\(batch)"]).finish()
      #expect(next.status == 0, "event \(event): \(next.errors)")
      let store = try PersistentStore(at: .file(URL(filePath: path)))
      defer { store.close() }
      #expect(try store.indexBuilds().isEmpty)
      #expect(try store.indexes().first { $0.name == "byNote" }?.entries == count)
      try store.check()
      if isDone { break }
      event += 1
    }
    #expect(event > 8)
  }

  @Test("A full disk during the build is reported, and the build continues later")
  func aFullDiskInTheMiddleGoesOn() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    try LedgerFile.fill(path, count: 2000)
    let size = try Data(contentsOf: URL(filePath: path)).count
    let full = try CrashWriterRun(
      ["build", path, "0", "300"],
      environment: ["CRASH_WRITER_FILE_LIMIT": "\(size + 300_000)"]
    ).finish()
    #expect(full.status == 1 && full.errors.contains("diskFull"), "\(full.errors)")
    try TemporaryStore.check(path: path)
    let next = try CrashWriterRun(["build", path, "0", "300"]).finish()
    #expect(next.status == 0, "\(next.errors)")
    let store = try PersistentStore(at: .file(URL(filePath: path)))
    defer { store.close() }
    #expect(try store.indexBuilds().isEmpty)
    try store.check()
  }

  /// While one process builds the indexes, another inserts, changes and deletes entries, and uses
  /// the indexes once they are ready.
  @Test("Another process can change entries while the indexes are built")
  func anotherProcessCommitsBesideTheBuild() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    try LedgerFile.fill(path, count: 1500)
    var opening = try LedgerIndexes.opening(path, batch: 100)
    opening.indexBuilds = .left
    let file = try StoreEngine.open(opening)
    defer { file.close() }
    let entity = try Draft(file).entity("Entry")
    let snapshot = try file.snapshot()
    var entries = try snapshot.fetchNumbers(StoreQuery(entity: entity), overlay: nil)
    snapshot.close()
    let random = SeededRandom()
    var draws = random
    let draft = Draft(file)
    let builder = try CrashWriterRun(["build", path, "0", "100"])
    var (commits, nextID) = (0, Int64(10_000))
    while commits < 700, try !file.indexBuilds().isEmpty {
      var inserted: [ObjectNumber] = []
      for _ in 0..<4 {
        let index = Int.random(in: 0..<entries.count, using: &draws)
        switch Int.random(in: 0..<3, using: &draws) {
        case 0:
          nextID += 1
          let values: [String: PropertyValue] = [
            "entryID": .integer(nextID), "amount": 500, "note": .string("late \(commits)"),
          ]
          inserted.append(try draft.insert("Entry", values))
        case 1: try draft.delete(entries.remove(at: index))
        default:
          let values: [String: PropertyValue] = [
            "amount": -1, "note": .string("changed \(commits)"),
          ]
          try draft.update(entries.remove(at: index), values)
        }
      }
      try draft.commit()
      entries += inserted
      commits += 1
    }
    let end = builder.finish()
    #expect(end.status == 0, "\(end.errors)")
    #expect(commits > 3)
    let report = try file.check()
    #expect(report.isSound, "\(report), seed \(random.seed)")
  }
}
