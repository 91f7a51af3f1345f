import ArborModel
@testable import ArborStore
import TestSupport
import Testing

@Suite struct MemberRunTests {
  private func run(_ changes: [(UInt64, UInt64, Bool)]) -> MemberRun {
    var run = MemberRun()
    for (owner, member, isRemoval) in changes {
      run.append(
        MemberChange(
          owner: ObjectNumber(rawValue: owner), member: ObjectNumber(rawValue: member),
          isRemoval: isRemoval))
    }
    return run
  }

  @Test("Only the last of several changes of a link counts")
  func theLastOfSeveralChangesCounts() {
    var random = SeededRandom()
    for count in [5, 40, 400] {
      let changes = (0..<count).map { _ in
        (
          UInt64.random(in: 1...6, using: &random), UInt64.random(in: 1...6, using: &random),
          Bool.random(using: &random)
        )
      }
      var last: [[UInt64]: Bool] = [:]
      for (owner, member, isRemoval) in changes { last[[owner, member]] = isRemoval }
      var run = run(changes)
      run.sort()
      run.keepLastOfEachPair()
      #expect(run.count == last.count)
      for owner in UInt64(1)...6 {
        for member in UInt64(1)...6 {
          let found = run.isRemoved(
            ObjectNumber(rawValue: owner), ObjectNumber(rawValue: member))
          #expect(found == last[[owner, member]], "seed \(random.seed)")
        }
      }
    }
  }

  @Test("The end of each owner's changes is found")
  func endsWithTheOwner() {
    let run = run([(1, 1, false), (1, 9, false), (2, 1, false), (7, 1, true)])
    #expect(run.endOfOwner(0) == 2 && run.endOfOwner(2) == 3 && run.endOfOwner(3) == 4)
    #expect(run[3].owner.rawValue == 7 && run[3].member.rawValue == 1)
  }
}
