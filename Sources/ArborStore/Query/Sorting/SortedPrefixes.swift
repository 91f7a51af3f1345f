internal import ArborModel

/// Sorts indices by 64-bit numbers with a least-significant-byte radix sort. Moves 16 bytes per
/// element and pass, whatever is being sorted, and skips bytes that are the same in all numbers.
/// A few elements are compared instead, because each radix sort has 2,048 counters to set up.
struct SortedPrefixes {
  private struct Element {
    var prefix: UInt64
    var index: Int
  }

  /// The maximum number of elements that are sorted by comparison.
  private static let few = 256

  private var elements: [Element]

  /// - Parameter prefix: Returns the number of the element at an index.
  init(count: Int, _ prefix: (Int) -> UInt64) {
    elements = (0..<count).map { Element(prefix: prefix($0), index: $0) }
  }

  /// Sorts the elements by their numbers.
  ///
  /// - Throws: The interruption that ends the work.
  mutating func sort(_ limit: WorkLimit) throws(Interruption) {
    guard elements.count > Self.few else {
      elements.sort { $0.prefix < $1.prefix }
      return
    }
    var counts = Array(repeating: 0, count: 8 * 256)
    for element in elements {
      for byte in 0..<8 { counts[byte << 8 | Self.byte(byte, of: element.prefix)] += 1 }
    }
    var sorted = elements
    for byte in 0..<8 {
      try limit.check(elements.count)
      var places = counts[byte << 8..<(byte + 1) << 8]
      if places.contains(elements.count) { continue }
      var next = 0
      for index in places.indices {
        let count = places[index]
        places[index] = next
        next += count
      }
      for element in elements {
        let place = byte << 8 | Self.byte(byte, of: element.prefix)
        sorted[places[place]] = element
        places[place] += 1
      }
      swap(&elements, &sorted)
    }
  }

  /// Returns the sorted indices. Elements with equal numbers are sorted by a comparison.
  func indices(by isBefore: (Int, Int) throws -> Bool) rethrows -> [Int] {
    var indices = elements.map(\.index)
    var start = 0
    while start < elements.count {
      var end = start + 1
      while end < elements.count, elements[end].prefix == elements[start].prefix { end += 1 }
      if end - start > 1 {
        let run = try indices[start..<end].sorted(by: isBefore)
        indices.replaceSubrange(start..<end, with: run)
      }
      start = end
    }
    return indices
  }

  @inline(__always)
  private static func byte(_ byte: Int, of prefix: UInt64) -> Int {
    Int(truncatingIfNeeded: prefix >> UInt64(8 * byte)) & 0xFF
  }
}
