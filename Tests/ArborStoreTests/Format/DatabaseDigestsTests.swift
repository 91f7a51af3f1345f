import TestSupport
import Testing

@testable import ArborStore
@testable import LMDB

@Suite struct DatabaseDigestsTests {
  private func decoded(_ bytes: [UInt8]) -> DatabaseDigests? {
    bytes.withUnsafeBytes { DatabaseDigests($0) }
  }

  private func change(
    _ name: String, _ sum: UInt64, isCleared: Bool = false
  ) -> EntryDigestChange {
    EntryDigestChange(seed: EntryDigest.seed(of: name), sum: sum, isCleared: isCleared)
  }

  @Test("Digests survive a round trip through their encoding")
  func bytesComeBack() {
    var digests = DatabaseDigests(transactionID: 9)
    #expect(decoded(digests.encoded()) == digests)
    for name in ["a", "b", "c"] { digests.apply([change(name, 7)]) }
    digests.apply([change("b", 5, isCleared: true)])
    #expect(decoded(digests.encoded()) == digests)
    #expect(["a", "b", "c", "d"].map { digests.sum(of: $0) } == [7, 5, 7, 0])
  }

  @Test("Damaged and forged digests are rejected or decode to a consistent value")
  func hostileBytesAreRefused() {
    var random = SeededRandom()
    var digests = DatabaseDigests(transactionID: 9)
    for name in ["a", "b", "c"] { digests.apply([change(name, 7)]) }
    let sound = digests.encoded()
    #expect(decoded([]) == nil)
    for count in 0..<sound.count { #expect(decoded(Array(sound[..<count])) == nil) }
    for bit in 0..<8 * sound.count {
      var bytes = sound
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(decoded(bytes) == nil)
    }
    for _ in 0..<1000 {
      var writer = ByteWriter()
      var bytes = Array(sound.dropLast(4))
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...17, using: &random)) }
      bytes.forEach { writer.append($0) }
      writer.appendChecksum()
      guard let read = decoded(writer.bytes) else { continue }
      #expect(decoded(read.encoded()) == read, "seed \(random.seed)")
    }
  }

  @Test("A database that was cleared, or whose digest has become zero, is no longer listed")
  func emptyDatabasesAreNotListed() {
    var digests = DatabaseDigests(transactionID: 1)
    let empty = digests.encoded().count
    digests.apply([change("a", 7), change("b", 8)])
    #expect(digests.lists("a"))
    digests.apply([change("a", 0, isCleared: true), change("b", 0 &- 8)])
    #expect(!digests.lists("a"))
    #expect(digests.encoded().count == empty)
  }
}
