import ArborModel
@testable import ArborStore
import TestSupport
import Testing

@Suite struct IndexBuildListTests {
  private let list = IndexBuildList([
    .init(index: 9, filled: 70), .init(index: 2, filled: 30), .init(index: 4, filled: 30),
    .init(index: 7, state: .writeOnly, filled: .max),
  ])

  private func decoded(_ bytes: [UInt8]) -> IndexBuildList? {
    bytes.withUnsafeBytes { IndexBuildList($0) }
  }

  @Test func bytesComeBack() {
    #expect(decoded(list.encoded()) == list)
    #expect(list.builds.map(\.index) == [2, 4, 7, 9])
    #expect(list.build(of: 4)?.filled == 30)
    #expect(list.build(of: 5) == nil)
  }

  /// Whatever the bytes are, with a right checksum too, they are refused or make a list that
  /// encodes to them.
  @Test func hostileBytesAreRefused() {
    var random = SeededRandom()
    #expect(decoded([]) == nil)
    #expect(decoded(IndexBuildList().encoded()) == nil, "an empty list is not stored")
    let sound = list.encoded()
    for count in 0..<sound.count { #expect(decoded(Array(sound[..<count])) == nil) }
    for _ in 0..<2000 {
      var writer = ByteWriter()
      var bytes = Array(sound.dropLast(4))
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...9, using: &random)
      }
      if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...5, using: &random)) }
      bytes.forEach { writer.append($0) }
      writer.appendChecksum()
      guard let read = decoded(writer.bytes) else { continue }
      #expect(read.encoded() == writer.bytes, "seed \(random.seed)")
    }
  }

  @Test func statesThatContradictThemselvesAreRefused() {
    for builds: [IndexBuildList.Build] in [
      [.init(index: 0)], [.init(index: 3), .init(index: 3)],
      [.init(index: 3, state: .writeOnly, filled: 8)],
    ] {
      #expect(decoded(IndexBuildList(builds).encoded()) == nil)
    }
  }

  /// Those that are filled least come first, up to where they meet the others.
  @Test func roundsBringIndexesTogether() {
    var list = list
    #expect(list.round == .init(indexes: [2, 4], filled: 30, bound: 70))
    if let round = list.round { list.advance(round, to: 70) { _ in false } }
    #expect(list.round == .init(indexes: [2, 4, 9], filled: 70, bound: .max))
    if let round = list.round { list.advance(round, to: .max) { $0 == 4 } }
    #expect(list.round == nil)
    #expect(
      list.builds == [
        .init(index: 4, state: .writeOnly, filled: .max)
      ], "7 is not known to be unique, and need not be")
    list.remove([4])
    #expect(list.isEmpty)
  }
}
