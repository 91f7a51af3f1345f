import ArborData
import ArborModel
@testable import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

@testable import crash_writer

/// A store is migrated to another model while another process writes to it, and while the migrating
/// process is killed.
@Suite("Migrations while processes write or are killed", .serialized) struct MigrationProcessTests {
  private func count(_ store: PersistentStore, _ entity: String) throws -> Int {
    try store.makeContext().count(entity)
  }

  @Test("A migration stops a writer that uses the former model")
  func aWriterWithTheFormerModelIsStopped() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    let (store, writer) = try CrashWriterRun.stopped(at: path) { try LedgerEvolution.open(path) }
    defer { store.close() }
    let written = writer.acknowledged("appended").count
    #expect(try count(store, "Posting") >= written)
    #expect(
      try store.makeContext().count(
        FetchRequest<ManagedObject>(entity: "Posting", predicate: "rank == 7"))
        == count(store, "Posting"))
    // A program with the former model is refused, so that it cannot lose data that it doesn't know.
    let former = try CrashWriterRun(["append", path, "1", "1"])
    let refused = former.finish()
    #expect(
      refused.status == 1 && refused.errors.contains("a different model"), "\(refused.errors)")
    let checked = try BuiltProgram("lmdb-inspect").run(["check", path])
    #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
  }

  /// Starts a process that reads the ledger with its original model.
  private func watcher(_ path: String, until count: Int) throws -> CrashWriterRun {
    try LedgerWriter(path: path) { _ in }.store.close()
    let watcher = try CrashWriterRun(["watch", path, "\(count)", "1"])
    #expect(watcher.read(until: 1, "sees"))
    return watcher
  }

  private func addEntries(_ store: PersistentStore, _ entity: String, _ count: Int) throws {
    let context = store.makeContext()
    for number in 0..<count {
      let entry = try context.insert(entity)
      entry["entryID"] = Int64(number)
      entry["amount"] = Int64(number)
    }
    try context.commit()
  }

  /// A reader that can still read all records continues, but cannot write without maintaining the
  /// new indexes.
  @Test("A reader continues while indexes are added")
  func aReaderGoesOnWhileIndexesAreAdded() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    let watcher = try watcher(path, until: 5)
    let store = try LedgerIndexes.open(path)
    defer { store.close() }
    try addEntries(store, "Entry", 5)
    let end = watcher.finish()
    #expect(watcher.acknowledged("sees").last == 5)
    #expect(end.status == 1 && end.errors.contains("Reopen the store."), "\(end.errors)")
    #expect(try count(store, "Entry") == 5)
    try store.check()
  }

  @Test("While a store is migrated in a copy, other processes can read it but not write to it")
  func aMarkerStopsWritersOfOtherProcesses() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    let watcher = try watcher(path, until: 5)
    var opening = StoreOpening(.file(path), model: nil)
    opening.isMigrating = true
    let file = try StoreEngine.open(opening)
    defer { file.close() }
    // Shares the engine that may write.
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    try file.setMigrationMarker(
      MigrationMarker(
        plan: 1, target: ModelFingerprint(bits: 2), generation: file.modelGeneration,
        began: Date()))
    try addEntries(store, "Entry", 5)
    let end = watcher.finish()
    #expect(watcher.acknowledged("sees").last == 5)
    #expect(end.status == 1 && end.errors.contains("has been migrating"), "\(end.errors)")
    let late = try CrashWriterRun(["append", path, "1", "1"]).finish()
    #expect(late.status == 1 && late.errors.contains("has been migrating"), "\(late.errors)")
    try file.removeMigrationMarker()
    let writer = try CrashWriterRun(["claim", path, "1", "1"]).finish()
    #expect(writer.status == 0, "\(writer.errors)")
  }

  @Test("A reader stops before it reads records in an unknown layout")
  func aReaderIsStoppedWhereRecordsChange() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    let watcher = try watcher(path, until: 5)
    let store = try LedgerEvolution.open(path)
    defer { store.close() }
    let end = watcher.finish()
    #expect(watcher.acknowledged("sees") == [0])
    #expect(end.status == 1 && end.errors.contains("Reopen the store."), "\(end.errors)")
  }

  @Test("After a kill at any moment the store has the former model or the new one, and is sound")
  func aKillLeavesTheFormerModelOrTheNew() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    let entries = 8000
    try LedgerFile.fill(path, count: entries)
    let original = try Data(contentsOf: URL(filePath: path))
    for delay in TestLength.of(
      [0, 15, 40, 90, 400], long: Array(stride(from: 0, through: 400, by: 4)))
    {
      try original.write(to: URL(filePath: path))
      let run = try CrashWriterRun(["evolve", path, "0", "1"])
      _ = run.read(until: 1, "evolving")
      Thread.sleep(forTimeInterval: Double(delay) / 1000)
      run.kill()
      let store = try PersistentStore(at: .file(URL(filePath: path)))
      defer { store.close() }
      try store.check()
      let isNew = store.model.entity(named: "Posting") != nil
      #expect(isNew != (store.model.entity(named: "Entry") != nil))
      #expect(isNew || run.acknowledged("evolved").isEmpty)
      #expect(try count(store, isNew ? "Posting" : "Entry") == entries)
    }
  }

  private static let count = TestLength.of(240, long: 100_000)
  private static let batch = TestLength.of(60, long: 1000)

  /// Migrates a copy of a store with custom code in a process that is killed, and continues in
  /// another one.
  ///
  /// - Parameter run: Migrates the store at a path; returns `false` if the process was killed.
  /// - Returns: The result of `run`.
  private func interrupt(
    _ name: String, of original: String, in folder: TemporaryFolder,
    _ run: (String) throws -> Bool
  ) throws -> Bool {
    let path = folder.path("store-\(name).arbor")
    try FileManager.default.copyItem(atPath: original, toPath: path)
    let isDone = try run(path)
    if !isDone {
      // Readers see the store as it was before the migration or as it is after.
      let reader = try PersistentStore(at: .path(path), options: StoreOptions(isReadOnly: true))
      #expect(try self.count(reader, "Entry") == Self.count)
      reader.close()
      let next = try CrashWriterRun(["convert", path, "0", "\(Self.batch)"]).finish()
      #expect(next.status == 0, "\(name): \(next.errors)")
    }
    let problem = try Conversion.problem(path, count: Self.count)
    #expect(problem == nil, "\(name): \(problem ?? "")")
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.url.path())
    where file.hasPrefix("store-") {
      #expect(!file.contains("migration"), "\(name) left \(file)")
      try FileManager.default.removeItem(at: folder.url.appending(path: file))
    }
    return isDone
  }

  @Test("A custom migration that is killed between its commits continues")
  func aKillAtAnyCommitOfCodeGoesOn() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let original = folder.path("original.arbor")
    try Conversion.fill(original, count: Self.count)
    var event = 1
    while true {
      let isDone = try interrupt("event-\(event)", of: original, in: folder) { path in
        try CrashWriterRun(["convert", path, "\(event)", "\(Self.batch)"]).finish().status == 0
      }
      if isDone { break }
      event += TestLength.of(1, long: 997)
    }
    #expect(event > 10)
  }

  @Test("A custom migration that is killed right after any commit of a batch continues")
  func aKillBehindEveryCommitOfCodeGoesOn() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let original = folder.path("original.arbor")
    try Conversion.fill(original, count: Self.count)
    // Each object is processed by two calls of the custom code.
    for commit in 1..<2 * Self.count / Self.batch {
      let isDone = try interrupt("commit-\(commit)", of: original, in: folder) { path in
        let call = commit * Self.batch + 1
        return try CrashWriterRun(["interrupt", path, "\(call)", "\(Self.batch)"]).finish().status
          == 0
      }
      #expect(!isDone)
    }
  }

  @Test("A custom migration that is killed at a random time continues")
  func aKillAtAnyMomentOfCodeGoesOn() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let original = folder.path("original.arbor")
    try Conversion.fill(original, count: Self.count)
    let began = ContinuousClock.now
    _ = try interrupt("whole", of: original, in: folder) { path in
      try CrashWriterRun(["convert", path, "0", "\(Self.batch)"]).finish().status == 0
    }
    let longest = (ContinuousClock.now - began) / Duration.seconds(1)
    var random = SeededRandom()
    let seed = random.seed
    for round in 0..<TestLength.of(4, long: 500) {
      _ = try interrupt("seed-\(seed)-\(round)", of: original, in: folder) { path in
        let run = try CrashWriterRun(["convert", path, "0", "\(Self.batch)"])
        Thread.sleep(forTimeInterval: Double.random(in: 0...longest, using: &random))
        run.kill()
        return run.acknowledged("converted") == [1]
      }
    }
  }

  /// A full disk during a custom migration is reported as such, and the migration continues once
  /// there is room.
  @Test("A custom migration continues after a full disk")
  func aFullDiskInTheMiddleOfCodeGoesOn() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let (path, count) = (folder.path("store.arbor"), 600)
    try Conversion.fill(path, count: count)
    let size = try Data(contentsOf: URL(filePath: path)).count
    let full = try CrashWriterRun(
      ["convert", path, "0", "50"],
      environment: ["CRASH_WRITER_FILE_LIMIT": "\(size + 60_000)"]
    ).finish()
    #expect(
      full.status == 1 && full.errors.contains("There is not enough disk space"), "\(full.errors)")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path())
    #expect(files.contains("store.arbor-migration-1"), "\(files)")
    let next = try CrashWriterRun(["convert", path, "0", "50"]).finish()
    #expect(next.status == 0, "\(next.errors)")
    #expect(try Conversion.problem(path, count: count) == nil)
  }
}
