import ArborModel
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

/// Salvaging unusual stores, and interrupting a salvage.
@Suite("Salvaging unusual stores") struct SalvagedKindsTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("Office.arbor") }
  private var target: String { folder.path("Rescued.arbor") }

  init() throws { folder = try TemporaryFolder() }

  /// Repeatedly damages random pages of the store and salvages it.
  private func strike(rounds: Int) throws {
    let trial = try SalvageTrial(path: path)
    var random = SeededRandom()
    let model = try OfficeModel.make()
    for round in 0..<rounds {
      let damage = PageDamage.allCases[round % PageDamage.allCases.count]
      var bytes = trial.bytes
      let damaged = damage.strike(&bytes, pageSize: trial.pageSize, &random)
      let (problems, outcome) = try trial.salvage(
        bytes, damaged: damaged, in: folder, model: model)
      #expect(
        problems == [],
        "seed \(random.seed), round \(round), \(damage) of \(damaged.sorted()): \(outcome)")
    }
  }

  @Test(
    "If one entity of a hierarchy is lost, the others are recovered without its links",
    arguments: ["Employee", "Manager"])
  func onePartOfAHierarchyIsLost(_ name: String) throws {
    try SalvagedOffice.make(path)
    let trial = try SalvageTrial(path: path)
    let schema = try StoreSalvage.run(from: path, to: target).schema
    let entity = try #require(schema.entity(named: name))
    var (bytes, damaged) = (trial.bytes, Set<UInt64>())
    for page in 0..<UInt64(trial.pageCount)
    where trial.numbers(on: [page]).contains(where: { $0.entity == entity.number }) {
      damaged.insert(page)
      let start = Int(page) * trial.pageSize
      for offset in start..<start + trial.pageSize { bytes[offset] = 0 }
    }
    #expect(!damaged.isEmpty)
    let (problems, outcome) = try trial.salvage(bytes, damaged: damaged, in: folder)
    #expect(problems == [])
    func counts(_ name: String) -> SalvageOutcome.Entity? {
      outcome.entities.first { $0.name == name }
    }
    #expect(counts(name)?.kept == 0 && counts(name)?.lost == (name == "Employee" ? 120 : 1))
    let other = name == "Employee" ? "Manager" : "Employee"
    #expect(counts(other)?.lost == 0 && counts(other)?.kept == (other == "Employee" ? 120 : 1))
    // Each employee has a manager and a badge, which links back.
    #expect(outcome.lostLinkCount >= 120)
  }

  /// A log that accepts everything.
  private struct OpenLog: SharedLog {
    func append(_ group: LoggedGroup) -> Appending { .written }
    func groups(after sequence: UInt64) -> [LoggedGroup] { [] }
    func noteTakenOver(_ count: Int) {}

    func reserve(_ counter: String, _ count: UInt64, from least: UInt64) -> Range<UInt64> {
      least..<least + count
    }
  }

  /// A store salvaged from one that shares a log is independent. It may lack commits of the log, so
  /// it doesn't continue there.
  @Test("A store salvaged from one that shares a log is independent of the log")
  func aStoreThatSharesALog() throws {
    try SalvagedOffice.make(path) { file in
      try file.setPosition(
        SharedPosition(
          sequence: file.lastSequence, generation: file.modelGeneration,
          chain: CommitChain(store: file.id, sequence: file.lastSequence)))
      try file.share(through: OpenLog())
      try file.noteLogReader(UUID(), has: nil)
      let draft = Draft(file)
      try draft.insert("Tag", ["name": "shared"])
      try draft.commit()
      #expect(try file.position()?.sequence == file.lastSequence)
    }
    let result = try StoreSalvage.run(from: path, to: target)
    #expect(result.outcome.state == .newest && result.outcome.lostLinkCount == 0)
    try TemporaryStore.check(path: target)
    #expect(try Objects(path: target) == Objects(path: path))
    let salvaged = try StoreEngine.open(StoreOpening(.file(target), model: nil))
    defer { salvaged.close() }
    #expect(try salvaged.position() == nil)
    #expect(try salvaged.logReaders().least == nil)
    try strike(rounds: 3)
  }

  @Test("Cancellation at any point leaves no files")
  func cancellationLeavesNothing() async throws {
    try SalvagedOffice.make(path)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    var cancelled = 0
    for round in 0..<12 {
      let task = Task { [path, target] in
        // The first task cancels itself at once; the others are cancelled later on.
        if round == 0 { withUnsafeCurrentTask { unsafe $0?.cancel() } }
        return try StoreSalvage.run(from: path, to: target).outcome.state
      }
      if round > 0 {
        try await Task.sleep(for: .microseconds(300 << min(round, 8)))
        task.cancel()
      }
      do {
        let state = try await task.value
        #expect(state == .newest)
        try TemporaryStore.check(path: target)
        for file in [target, target + "-lock"] {
          try? FileManager.default.removeItem(atPath: file)
        }
      } catch StoreError.interrupted(.cancelled) {
        cancelled += 1
      }
      #expect(
        Set(try FileManager.default.contentsOfDirectory(atPath: folder.url.path)) == Set(names))
    }
    #expect(cancelled > 0)
  }

  @Test("A full disk at any point leaves no files")
  func aFullDiskLeavesNothing() async {
    await #expect(processExitsWith: .exitCode(7)) {
      func limit(_ bytes: rlim_t) {
        var limit = rlimit(rlim_cur: bytes, rlim_max: rlim_t.max)
        #if canImport(Glibc)
          if unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) != 0 { exit(2) }
        #else
          if unsafe setrlimit(RLIMIT_FSIZE, &limit) != 0 { exit(2) }
        #endif
      }
      signal(SIGXFSZ, SIG_IGN)
      let folder = try TemporaryFolder()
      let (path, target) = (folder.path("Office.arbor"), folder.path("Rescued.arbor"))
      try SalvagedOffice.make(path)
      let names = Set(try FileManager.default.contentsOfDirectory(atPath: folder.url.path))
      _ = try StoreSalvage.run(from: path, to: target)
      let size = try Data(contentsOf: URL(filePath: target)).count
      try FileManager.default.removeItem(atPath: target)
      try? FileManager.default.removeItem(atPath: target + "-lock")
      for eighth in 0..<8 {
        limit(rlim_t(size / 8 * eighth))
        do {
          _ = try StoreSalvage.run(from: path, to: target)
          exit(3)
        } catch StoreError.diskFull {}
        guard Set(try FileManager.default.contentsOfDirectory(atPath: folder.url.path)) == names
        else { exit(4) }
      }
      limit(rlim_t.max)
      _ = try StoreSalvage.run(from: path, to: target)
      try TemporaryStore.check(path: target)
      exit(7)
    }
  }
}
