import ArborModel
import TestSupport
import Testing

@testable import ArborObjects

@Suite struct ResultsStepTests {
  @Test("A step leads from one list to another")
  func leadsFromOneListToAnother() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let all = (0..<12).map { _ in context.insert(Skill.self) as ManagedObject }
      var random = SeededRandom()
      for _ in 0..<500 {
        let old = Array(all.shuffled(using: &random).prefix(.random(in: 0...12, using: &random)))
        let new = Array(all.shuffled(using: &random).prefix(.random(in: 0...12, using: &random)))
        let changed = Set(all.filter { _ in Bool.random(using: &random) })
        let step = ResultsStep(from: old, to: new) { _, after in changed.contains(after) }
        let difference = FetchedResults<ManagedObject>.Difference(step)
        #expect(difference.applied(to: old) == new, "seed \(random.seed)")
        #expect(Set(step.deletions.map(\.object)) == Set(old).subtracting(new))
        #expect(Set(step.insertions.map(\.object)) == Set(new).subtracting(old))
        let moved = Set(step.moves.map(\.object))
        let stayed = Set(old).intersection(new).subtracting(moved)
        #expect(Set(step.updates.map(\.object)) == stayed.intersection(changed))
        #expect(old.filter(stayed.contains) == new.filter(stayed.contains))
      }
    }
  }

  @Test("A longest increasing subsequence is found")
  func findsALongestRise() {
    func length(_ numbers: [Int]) -> Int {
      // The naive algorithm: the longest run that ends with each number.
      var best: [Int] = []
      for (index, number) in numbers.enumerated() {
        best.append(1 + (0..<index).filter { numbers[$0] < number }.map { best[$0] }.max(or: 0))
      }
      return best.max(or: 0)
    }
    var random = SeededRandom()
    for _ in 0..<300 {
      let numbers = Array(0..<Int.random(in: 0...9, using: &random)).shuffled(using: &random)
      let marks = ResultsStep.longestIncreasingSubsequence(numbers)
      let rise = zip(numbers, marks).filter(\.1).map(\.0)
      #expect(rise == rise.sorted() && rise.count == length(numbers), "\(numbers)")
    }
    #expect(ResultsStep.longestIncreasingSubsequence([2, 0, 1]) == [false, true, true])
  }
}

extension Sequence<Int> {
  fileprivate func max(or least: Int) -> Int { self.max() ?? least }
}
