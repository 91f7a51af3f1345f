import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

@testable import crash_writer

/// Compaction of a ledger while its process is killed, the disk is full, or another process reads.
@Suite("Compactions that are interrupted or refused", .serialized) struct CompactionTests {
  private let folder: TemporaryFolder
  private let seed = UInt64.random(in: 0...(.max))
  private let rounds = 30
  private var path: String { folder.path("ledger.arbor") }

  init() throws {
    folder = try TemporaryFolder()
    let end = try CrashWriterRun(["rounds", path, "\(seed)", "\(rounds)"]).finish()
    #expect(end.status == 0, "\(end.errors)")
  }

  private func expectLedger(_ what: Comment) throws {
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    try store.check()
    #expect(try LedgerState(reading: store) == LedgerState(seed: seed, rounds: rounds), what)
  }

  private var names: Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? [])
  }

  @Test("A store is sound after its process was killed during a compaction")
  func aKillLeavesAWholeStore() throws {
    var random = RandomNumbers(seed: seed)
    for cycle in 0..<TestLength.of(8, long: 500) {
      let writer = try CrashWriterRun(["compact", path, "0", "1000000"])
      #expect(writer.read(until: 1 + cycle % 2, "compacted"))
      usleep(UInt32.random(in: 0...20_000, using: &random))
      writer.kill()
      try expectLedger("seed \(seed), cycle \(cycle)")
    }
    // The next compaction removes the leftovers of killed processes.
    let store = try LedgerWriter.open(path)
    try store.compact()
    store.close()
    #expect(names == ["ledger.arbor", "ledger.arbor-lock"])
  }

  @Test("A compaction without enough disk space leaves the store unchanged")
  func aFullDiskLeavesTheStoreAsItWas() throws {
    let full = try CrashWriterRun(
      ["compact", path, "0", "1"], environment: ["CRASH_WRITER_FILE_LIMIT": "60000"]
    ).finish()
    #expect(full.status == 1 && full.errors.contains("There is not enough disk space"), "\(full)")
    #expect(names == ["ledger.arbor", "ledger.arbor-lock"])
    try expectLedger("seed \(seed)")
  }

  @Test("A store cannot be compacted while another process has it open")
  func whoReadsElsewhereStandsInTheWay() throws {
    let store = try LedgerWriter.open(path)
    let refused = try CrashWriterRun(["compact", path, "0", "1"]).finish()
    #expect(refused.status == 1 && refused.errors.contains("is in use by another process or store"))
    store.close()
    #expect(try CrashWriterRun(["compact", path, "0", "1"]).finish().status == 0)
    try expectLedger("seed \(seed)")
  }
}
