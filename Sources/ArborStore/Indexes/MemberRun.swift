internal import ArborModel

/// A member to add to or remove from an owner's relationship.
struct MemberChange: TwoWordSortable {
  /// The owner.
  let high: UInt64
  /// The member.
  let low: UInt64
  let isRemoval: Bool

  init(owner: ObjectNumber, member: ObjectNumber, isRemoval: Bool) {
    high = owner.rawValue
    low = member.rawValue
    self.isRemoval = isRemoval
  }

  @inline(__always) var owner: ObjectNumber { ObjectNumber(rawValue: high) }
  @inline(__always) var member: ObjectNumber { ObjectNumber(rawValue: low) }
}

/// The changes of one commit to one unordered relationship, sorted by owner and member.
typealias MemberRun = FlatRun<MemberChange>

extension FlatRun where Item == MemberChange {
  /// Returns the index after the last change of the owner at `start`.
  @inline(__always)
  func endOfOwner(_ start: Int) -> Int {
    let owner = self[start].high
    var end = start + 1
    while end < count, self[end].high == owner { end += 1 }
    return end
  }

  /// Keeps only the last change of each pair. The run must be sorted.
  mutating func keepLastOfEachPair() {
    keep { run, index in
      index + 1 == run.count || run[index].high != run[index + 1].high
        || run[index].low != run[index + 1].low
    }
  }

  /// Returns `true` if the run removes a pair, `false` if it adds the pair, and `nil` if it does
  /// neither. The run must be sorted.
  func isRemoved(_ owner: ObjectNumber, _ member: ObjectNumber) -> Bool? {
    let wanted = (owner.rawValue, member.rawValue)
    let index = (0..<count).partitioningIndex { (self[$0].high, self[$0].low) >= wanted }
    guard index < count, (self[index].high, self[index].low) == wanted else { return nil }
    return self[index].isRemoval
  }
}
