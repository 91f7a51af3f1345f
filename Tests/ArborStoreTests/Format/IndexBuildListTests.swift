import ArborModel
@testable import ArborStore
import TestSupport
import Testing

@Suite struct IndexBuildListTests {
  private let list = IndexBuildList([
    .init(index: 9, part: 70, position: .init(key: [1, 200, 3], number: 70)), .init(index: 2),
    .init(index: 4, position: .init(key: Array(repeating: 7, count: 200), number: 0)),
    .init(index: 7, state: .writeOnly, part: .max),
  ])

  private func decoded(_ bytes: [UInt8]) -> IndexBuildList? {
    bytes.withUnsafeBytes { IndexBuildList($0) }
  }

  @Test("A list of index builds survives a round trip through its encoding")
  func bytesComeBack() {
    #expect(decoded(list.encoded()) == list)
    #expect(list.builds.map(\.index) == [2, 4, 7, 9])
    #expect(list.build(of: 9)?.part == 70)
    #expect(list.build(of: 5) == nil)
  }

  @Test("Damaged or forged bytes are rejected or decode to a list with the same encoding")
  func hostileBytesAreRefused() {
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

  @Test("Contradictory states of index builds are rejected")
  func statesThatContradictThemselvesAreRefused() {
    for builds: [IndexBuildList.Build] in [
      [.init(index: 0)], [.init(index: 3), .init(index: 3)],
      [.init(index: 3, state: .writeOnly)],
      [.init(index: 3, state: .writeOnly, part: .max, position: .init(key: [1], number: 1))],
      [.init(index: 3, position: .init(key: [], number: 1))],
      [.init(index: 3, position: .init(key: Array(repeating: 7, count: 481), number: 1))],
    ] {
      #expect(decoded(IndexBuildList(builds).encoded()) == nil)
    }
  }

  /// Indexes are filled one after the other. A unique index remains until its values are checked.
  @Test("Indexes are built one after the other")
  func indexesAreFilledOneAfterTheOther() {
    var list = list
    #expect(list.next?.index == 2)
    let position = IndexBuildList.Position(key: [5], number: 6)
    list.advance(2, to: position, part: 3)
    #expect(list.next == .init(index: 2, part: 3, position: position))
    list.finish(2, isUnique: false)
    #expect(list.next?.index == 4)
    list.finish(4, isUnique: true)
    #expect(list.build(of: 4) == .init(index: 4, state: .writeOnly, part: .max))
    list.finish(9, isUnique: false)
    #expect(list.next == nil && list.builds.map(\.index) == [4, 7])
    list.remove([4, 7])
    #expect(list.isEmpty)
  }

  @Test("Entries up to the build position are maintained by commits")
  func entriesUpToThePositionAreDue() {
    let build = IndexBuildList.Build(index: 1, position: .init(key: [5, 5], number: 10))
    func isDue(_ key: [UInt8], _ number: UInt64) -> Bool {
      key.withUnsafeBytes { build.isDue($0, number) }
    }
    #expect(isDue([5, 4, 9], 99) && isDue([5], 99) && isDue([5, 5], 10) && isDue([], 0))
    #expect(!isDue([5, 5], 11) && !isDue([5, 5, 0], 1) && !isDue([6], 1))
    [UInt8](arrayLiteral: 9).withUnsafeBytes { key in
      #expect(!IndexBuildList.Build(index: 1).isDue(key, 1))
      #expect(IndexBuildList.Build(index: 1, state: .writeOnly, part: .max).isDue(key, 1))
    }
  }
}
