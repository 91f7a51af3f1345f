/// Assigns positions to the members of an ordered relationship while moving as few as possible.
///
/// Members whose positions already ascend keep them; the others are placed in the gaps. All members
/// are renumbered, ``StoreFormat/positionGap`` apart, only if a gap is exhausted.
enum MemberPositions {
  /// Returns the positions of members in their new order.
  ///
  /// - Parameter old: The previous position of each member in the new order, or `nil` for a new
  ///   member.
  /// - Returns: Ascending positions, none of them 0.
  static func assign(_ old: [UInt64?]) -> [UInt64] {
    let kept = longestAscending(old)
    var positions: [UInt64] = []
    positions.reserveCapacity(old.count)
    var index = 0
    for keptIndex in kept + [old.count] {
      let lower = positions.last ?? 0
      let needed = UInt64(keptIndex - index)
      let upper = keptIndex < old.count ? old[keptIndex] : nil
      if needed > 0 {
        guard let step = step(from: lower, to: upper, for: needed) else {
          return (1...UInt64(old.count)).map { $0 * StoreFormat.positionGap }
        }
        for number in 1...needed { positions.append(lower + step * number) }
      }
      if let upper { positions.append(upper) }
      index = keptIndex + 1
    }
    return positions
  }

  /// Returns the distance between `count` positions in a gap, or `nil` if the gap is too small.
  private static func step(from lower: UInt64, to upper: UInt64?, for count: UInt64) -> UInt64? {
    guard let upper else {
      // After the last position: full gaps, as long as the numbers suffice.
      let room = (UInt64.max - lower) / StoreFormat.positionGap
      return room > count ? StoreFormat.positionGap : nil
    }
    let step = (upper - lower) / (count + 1)
    return step > 0 ? step : nil
  }

  /// Returns the indices of the longest increasing subsequence, by patience sorting.
  private static func longestAscending(_ positions: [UInt64?]) -> [Int] {
    var tails: [Int] = []
    var previous = [Int](repeating: -1, count: positions.count)
    for (index, position) in positions.enumerated() {
      guard let position, position > 0 else { continue }
      let lower = tails.partitioningIndex { (positions[$0] ?? 0) >= position }
      if lower > 0 { previous[index] = tails[lower - 1] }
      if lower == tails.count { tails.append(index) } else { tails[lower] = index }
    }
    var run: [Int] = []
    var index = tails.last ?? -1
    while index >= 0 {
      run.append(index)
      index = previous[index]
    }
    return run.reversed()
  }
}
