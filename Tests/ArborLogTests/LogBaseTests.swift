import Foundation
import Testing

@testable import ArborLog

@Suite struct LogBaseTests {
  @Test func foldersAreNamedByTheirNumbers() {
    #expect(LogBase.folder(7, in: "/logs") == "/logs/base-00000007")
    #expect(LogBase.folder(.max, in: "") == "/base-4294967295")
    #expect(LogBase.number(ofName: "base-00000007") == 7)
    for name in ["base-7", "base-", "base-00000007.unfinished", "log"] {
      #expect(LogBase.number(ofName: name) == nil)
    }
  }

  @Test func manifestsComeBack() throws {
    let manifest = LogManifest(
      log: UUID(), store: UUID(), base: 3, generation: 2, sequence: 99,
      previous: LogChain(bits: 5), date: Date(),
      size: UInt64(LogManifest.blockSize + 1), counters: ["object/1": 7, "unique-id": 1],
      checksums: [1, 2])
    #expect(try LogManifest(manifest.encoded(), path: "manifest") == manifest)
  }
}
