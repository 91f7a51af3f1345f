@testable import ArborStore
import Testing

@Suite struct FlatRunTests {
  typealias Item = RadixSortTests.Item

  @Test("A run grows as needed and can be reused after it was emptied")
  func growsAndForgets() {
    var run = FlatRun<Item>()
    for round in 0..<2 {
      for number in 0..<100_000 {
        run.append(Item(high: UInt64(number), low: UInt64(round), origin: number))
      }
      #expect(run.count == 100_000)
      #expect(run[99_999] == Item(high: 99_999, low: UInt64(round), origin: 99_999))
      run.removeAll()
      #expect(run.count == 0)
    }
    run.reserve(70_000)
    run.append(Item(high: 1, low: 2, origin: 3))
    #expect(run[0].origin == 3)
  }

  @Test("Only the items that fulfill the condition are kept")
  func keepsWhatIsAskedFor() {
    var run = FlatRun<Item>()
    for number in 0..<50 { run.append(Item(high: UInt64(number), low: 0, origin: number)) }
    run.keep { items, index in items[index].origin % 3 == 0 }
    #expect((0..<run.count).map { run[$0].origin } == Array(stride(from: 0, to: 50, by: 3)))
    run.keep { _, _ in false }
    #expect(run.count == 0)
  }

  @Test("A part of a run can be sorted by a comparison")
  func sortsPartsByComparison() {
    var run = FlatRun<Item>()
    for number in 0..<10 { run.append(Item(high: 0, low: 0, origin: number)) }
    run.sort(3..<7) { $0.origin > $1.origin }
    #expect((0..<10).map { run[$0].origin } == [0, 1, 2, 6, 5, 4, 3, 7, 8, 9])
  }
}
