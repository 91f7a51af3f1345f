import ArborData
import ArborModel
import ArborObjects
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

/// Salvage of damaged copies of several stores. Objects on undamaged pages are recovered unchanged,
/// no damaged data is recovered, and the new store is sound.
@Suite("Salvaging damaged stores") struct SalvageTests {
  /// The kinds of stores.
  enum Kind: CaseIterable {
    /// Every kind of relationship, and pages freed by many commits.
    case office
    /// Large binaries, records in an older layout, metadata, and a partially built index.
    case album
    /// More databases than one page can name.
    case wide
  }

  static let cases = TestLength.of(42, long: 10_000)

  @Test(
    "Salvage of a damaged copy recovers the intact objects and nothing else",
    arguments: Kind.allCases)
  func keepsWhatIsNotDamaged(_ kind: Kind) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("sound")
    var random = SeededRandom()
    switch kind {
    case .office: try SalvageStores.makeOffice(path, &random)
    case .album: try SalvageStores.makeAlbum(path)
    case .wide: try SalvageStores.makeWide(path)
    }
    let trial = try SalvageTrial(path: path)
    #expect(trial.recordCount > 100)
    print("salvage of \(kind): seed \(random.seed), \(Self.cases) cases")
    let schema = try StoreSalvage.run(from: path, to: folder.path("whole")).schema
    var unsalvaged = 0
    for round in 0..<Self.cases {
      let damage = PageDamage.allCases[round % PageDamage.allCases.count]
      var (bytes, damaged): ([UInt8], Set<UInt64>) = (trial.bytes, [])
      for _ in 0...(round % 4) {
        damaged.formUnion(damage.strike(&bytes, pageSize: trial.pageSize, &random))
      }
      let what = "seed \(random.seed), case \(round), \(damage) of \(damaged.sorted())"
      do {
        let (problems, outcome) = try trial.salvage(
          bytes, damaged: damaged, in: folder, model: schema.model,
          maximumObjectsIndexedAtOnce: round % 5 == 0 ? 0 : 100_000)
        #expect(problems == [], "\(what): \(outcome)")
      } catch {
        // Without its catalog, a migrated store's record layouts cannot be told apart.
        guard kind == .album, "\(error)".contains("catalog") else { throw error }
        unsalvaged += 1
      }
    }
    #expect(unsalvaged * 4 <= Self.cases, "seed \(random.seed)")
    print("salvage of \(kind): \(unsalvaged) without catalog")
  }

  @Test("A salvage of a large store uses bounded memory, apart from memory maps")
  func memoryStaysBounded() throws {
    let folder = try TemporaryFolder()
    let count = TestLength.of(40_000, long: 2_000_000)
    try SalvageStores.makeLarge(folder.path("sound"), count)
    let size = try Data(contentsOf: URL(filePath: folder.path("sound")), options: .alwaysMapped)
      .count
    try SalvageStores.zeroRootPages(folder.path("sound"))
    let began = ContinuousClock.now
    let program = try StartedProgram(
      BuiltProgram("lmdb-inspect").executable,
      ["salvage", folder.path("sound"), folder.path("target")])
    var most = 0
    while let memory = Self.memory(of: program.identifier) {
      most = max(most, memory)
      usleep(2_000)
    }
    #expect(program.wait() == 0)
    let time = began.duration(to: .now)
    print("salvage of \(count) objects in \(size >> 20) MiB: \(most >> 10) MiB, \(time)")
    #expect(most > 0 && most < TestLength.of(128, long: 256) << 10)
    let target = try StoreEngine.open(StoreOpening(.file(folder.path("target")), model: nil))
    defer { target.close() }
    // One group for every 10,000 items.
    #expect(try target.check().recordCount == count + count / 10_000)
  }

  /// Returns the kilobytes of anonymous memory of a process, or `nil` once it has ended.
  private static func memory(of process: pid_t) -> Int? {
    guard
      let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") })
    else { return nil }
    return Int(line.filter(\.isNumber))
  }
}
