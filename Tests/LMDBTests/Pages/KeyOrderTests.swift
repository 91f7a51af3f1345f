import Testing

@testable import LMDB

@Suite struct KeyOrderTests {
  /// Returns keys that differ near the end, near the start, only in length, or not at all.
  private func keys(_ random: inout SeededGenerator) -> [[UInt8]] {
    (0..<400).map { _ in
      let size = random.below(3) == 0 ? random.below(40) : 7 + random.below(11)
      var key = [UInt8](repeating: UInt8(random.below(2)) * 255, count: size)
      for _ in 0..<random.below(3) where size > 0 {
        key[random.below(size)] = UInt8(random.below(3)) * 127
      }
      return key
    }
  }

  private func expected(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
  }

  @Test("Byte keys are ordered lexicographically")
  func bytesAreOrderedFromTheFirstToTheLast() {
    let seed = RandomTests.seed("bytesAreOrderedFromTheFirstToTheLast")
    var random = SeededGenerator(seed: seed)
    let keys = keys(&random)
    for left in keys {
      for right in keys {
        let (order, isAscending) = left.withUnsafeBytes { left in
          right.withUnsafeBytes { right in
            (
              KeyOrder.bytes.compare(left, right).signum(),
              KeyOrder.bytes.isAscending(left, right)
            )
          }
        }
        let expected = expected(left, right)
        #expect(
          order == expected && isAscending == (expected < 0),
          "\(left), \(right), ARBOR_SEED=\(seed)")
      }
    }
  }

  @Test(
    "The leading word of a key agrees with the order",
    arguments: [KeyOrder.integers, .reversedBytes])
  func leadingWordsAgreeWithTheOrder(_ keyOrder: KeyOrder) {
    var random = SeededGenerator(seed: 5)
    let keys = (0..<200).map { _ in (random.next() >> UInt64(random.below(64))).nativeBytes }
    for left in keys {
      for right in keys {
        left.withUnsafeBytes { left in
          right.withUnsafeBytes { right in
            let order = keyOrder.compare(left, right)
            let (one, other) = (keyOrder.leadingWord(left), keyOrder.leadingWord(right))
            #expect(one == other || (one < other) == (order < 0))
            #expect(keyOrder.isAscending(left, right) == (order < 0))
          }
        }
      }
    }
  }
}
