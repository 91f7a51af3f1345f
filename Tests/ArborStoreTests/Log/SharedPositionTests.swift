import ArborModel
import ArborStore
import TestSupport
import Testing

/// The encoding of a store's position in its log.
@Suite struct SharedPositionTests {
  private static func point(_ sequence: UInt64) -> SharedPosition.Point {
    SharedPosition.Point(sequence: sequence, chain: CommitChain(bits: UInt128(sequence) << 70))
  }

  private static let positions = [
    SharedPosition(sequence: 7, generation: 2, chain: CommitChain(bits: 5)),
    SharedPosition(
      sequence: 40, generation: 1, chain: CommitChain(bits: 1), earlier: (8..<40).map(point)),
  ]

  @Test("The encoding of a position matches the article's example")
  func theArticleDrawsIt() throws {
    let position = SharedPosition(
      sequence: 41, generation: 1,
      chain: CommitChain(bits: 0xFFEE_DDCC_BBAA_9988_7766_5544_3322_1100),
      earlier: [
        SharedPosition.Point(
          sequence: 40, chain: CommitChain(bits: 0x0001_0203_0405_0607_0809_0A0B_0C0D_0E0F))
      ])
    let told = try #require(ArticleExamples.of("StoreFormat")["shared position"])
    #expect(told == position.encoded())
  }

  @Test("A position survives a round trip through its encoding", arguments: positions)
  func itComesBack(position: SharedPosition) {
    position.encoded().withUnsafeBytes { bytes in
      #expect(SharedPosition(bytes) == position)
    }
  }

  @Test("A changed byte or a truncation makes a position invalid", arguments: positions)
  func damageIsNoticed(position: SharedPosition) {
    let bytes = position.encoded()
    for offset in bytes.indices {
      var damaged = bytes
      damaged[offset] ^= 1
      #expect(damaged.withUnsafeBytes { SharedPosition($0) } == nil)
      #expect(bytes[..<offset].withUnsafeBytes { SharedPosition($0) } == nil)
    }
  }
}
