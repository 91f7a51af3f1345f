@testable import ArborStore
import TestSupport
import Testing

@Suite struct RadixSortTests {
  struct Item: TwoWordSortable, Equatable {
    let high: UInt64
    let low: UInt64
    let origin: Int
  }

  private func sorted(_ items: [Item], ignoringLow: Bool = false) -> [Item] {
    var run = FlatRun<Item>()
    for item in items { run.append(item) }
    run.sort(ignoringLow: ignoringLow)
    return (0..<run.count).map { run[$0] }
  }

  /// Returns the items sorted stably by both words, or by the first one only.
  private func expected(_ items: [Item], ignoringLow: Bool = false) -> [Item] {
    items.sorted {
      if $0.high != $1.high { return $0.high < $1.high }
      if !ignoringLow, $0.low != $1.low { return $0.low < $1.low }
      return $0.origin < $1.origin
    }
  }

  @Test("A radix sort agrees with a comparison sort")
  func sortsAsComparingDoes() {
    var random = SeededRandom()
    for round in 0..<120 {
      // Few or many items whose words vary in few or many bits, in any byte.
      let count = [0, 1, 2, 47, 48, 49, 300, 2000][round % 8]
      let highBits = UInt64.random(in: 0...64, using: &random)
      let lowBits = UInt64.random(in: 0...64, using: &random)
      let shift = UInt64.random(in: 0...40, using: &random)
      let items = (0..<count).map { index in
        Item(
          high: highBits == 0 ? 7 : (random.next() >> (64 - highBits)) << shift,
          low: lowBits == 0 ? 7 : random.next() >> (64 - lowBits), origin: index)
      }
      #expect(sorted(items) == expected(items), "seed \(random.seed)")
    }
  }

  @Test("Sorting is stable for the bits that it ignores")
  func keepsTheOrderOfWhatItIgnores() {
    var random = SeededRandom()
    for count in [10, 500] {
      let items = (0..<count).map { index in
        Item(high: .random(in: 0..<9, using: &random), low: UInt64(index), origin: index)
      }
      #expect(
        sorted(items, ignoringLow: true) == expected(items, ignoringLow: true),
        "seed \(random.seed)")
    }
  }

  @Test("Sorting sorted items needs no buffer and changes nothing")
  func leavesSortedItemsAlone() {
    let items = (0..<1000).map { Item(high: UInt64($0 / 10), low: UInt64($0), origin: $0) }
    var copy = items
    copy.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      RadixSort.sort(base, count: buffer.count) {
        Issue.record("asked for room")
        return base
      }
    }
    #expect(copy == items)
  }
}
