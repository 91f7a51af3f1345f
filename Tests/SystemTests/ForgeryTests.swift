import ArborModel
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

/// Forged files: entries that say what nobody wrote, with every checksum right, are an error or
/// harmless, never the end of the process and never a loop.
///
/// Three stores are forged in turn, and used in three ways: after the quick look through the
/// store's own layer, after the verification in full through objects, and after the quick look
/// through objects and requests. A usual run forges the same as the last, so that a change is what
/// a failure tells of; a long one begins anew, and `ARBOR_SEED` replays it.
@Suite(.serialized) struct ForgeryTests {
  static let cases = TestLength.of(200, long: 100_000)

  @Test func aForgedFileNeverStopsTheProcess() async throws {
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
    // The forgeries are such as are noticed. Of stores that are not forged nothing is, as the other
    // test shows.
    #expect(results["refused", default: 0] + results["found", default: 0] > Self.cases / 3)
  }

  /// What is forged is sound before, so that each use comes to its end.
  @Test func theStoresAreSoundBefore() async throws {
    let folder = try TemporaryFolder()
    try await ForgeryOriginals.make(at: folder)
    let run = try BuiltProgram("damage-reader").run([
      folder.path("office"), folder.path("library"), folder.path("work"), "0", "0", "0", "sound",
      folder.path("unfinished"),
    ])
    #expect(run.output == String(repeating: "sound passed\n", count: 9))
  }
}
