extension RandomAccessCollection where Index == Int {
  /// The index of the first element that fulfils a condition which all behind it fulfil too; the
  /// end where none does. Logarithmic.
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
