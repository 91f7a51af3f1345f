import ArborStore
import Foundation
import Testing

@testable import ArborLog

@Suite struct LogBaseTests {
  @Test("Folders are named by their numbers")
  func foldersAreNamedByTheirNumbers() {
    #expect(LogBase.folder(7, in: "/logs") == "/logs/base-00000007")
    #expect(LogBase.folder(.max, in: "") == "/base-4294967295")
    #expect(LogBase.number(ofName: "base-00000007") == 7)
    for name in ["base-7", "base-", "base-00000007.unfinished", "log"] {
      #expect(LogBase.number(ofName: name) == nil)
    }
  }

  @Test("A manifest survives encoding and decoding")
  func manifestsComeBack() throws {
    let manifest = LogManifest(
      log: UUID(), store: UUID(), base: 3, generation: 2, sequence: 99,
      previous: CommitChain(bits: 5), date: Date(),
      commitDate: Date() - 5,
      size: UInt64(LogManifest.blockSize + 1), counters: ["object/1": 7, "unique-id": 1],
      checksums: [1, 2])
    #expect(try LogManifest(manifest.encoded(), path: "manifest") == manifest)
  }

  @Test("The article shows the bytes of a manifest")
  func theArticleDrawsTheManifest() throws {
    let manifest = LogManifest(
      log: LogExamples.log, store: LogExamples.store, base: 1, generation: 1, sequence: 2,
      previous: nil, date: LogExamples.date + 1, commitDate: LogExamples.date, size: 65_536,
      counters: LogExamples.counters, checksums: [0xDEAD_BEEF])
    let bytes = try LogExamples.expect("manifest", manifest.encoded())
    #expect(try LogManifest(bytes, path: "manifest") == manifest)
  }
}
