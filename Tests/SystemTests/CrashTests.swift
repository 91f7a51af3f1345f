import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

@testable import crash_writer

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A writer is killed repeatedly without warning. Every acknowledged commit is there, no commit is
/// partially there, and the store is sound.
@Suite("Killed writers", .serialized) struct CrashTests {
  static let cycles = TestLength.of(75, long: 5000)
  /// The number of crashes per store. Then a new store begins, so that its creation is interrupted,
  /// too.
  static let cyclesPerStore = 25

  @Test("A killed writer loses no acknowledged commit")
  func everyAcknowledgedCommitSurvives() throws {
    let seed = UInt64.random(in: 0...(.max))
    var random = RandomNumbers(seed: seed)
    for first in stride(from: 0, to: Self.cycles, by: Self.cyclesPerStore) {
      try withExtendedLifetime(TemporaryFolder()) { folder in
        var verifier = CrashVerifier(path: folder.path("ledger.arbor"), seed: seed)
        for cycle in first..<min(first + Self.cyclesPerStore, Self.cycles) {
          try verifier.runCycle("seed \(seed), cycle \(cycle)", &random)
        }
      }
    }
  }
}

/// A verifier that kills a writer and compares the store with the acknowledged commits.
private struct CrashVerifier {
  let path: String
  let seed: UInt64
  private var lastRound: Int?
  private var uniqueIDs: Set<Int64> = []

  init(path: String, seed: UInt64) {
    self.path = path
    self.seed = seed
  }

  mutating func runCycle(_ what: String, _ random: inout RandomNumbers) throws {
    let writer = try CrashWriterRun(["rounds", path, "\(seed)", "1000000"])
    if Int.random(in: 0..<10, using: &random) < 7 {
      _ = writer.read(until: Int.random(in: 1...25, using: &random), "round")
      usleep(UInt32.random(in: 0...3000, using: &random))
    } else {
      usleep(UInt32.random(in: 0...60_000, using: &random))
    }
    writer.kill()
    try verify(writer, what)
  }

  private mutating func verify(_ writer: CrashWriterRun, _ what: String) throws {
    let taken = writer.acknowledged("taken")
    #expect(uniqueIDs.isDisjoint(with: taken), "a unique ID came twice: \(what)")
    uniqueIDs.formUnion(taken)
    let acknowledged = writer.acknowledged("round").last.map { Int($0) } ?? lastRound
    guard FileManager.default.fileExists(atPath: path) else {
      #expect(acknowledged == nil, "the store is gone: \(what)")
      return
    }
    let store = try LedgerWriter.open(path)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: URL(filePath: path).deletingLastPathComponent().path)
    #expect(!names.contains { $0.contains(".new-") }, "left behind: \(names), \(what)")
    try store.check()
    let state = try LedgerState(reading: store)
    if let acknowledged {
      let found = try #require(state, "the ledger is gone: \(what)")
      let isWhole = found.round == acknowledged || found.round == acknowledged + 1
      #expect(isWhole, "round \(found.round) after \(acknowledged) acknowledged: \(what)")
      #expect(found == LedgerState(seed: seed, rounds: found.round), "\(what)")
    }
    lastRound = state?.round
    let fresh = try store.uniqueIDs.next()
    #expect(uniqueIDs.insert(fresh).inserted, "a unique ID came twice: \(what)")
  }
}
