import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

@testable import crash_writer

/// Backups of a ledger while processes are killed, while other processes write, and on a full disk.
@Suite("Backups while processes are killed", .serialized) struct BackUpProcessTests {
  private let folder: TemporaryFolder
  private let seed = UInt64.random(in: 0...(.max))
  private var path: String { folder.path("ledger.arbor") }
  private var log: FolderLog { LedgerBackUp.log(of: path) }

  init() throws { folder = try TemporaryFolder() }

  /// Commits `rounds` rounds.
  private func write(_ rounds: Int, _ path: String? = nil) throws {
    let writer = try LedgerWriter(path: path ?? self.path) { _ in }
    defer { writer.store.close() }
    try writer.write(rounds: rounds, seed: seed)
  }

  @discardableResult
  private func backUp(_ path: String? = nil, to log: FolderLog? = nil) throws
    -> PersistentStore.BackUp
  {
    let store = try LedgerWriter.open(path ?? self.path)
    defer { store.close() }
    return try store.backUp(to: log ?? self.log)
  }

  /// Expects that restoring the newest state of the log produces a sound copy of the store.
  private func expectRestored(
    _ what: Comment, _ path: String? = nil, from log: FolderLog? = nil
  ) throws {
    let restored = folder.path("restored-\(UUID().uuidString).arbor")
    try PersistentStore.restore(from: log ?? self.log, to: URL(filePath: restored))
    #expect(try StoreContents(path: restored) == StoreContents(path: path ?? self.path), what)
    try TemporaryStore.check(path: restored)
    try FileManager.default.removeItem(atPath: restored)
  }

  // MARK: Kills and other processes

  @Test("A kill during backups leaves a sound log")
  func aKillLeavesASoundLog() throws {
    var random = RandomNumbers(seed: seed)
    try write(3)
    for cycle in 0..<TestLength.of(20, long: 500) {
      let what: Comment = "seed \(seed), cycle \(cycle)"
      let interval = Int.random(in: 0...3, using: &random)
      let child = try CrashWriterRun(["backup", path, "\(interval)", "1000000"])
      #expect(child.read(until: 1, "opened"))
      usleep(UInt32.random(in: 0...10_000, using: &random))
      let rounds = Int.random(in: 0...4, using: &random)
      if rounds > 0 { try write(rounds) }
      usleep(UInt32.random(in: 0...10_000, using: &random))
      child.kill()
      let acknowledged = child.acknowledged("backed").last.map { UInt64($0) }
      // The first kill may come before the log exists.
      if let acknowledged {
        #expect(try #require(try log.verify().newest) >= acknowledged, what)
      }
      do {
        try backUp()
        try log.verify()
        try expectRestored(what)
      } catch {
        let snapshots = try log.contents().snapshots
        Issue.record("\(what): \(error); \(snapshots)")
        return
      }
      if cycle % 5 == 4 { try log.removeHistory(before: Date()) }
    }
    // The leftovers of killed processes have been removed.
    let names = try FileManager.default.contentsOfDirectory(atPath: log.url.path)
    #expect(!names.contains { $0.hasSuffix(".unfinished") }, "seed \(seed): \(names)")
  }

  @Test("A backup process backs up every commit of three concurrent writers")
  func everyCommitOfThreeWritersIsBackedUp() throws {
    try write(1)
    let child = try CrashWriterRun(["backup", path, "20", "1000000"])
    #expect(child.read(until: 1, "backed"))
    let first = UInt64(try #require(child.acknowledged("backed").first))
    let count = TestLength.of(40, long: 2000)
    let writers = try (1...3).map { try CrashWriterRun(["append", path, "\($0)", "\(count)"]) }
    for writer in writers {
      let end = writer.finish()
      #expect(end.status == 0, "\(end.errors)")
    }
    child.kill()
    let last = try backUp().sequence
    #expect(last >= first + UInt64(3 * count))
    try log.verify()
    try expectRestored("seed \(seed)")
    // The log has no gaps, whichever snapshots were taken.
    let snapshots = try log.contents().snapshots
    for (snapshot, next) in zip(snapshots, snapshots.dropFirst()) {
      #expect(snapshot.lastSequence == next.sequence)
    }
    var random = RandomNumbers(seed: seed)
    for _ in 0..<3 {
      let sequence = UInt64.random(in: first...last, using: &random)
      let restored = folder.path("\(UUID().uuidString).arbor")
      #expect(
        try PersistentStore.restore(
          from: log, to: URL(filePath: restored), at: .sequence(sequence)) == sequence)
      try TemporaryStore.check(path: restored)
    }
  }

  // MARK: Full disks

  /// Fills a disk except for `bytes` bytes.
  private func fill(_ disk: SmallDisk, leaving bytes: Int) throws {
    let url = disk.url.appending(path: "filler")
    let free = try url.deletingLastPathComponent()
      .resourceValues(forKeys: [.volumeAvailableCapacityKey]).volumeAvailableCapacity
    try Data(count: max(0, try #require(free) - bytes)).write(to: url)
  }

  private func makeRoom(_ disk: SmallDisk) throws {
    let filler = disk.url.appending(path: "filler")
    let size = try Data(contentsOf: filler).count
    try FileManager.default.removeItem(at: filler)
    // A child process holds its parent's open files until it executes its own program, and with
    // them the space of deleted files.
    for _ in 0..<100 {
      let free = try URL(filePath: disk.url.path)
        .resourceValues(forKeys: [.volumeAvailableCapacityKey]).volumeAvailableCapacity
      if try #require(free) >= size { return }
      Thread.sleep(forTimeInterval: 0.02)
    }
  }

  @Test(
    "A full disk of the log is reported, and later backups continue",
    .enabled(if: SmallDisk.isPermitted, "mounting takes a privilege"))
  func aFullDiskOfTheLogIsNamed() throws {
    let disk = try SmallDisk(bytes: 1 << 22)
    defer { disk.unmount() }
    let log = FolderLog(disk.url.appending(path: "log"))
    try write(5)
    // Not enough room for a snapshot, and then not even for commits.
    for room in [65_536, 8192] {
      try fill(disk, leaving: room)
      let error = #expect(throws: ArborError.self) { try backUp(to: log) }
      #expect(error?.code == .diskFull, "\(error as Any)")
      #expect(error?.message.contains("disk space") == true, "\(error as Any)")
      try TemporaryStore.check(path: path)
      if room < 65_536 { try log.verify() }
      try makeRoom(disk)
      let added = try backUp(to: log)
      #expect(added.isSnapshot == (room == 65_536))
      try expectRestored("\(room)", from: log)
      try write(30)
    }
  }

  /// A log that is never backed up fills the disk; a backup frees the space.
  @Test(
    "A log that is never backed up fills the disk, and a backup frees space",
    .enabled(if: SmallDisk.isPermitted, "mounting takes a privilege"))
  func aFullDiskOfTheStoreIsNamed() throws {
    let disk = try SmallDisk(bytes: 1 << 20)
    defer { disk.unmount() }
    let path = disk.url.appending(path: "ledger.arbor").path
    try write(1, path)
    try backUp(path)
    let error = #expect(throws: ArborError.self) { try write(100_000, path) }
    #expect(error?.code == .diskFull, "\(error as Any)")
    // A backup that fails for lack of space reports that, but has still added the commits.
    do { try backUp(path) } catch let error as ArborError {
      #expect(error.code == .diskFull, "\(error)")
    }
    try log.verify()
    try expectRestored("seed \(seed)", path)
    try write(5, path)
    let added = try backUp(path)
    #expect(!added.isSnapshot && added.commits > 0)
    try expectRestored("seed \(seed)", path)
  }

  @Test(
    "A log in a read-only folder can be verified and restored from",
    .enabled(if: SmallDisk.isPermitted, "mounting takes a privilege"))
  func aFolderThatIsReadOnlyIsRestoredFrom() throws {
    let disk = try SmallDisk(bytes: 1 << 22)
    defer { disk.unmount() }
    let log = FolderLog(disk.url.appending(path: "log"))
    try write(2)
    try backUp(to: log)
    try disk.makeReadOnly()
    let error = #expect(throws: ArborError.self) { try backUp(to: log) }
    #expect(
      error?.message
        == "Opening of \(disk.url.path)/log/writer failed: Read-only file system. Check the path "
        + "and its permissions.")
    try log.verify()
    try expectRestored("read-only", from: log)
  }
}
