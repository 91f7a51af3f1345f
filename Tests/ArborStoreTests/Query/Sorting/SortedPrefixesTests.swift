import ArborModel
import TestSupport
import Testing

@testable import ArborStore

@Suite struct SortedPrefixesTests {
  /// Few elements are sorted by comparison and many by their bytes, with the same result.
  @Test(
    "Indices are sorted by number, then by the comparison",
    arguments: [0, 1, 2, 255, 256, 257, 5000],
    [0, 0xFF, 0xFF00_0000, 0x0101_0000_0000_0001, UInt64.max])
  func indicesAreSorted(count: Int, mask: UInt64) throws {
    var random = SeededRandom()
    let seed = random.seed
    let numbers = (0..<count).map { _ in UInt64.random(in: 0...(.max), using: &random) & mask }
    var sorted = SortedPrefixes(count: count) { numbers[$0] }
    try sorted.sort(WorkLimit())
    let indices = sorted.indices { $0 > $1 }
    let expected = numbers.indices.sorted { left, right in
      numbers[left] == numbers[right] ? left > right : numbers[left] < numbers[right]
    }
    #expect(indices == expected, "seed \(seed)")
  }

  @Test("Sorting many elements stops when the work is cancelled")
  func aSortIsInterrupted() throws {
    let limit = WorkLimit()
    let revocation = Revocation()
    limit.revocation = revocation
    revocation.revoke()
    var sorted = SortedPrefixes(count: 5000) { UInt64($0) }
    #expect(throws: Interruption.cancelled) { try sorted.sort(limit) }
  }
}
