extension RandomAccessCollection where Index == Int {
  /// Returns the index of the first element that satisfies a condition that all later elements also
  /// satisfy, or the end index if there isn't one.
  ///
  /// - Complexity: Logarithmic.
  @inlinable @inline(__always)
  package func partitioningIndex(where isReached: (Element) -> Bool) -> Int {
    var lower = startIndex
    var upper = endIndex
    while lower < upper {
      let middle = (lower + upper) / 2
      if isReached(self[middle]) { upper = middle } else { lower = middle + 1 }
    }
    return lower
  }
}
