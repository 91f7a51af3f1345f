import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

@testable import crash_writer

/// Four writers and two readers use one store. One after another is killed without warning and
/// restarted while the others continue. A killed process blocks no other, no acknowledged commit is
/// lost or duplicated, and the store is sound.
@Suite("Many processes that are killed at random", .serialized) struct KillStormTests {
  private static let rounds = TestLength.of(3, long: 1600)
  private static let killsPerRound = 8
  /// The number of rounds before a new store is created.
  private static let roundsPerStore = 20
  private static let writers = 1...4

  @Test(
    "Killed processes don't block others, and no acknowledged commit is lost",
    arguments: [false, true])
  func killedProcessesBlockNone(isJournaled: Bool) throws {
    let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
    let seed = given ?? .random(in: 0...(.max))
    print("killedProcessesBlockNone: ARBOR_SEED=\(seed)")
    var random = RandomNumbers(seed: seed)
    var kills = 0
    for first in stride(from: 0, to: Self.rounds, by: Self.roundsPerStore) {
      try withExtendedLifetime(TemporaryFolder()) { folder in
        var storm = Storm(folder, isJournaled: isJournaled)
        try LedgerWriter(path: storm.path) { _ in }.store.close()
        for round in first..<min(first + Self.roundsPerStore, Self.rounds) {
          kills += try storm.run("ARBOR_SEED=\(seed), round \(round)", &random)
        }
      }
    }
    print("\(kills) processes were killed")
  }

  /// The processes on one store, and the commits that they acknowledged.
  private struct Storm {
    let path: String
    private let isJournaled: Bool
    /// A file with the boot ID of the processes, which the verification doesn't share.
    private let boot: URL
    private var appended: [Int: Int64] = [:]

    init(_ folder: TemporaryFolder, isJournaled: Bool) {
      path = folder.path("ledger.arbor")
      self.isJournaled = isJournaled
      boot = URL(filePath: folder.path("boot"))
    }

    private func arguments(_ runIndex: Int) -> [String] {
      switch runIndex {
      case 4: ["watch", path, "100000000", "1"]
      case 5: ["scrub", path, "0", "1000000"]
      default: ["resume", path, "\(runIndex + 1)", "1000000"]
      }
    }

    private func start(_ runIndex: Int) throws -> CrashWriterRun {
      var environment = ["SWIFT_BACKTRACE": "enable=no"]
      if isJournaled {
        environment[LedgerJournal.variable] = "7"
        environment["ARBOR_FAULTS_BOOT"] = boot.path
      }
      return try CrashWriterRun(arguments(runIndex), environment: environment)
    }

    private mutating func end(_ run: CrashWriterRun, _ runIndex: Int, _ what: String) {
      run.kill()
      let end = run.finish()
      #expect(end.errors.isEmpty, "\(arguments(runIndex)[0]): \(end.errors), \(what)")
      let last = run.acknowledged("appended").last ?? 0
      appended[runIndex + 1] = max(appended[runIndex + 1] ?? 0, last)
    }

    /// Kills and restarts processes, then kills all of them and verifies the store. If it has a
    /// journal, the verification recovers it as after a restart of the machine.
    ///
    /// - Returns: The number of processes killed.
    mutating func run(_ what: String, _ random: inout RandomNumbers) throws -> Int {
      try Data(UUID().uuidString.utf8).write(to: boot)
      var runs = try (0..<6).map { try start($0) }
      for _ in 0..<killsPerRound {
        usleep(.random(in: 0...30_000, using: &random))
        let runIndex = Int.random(in: 0..<6, using: &random)
        end(runs[runIndex], runIndex, what)
        runs[runIndex] = try start(runIndex)
      }
      // Every writer makes progress, whichever processes were killed.
      for runIndex in 0..<4 { #expect(runs[runIndex].read(until: 2, "appended"), "\(what)") }
      for (runIndex, run) in runs.enumerated().shuffled(using: &random) { end(run, runIndex, what) }
      try verify(what)
      return killsPerRound + runs.count
    }

    private mutating func verify(_ what: String) throws {
      let store = try LedgerWriter.open(path)
      defer { store.close() }
      try store.check()
      let context = store.makeContext()
      let entries = try context.fetch(FetchRequest<Entry>())
      var changes = 0
      for writer in writers {
        let rounds = entries.filter { $0.amount == writer }.map(\.round).sorted()
        #expect(rounds == Array(1...rounds.count), "writer \(writer), \(what)")
        let least = Int(appended[writer] ?? 0)
        #expect((least...least + 1).contains(rounds.count), "writer \(writer), \(what)")
        changes += rounds.count / 10
      }
      #expect(Set(entries.map(\.entryID)).count == entries.count, "\(what)")
      let ledger = try #require(try context.fetchOne(FetchRequest<Ledger>()))
      #expect(ledger.round == changes, "\(what)")
    }
  }
}
