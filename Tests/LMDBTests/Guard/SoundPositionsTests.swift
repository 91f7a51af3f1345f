import Testing

@testable import LMDB

@Suite struct SoundPositionsTests {
  @Test("A position that replaces another in the cache isn't mistaken for it")
  func knowsWhatWasAddedLast() {
    let positions = SoundPositions()
    var random = SeededGenerator(seed: 3)
    let (first, second) = (random.next() << 1, random.next() << 1)
    func known(_ list: [UInt64], _ positions: borrowing SoundPositions) -> [Bool] {
      list.map { positions.contains($0) }
    }
    let all = [first, first ^ 4, second, 0]
    #expect(known(all, positions) == [false, false, false, false])
    positions.insert(first)
    #expect(known(all, positions) == [true, false, false, false])
    positions.insert(first ^ 4)
    positions.insert(0)
    #expect(known(all, positions) == [false, true, false, true])
    positions.removeAll()
    #expect(known(all, positions) == [false, false, false, false])
  }
}
