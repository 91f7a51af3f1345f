import ArborStore
import TestSupport
import Testing

/// Sorting numbers without duplicates, compared with sets.
@Suite struct SortedNumbersTests {
  /// Spans range from one number to more than any list fills, at both ends of the number space.
  @Test(
    "Sorting numbers and removing duplicates agrees with a set",
    arguments: [1, 2, 63, 64, 65, 1000, 1 << 20, 1 << 48, .max] as [UInt64])
  func isASortedSet(span: UInt64) {
    var random = SeededRandom(seed: span)
    for base in [0, 1, UInt64.max - span + 1] where base <= UInt64.max - (span - 1) {
      for count in [0, 1, 2, 3, 100, 5000] {
        let numbers = (0..<count).map { _ in
          base + UInt64.random(in: 0..<span, using: &random)
        }
        var sorted = numbers
        SortedNumbers.sortUnique(&sorted)
        #expect(sorted == Set(numbers).sorted(), "\(count) numbers from \(base) on, \(span) wide")
      }
    }
  }

  @Test("Sorted numbers keep their order and lose duplicates")
  func leavesWhatIsSorted() {
    var numbers: [UInt64] = [1, 5, 9]
    SortedNumbers.sortUnique(&numbers)
    #expect(numbers == [1, 5, 9])
    numbers = [1, 5, 5, 9]
    SortedNumbers.sortUnique(&numbers)
    #expect(numbers == [1, 5, 9])
  }

  @Test("The intersection of sorted numbers contains the common ones")
  func findsWhatIsCommon() {
    #expect(SortedNumbers.intersection([1, 3, 5, 7], [2, 3, 4, 7, 9]) == [3, 7])
    #expect(SortedNumbers.intersection([], [1]) == [])
    #expect(SortedNumbers.intersection([1], []) == [])
  }
}
