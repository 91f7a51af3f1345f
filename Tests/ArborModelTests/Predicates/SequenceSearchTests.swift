import Testing

@testable import ArborModel

@Suite struct SequenceSearchTests {
  private func occurs(_ pattern: [Int], in text: [Int]) -> Bool {
    SequenceSearch(count: pattern.count) { pattern[$0] == pattern[$1] }
      .occurs(in: text.count) { text[$0] == pattern[$1] }
  }

  @Test("Every pattern of two elements is found where it is, and nowhere else")
  func findsAllShortPatterns() {
    func sequences(upTo length: Int) -> [[Int]] {
      (1...length).flatMap { count in
        (0..<(1 << count)).map { bits in (0..<count).map { bits >> $0 & 1 } }
      }
    }
    for pattern in sequences(upTo: 5) {
      for text in sequences(upTo: 7) {
        let expected = text.indices.contains { text[$0...].starts(with: pattern) }
        #expect(occurs(pattern, in: text) == expected, "\(pattern) in \(text)")
      }
    }
    #expect(!occurs([0], in: []))
  }

  @Test("The search continues after an occurrence that is not accepted")
  func refusedOccurrencesAreFollowedByOthers() {
    let text = [1, 1, 1, 1]
    let search = SequenceSearch(count: 2) { _, _ in true }
    var ends: [Int] = []
    let found = search.occurs(in: text.count) {
      text[$0] == [1, 1][$1]
    } accepts: {
      ends.append($0)
      return false
    }
    #expect(!found && ends == [2, 3, 4])
  }
}
