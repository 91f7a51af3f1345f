internal import ArborModel

/// Merging lists of members. A common prefix or suffix only costs a comparison.
extension [ObjectNumber] {
  /// Returns this list with the missing members of another list inserted, each after its
  /// predecessor there. Members that follow all others there come after all common members. Takes
  /// linear time.
  func inserting(_ guests: [ObjectNumber]) -> [ObjectNumber] {
    guard let (own, theirs) = middles(guests) else { return self }
    let host = Set(self[own])
    guard guests[theirs].contains(where: { !host.contains($0) }) else { return self }
    let common = host.intersection(guests[theirs])
    var runs: [ObjectNumber?: [ObjectNumber]] = [:]
    var anchor: ObjectNumber?
    var run: [ObjectNumber] = []
    for guest in guests[theirs] {
      guard common.contains(guest) else {
        run.append(guest)
        continue
      }
      runs[anchor] = run
      (anchor, run) = (guest, [])
    }
    if theirs.upperBound == guests.endIndex { anchor = self[own].last(where: common.contains) }
    runs[anchor, default: []] += run
    var merged = self[..<own.lowerBound] + (runs[nil] ?? [])
    for member in self[own] {
      merged.append(member)
      if let run = runs[member] { merged += run }
    }
    return [ObjectNumber](merged + self[own.upperBound...])
  }

  /// Returns this list with the missing members of another list inserted, each before its successor
  /// there. Members that precede all others there come before all common members. Takes linear
  /// time.
  func insertingBefore(_ guests: [ObjectNumber]) -> [ObjectNumber] {
    [ObjectNumber](reversed()).inserting(guests.reversed()).reversed()
  }

  /// Returns the ranges between the common prefix and the common suffix of two lists, or `nil` if
  /// they are equal.
  func middles(_ other: [ObjectNumber]) -> (own: Range<Int>, theirs: Range<Int>)? {
    let shorter = Swift.min(count, other.count)
    var start = 0
    while start < shorter, self[start] == other[start] { start += 1 }
    var length = 0
    while length < shorter - start, self[count - 1 - length] == other[other.count - 1 - length] {
      length += 1
    }
    let (end, otherEnd) = (count - length, other.count - length)
    return start == end && start == otherEnd ? nil : (start..<end, start..<otherEnd)
  }
}
