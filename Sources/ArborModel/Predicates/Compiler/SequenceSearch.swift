/// A search for a contiguous subsequence in linear time for any input (Knuth–Morris–Pratt).
struct SequenceSearch {
  /// For each prefix length of the pattern, the length of its longest proper border.
  private let borders: [Int32]

  /// Prepares the search for a pattern of fewer than 2³¹ elements.
  ///
  /// - Parameter isEqual: A closure that returns whether the elements of the pattern at two
  ///   positions are equal.
  init(count: Int, _ isEqual: (Int, Int) -> Bool) {
    var borders = [Int32](repeating: 0, count: max(count, 1) + 1)
    var length = 0
    for position in stride(from: 1, to: count, by: 1) {
      while length > 0, !isEqual(position, length) { length = Int(borders[length]) }
      if isEqual(position, length) { length += 1 }
      borders[position + 1] = Int32(length)
    }
    self.borders = borders
  }

  /// Returns whether the pattern occurs in a sequence.
  ///
  /// - Parameters:
  ///   - count: The number of elements in the sequence.
  ///   - isEqual: A closure that returns whether an element of the sequence equals one of the
  ///     pattern.
  ///   - accepts: A closure that returns whether to accept an occurrence that ends before a
  ///     position.
  func occurs(
    in count: Int, _ isEqual: (_ position: Int, _ patternPosition: Int) -> Bool,
    accepts: (_ end: Int) -> Bool = { _ in true }
  ) -> Bool {
    let whole = borders.count - 1
    var length = 0
    for position in 0..<count {
      while length == whole || length > 0 && !isEqual(position, length) {
        length = Int(borders[length])
      }
      if isEqual(position, length) { length += 1 }
      if length == whole, accepts(position + 1) { return true }
    }
    return false
  }
}
