import TestSupport
import Testing
import ArborStore

@Suite struct SortedSearchTests {
  @Test("A binary search agrees with counting")
  func findsWhatACountFinds() {
    var random = SeededRandom()
    for _ in 0..<300 {
      let numbers = (0..<Int.random(in: 0...9, using: &random)).map { _ in
        Int.random(in: 0...9, using: &random)
      }.sorted()
      let sought = Int.random(in: -1...10, using: &random)
      let below = numbers.count { $0 < sought }
      #expect(numbers.partitioningIndex { $0 >= sought } == below, "seed \(random.seed)")
      let behind = numbers.dropFirst(2)
      #expect(
        behind.partitioningIndex { $0 >= sought } == max(below, behind.startIndex),
        "seed \(random.seed)")
    }
  }
}
