import ArborLocks
import ArborLog
import ArborModel
import Foundation
import TestSupport
import Testing
import ArborPostgres

@Suite(.enabled(if: PostgresServer.isInstalled)) struct PostgresLogSnapshotsTests {
  @Test("Publishing and fetching large files takes little memory, measured in a separate process")
  func largeFilesTakeLittleMemory() async throws {
    let connection = try PostgresServer.shared.get().makeDatabase()
    await #expect(processExitsWith: .success) { [connection = connection as String] in
      let log = try PostgresLog(connection)
      #expect(try log.head() == nil)
      let folder = try TemporaryFolder()
      let (file, copy) = (folder.url.appending(path: "a"), folder.url.appending(path: "b"))
      let size = 96 << 20
      var random = SeededRandom(seed: 1)
      try Data().write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      let block = Data((0..<(1 << 16)).map { _ in UInt8.random(in: 0...255, using: &random) })
      for _ in 0..<(size / block.count) { try handle.write(contentsOf: block) }
      try handle.close()
      let start = anonymousMemory()
      let peak = PeakMemory()
      let snapshot = LogHistory(seed: 1).snapshot()
      try log.publish(snapshot, in: file)
      #expect(try log.begin(with: snapshot, then: []))
      try log.fetch(snapshot, to: copy)
      #expect(peak.stop() - start < 32 << 20)
      #expect(FileManager.default.contentsEqual(atPath: file.path, andPath: copy.path))
    }
  }

  @Test("A missing part of a snapshot is reported as damage")
  func aPartThatIsMissingIsDamage() throws {
    let begun = try BegunLog()
    let folder = try TemporaryFolder()
    try begun.server.sql("DELETE FROM arbor_snapshot_part", database: begun.database)
    let error = #expect(throws: ArborError.self) {
      try begun.log.fetch(begun.root, to: folder.url.appending(path: "copy"))
    }
    #expect(error?.code == .corrupted)
    #expect(
      error?.message
        == "The log \(begun.log.name) is damaged: part 0 of the snapshot "
        + "\(begun.root.id.uuidString) is missing. Restore the database, or remove the log and "
        + "recreate it from a copy of the store.")
    try begun.server.sql("DELETE FROM arbor_snapshot", database: begun.database)
    let gone = #expect(throws: ArborError.self) {
      try begun.log.fetch(begun.root, to: folder.url.appending(path: "copy"))
    }
    #expect(
      gone?.message
        == "The snapshot \(begun.root.id.uuidString) of the log \(begun.log.name) has been "
        + "removed. Request the newest snapshot.")
  }

  @Test("A log begins only with a published snapshot and entries without gaps")
  func beginsOnlyWithWhatIsThereAndFollows() throws {
    let connection = try PostgresServer.shared.get().makeDatabase()
    let log = try PostgresLog(connection)
    var history = LogHistory(sequence: 3, seed: 1)
    let snapshot = history.snapshot()
    let unpublished = #expect(throws: ArborError.self) { try log.begin(with: snapshot, then: []) }
    #expect(
      unpublished?.message
        == "The snapshot to begin the log \(log.name) with hasn't been published. Publish the "
        + "snapshot first.")
    let entry = history.next()
    let gap = history.next()
    let error = #expect(throws: ArborError.self) { try log.begin(with: snapshot, then: [gap]) }
    #expect(
      error?.message
        == "The first entries of the log \(log.name) don't continue its snapshot, which ends with "
        + "commit 3. Publish another snapshot, and begin the log with it.")
    let missing = #expect(throws: ArborError.self) {
      try log.publish(snapshot, in: URL(filePath: "/nowhere/at/all"))
    }
    #expect(missing?.code == .fileUnreadable)
    #expect(
      missing?.message
        == "The snapshot file /nowhere/at/all for the log \(log.name) doesn't exist. Check the "
        + "path.")
    #expect(try log.head() == nil)
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "empty")
    try Data().write(to: file)
    try log.publish(snapshot, in: file)
    #expect(try log.begin(with: snapshot, then: [entry, gap]))
    #expect(try log.entries(after: 3, limit: 9) == [entry, gap])
    let copy = folder.url.appending(path: "copy")
    try log.fetch(snapshot, to: copy)
    #expect(try Data(contentsOf: copy).isEmpty)
  }

  @Test("Logs of different stores in a database are separate")
  func keepsStoresApart() throws {
    let begun = try BegunLog()
    let other = try PostgresLog(begun.connection, store: "other")
    let twice = #expect(throws: ArborError.self) { try other.begin(with: begun.root, then: []) }
    #expect(
      twice?.message
        == "The store \(begun.root.store.uuidString) already has the log \"main\" in the database "
        + "of the log \(other.name). Use the name \"main\", or remove that log.")
    let stranger = LogHistory(seed: 5).snapshot()
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "file")
    try Data("x".utf8).write(to: file)
    let error = #expect(throws: ArborError.self) { try begun.log.publish(stranger, in: file) }
    #expect(error?.code == .invalidArgument)
    #expect(
      error?.message
        == "The snapshot is of the store \(stranger.store.uuidString), but the log "
        + "\(begun.log.name) belongs to the store \(begun.root.store.uuidString). Use a separate "
        + "log for each store.")
    #expect(try begun.log.newestSnapshot() == begun.root)
  }

  @Test("Only one of several writers begins a log")
  func oneOfManyBeginsALog() throws {
    let connection = try PostgresServer.shared.get().makeDatabase()
    let store = UUID()
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "file")
    try Data("x".utf8).write(to: file)
    let have = try inThreads(6) { number -> (Bool, CommitLogSnapshot) in
      let log = try PostgresLog(connection)
      let snapshot = LogHistory(store: store, seed: UInt64(number)).snapshot()
      try log.publish(snapshot, in: file)
      return (try log.begin(with: snapshot, then: []), snapshot)
    }
    #expect(have.count { $0.0 } == 1)
    #expect(try PostgresLog(connection).newestSnapshot() == have.first { $0.0 }?.1)
  }
}

/// Returns the memory of this process that isn't backed by a file.
private func anonymousMemory() -> Int {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
  return (line?.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0) << 10
}

/// Continuously measures the memory of this process.
private final class PeakMemory: Sendable {
  private let state = Lock((peak: 0, isOver: false))

  init() {
    Thread.detachNewThread {
      while true {
        let memory = anonymousMemory()
        let isOver = self.state.withLock { state in
          state.peak = max(state.peak, memory)
          return state.isOver
        }
        if isOver { return }
        Thread.sleep(forTimeInterval: 0.002)
      }
    }
  }

  func stop() -> Int {
    state.withLock { state in
      state.isOver = true
      return state.peak
    }
  }
}
