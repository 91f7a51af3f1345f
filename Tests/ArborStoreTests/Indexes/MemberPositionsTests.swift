@testable import ArborStore
import TestSupport
import Testing

@Suite struct MemberPositionsTests {
  private let gap = StoreFormat.positionGap

  private func isAscending(_ positions: [UInt64]) -> Bool {
    zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 } && positions.first != 0
  }

  @Test("New members get positions with equal gaps")
  func newMembersLieApart() {
    #expect(MemberPositions.assign([nil, nil, nil]) == [gap, 2 * gap, 3 * gap])
    #expect(MemberPositions.assign([]) == [])
  }

  @Test("Members keep their positions whenever possible")
  func whoeverNeedNotMoveStays() {
    #expect(MemberPositions.assign([gap, nil, 2 * gap]) == [gap, gap + gap / 2, 2 * gap])
    #expect(MemberPositions.assign([nil, gap]) == [gap / 2, gap])
    #expect(MemberPositions.assign([gap, 2 * gap, nil]) == [gap, 2 * gap, 3 * gap])
    // If one member moves from the end to the front, only that one gets a new position.
    #expect(
      MemberPositions.assign([3 * gap, gap, 2 * gap]) == [gap / 2, gap, 2 * gap])
  }

  @Test("All members are renumbered once a gap is exhausted")
  func exhaustedGapsAreNumberedAnew() {
    #expect(MemberPositions.assign([7, nil, 8]) == [gap, 2 * gap, 3 * gap])
    #expect(MemberPositions.assign([nil, 1]) == [gap, 2 * gap])
    #expect(MemberPositions.assign([.max, nil]) == [gap, 2 * gap])
  }

  @Test("Every edit yields ascending positions and moves as few members as possible")
  func anyEditGivesAscendingPositions() {
    var random = SeededRandom()
    for _ in 0..<300 {
      var positions: [UInt64] = []
      for _ in 0..<30 {
        var order: [UInt64?] = positions
        switch Int.random(in: 0..<4, using: &random) {
        case 0: order.shuffle(using: &random)
        case 1: order.removeAll { _ in Bool.random(using: &random) }
        case 2 where !order.isEmpty: order.swapAt(0, order.count - 1)
        default: order.insert(nil, at: Int.random(in: 0...order.count, using: &random))
        }
        let next = MemberPositions.assign(order)
        #expect(next.count == order.count && isAscending(next), "seed \(random.seed)")
        // The longest ascending run keeps its positions, unless all members are renumbered.
        let kept = zip(order, next).filter { $0 == $1 }.count
        let isRenumbered = next == (0..<next.count).map { (UInt64($0) + 1) * gap }
        #expect(kept >= longest(order) || isRenumbered, "seed \(random.seed)")
        positions = next
      }
    }
  }

  private func longest(_ order: [UInt64?]) -> Int {
    var best = [Int](repeating: 0, count: order.count)
    for index in order.indices {
      guard let here = order[index] else { continue }
      let before = (0..<index).filter { (order[$0] ?? .max) < here }.map { best[$0] }
      best[index] = (before.max() ?? 0) + 1
    }
    return best.max() ?? 0
  }
}
