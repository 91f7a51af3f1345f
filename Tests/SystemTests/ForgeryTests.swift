import ArborModel
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

/// A forged file, with changed entries and correct checksums, leads to an error or is harmless. It
/// never crashes the process or causes an infinite loop.
///
/// Three stores are forged in turn and used in three ways: through the engine after a quick
/// verification, through objects after a full verification, and through objects and requests after
/// a quick verification. A normal run repeats the same forgeries, so that a failure indicates a
/// change in the code. A long run uses a new seed, and `ARBOR_SEED` replays one.
@Suite("Forged files", .serialized) struct ForgeryTests {
  static let cases = TestLength.of(200, long: 100_000)

  @Test("A forged file never crashes the process")
  func aForgedFileNeverStopsTheProcess() async throws {
    let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
    let seed = given ?? (TestLength.isLong ? SeededRandom().seed : 2_900_668_293_627_433_697)
    print("forgery campaign: seed \(seed), \(Self.cases) cases")
    let folder = try TemporaryFolder()
    try await ForgeryOriginals.make(at: folder)
    var deaths: [String] = []
    var results: [Substring: Int] = [:]
    var next = 0
    while next < Self.cases {
      let run = try BuiltProgram("damage-reader").run(
        [
          folder.path("office"), folder.path("library"), folder.path("work"), "\(seed)",
          "\(next)", "\(Self.cases)", "forged", folder.path("unfinished"),
        ], environment: ["SWIFT_BACKTRACE": "enable=no"])
      var last = ""
      for line in run.output.split(separator: "\n") {
        let words = line.split(separator: " ")
        if words.first == "case" {
          last = String(line)
          next = (Int(words[1]) ?? next) + 1
        } else if let result = words.last {
          results[result, default: 0] += 1
        }
      }
      if run.status == 0 { break }
      deaths.append("\(last): signal or exit \(run.status), seed \(seed)")
      try #require(!last.isEmpty, "the reader failed: \(run.errors)")
    }
    print("forged: \(results), deaths: \(deaths.count)")
    #expect(deaths == [])
    #expect(results.values.reduce(0, +) == Self.cases)
    // More than a third of the forgeries must be detected. The other test shows that unmodified
    // stores pass.
    #expect(results["refused", default: 0] + results["found", default: 0] > Self.cases / 3)
  }

  @Test("The stores are sound before they are forged, so that every use runs to its end")
  func theStoresAreSoundBefore() async throws {
    let folder = try TemporaryFolder()
    try await ForgeryOriginals.make(at: folder)
    let run = try BuiltProgram("damage-reader").run([
      folder.path("office"), folder.path("library"), folder.path("work"), "0", "0", "0", "sound",
      folder.path("unfinished"),
    ])
    #expect(run.output == String(repeating: "sound passed\n", count: 9))
  }
}
