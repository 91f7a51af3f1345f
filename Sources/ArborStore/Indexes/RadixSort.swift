/// An item that is sorted by two words, the first being more significant.
protocol TwoWordSortable: BitwiseCopyable {
  var high: UInt64 { get }
  var low: UInt64 { get }
}

/// A stable radix sort of trivial items by their two words.
///
/// It proceeds byte by byte from the least significant, in time proportional to the number of items
/// and of bytes that differ: small integers differ in one byte, consecutive numbers in two or
/// three. A hundred thousand entries take a few milliseconds, a tenth of the time of a comparison
/// sort.
enum RadixSort {
  /// The number of items below which an insertion sort is faster. It needs no scratch memory.
  private static let fewItems = 48

  /// Sorts `count` items.
  ///
  /// - Parameters:
  ///   - scratch: Returns memory for as many items. Called only if needed.
  ///   - ignoringLow: Whether the items are already in the order of their low words.
  ///
  /// Memory safety: both buffers hold `count` items, every written index is the sum of the counts
  /// of smaller bytes and of earlier items with the same byte, and the items are trivial.
  static func sort<Item: TwoWordSortable>(
    _ items: UnsafeMutablePointer<Item>, count: Int, ignoringLow: Bool = false,
    scratch: () -> UnsafeMutablePointer<Item>
  ) {
    guard count > 1 else { return }
    let varying = differences(items, count)
    if varying.isSorted { return }
    if count < fewItems { return insertionSort(items, count) }
    let other = scratch()
    var (source, target) = (items, other)
    if !ignoringLow {
      for shift in bytes(of: varying.low) {
        distribute(source, target, count) { Int(truncatingIfNeeded: $0.low >> shift) & 0xFF }
        swap(&source, &target)
      }
    }
    for shift in bytes(of: varying.high) {
      distribute(source, target, count) { Int(truncatingIfNeeded: $0.high >> shift) & 0xFF }
      swap(&source, &target)
    }
    if source != items { items.update(from: source, count: count) }
  }

  /// Returns the bits that differ between any two items, and whether the items are already sorted.
  private static func differences<Item: TwoWordSortable>(
    _ items: UnsafeMutablePointer<Item>, _ count: Int
  ) -> (high: UInt64, low: UInt64, isSorted: Bool) {
    var high: UInt64 = 0
    var low: UInt64 = 0
    var isSorted = true
    var last = items[0]
    for index in 1..<count {
      let item = items[index]
      high |= item.high ^ last.high
      low |= item.low ^ last.low
      if isSorted { isSorted = !isBefore(item, last) }
      last = item
    }
    return (high, low, isSorted)
  }

  /// Returns the shifts of the bytes with a bit set, least significant first.
  private static func bytes(of word: UInt64) -> [UInt64] {
    stride(from: UInt64(0), to: 64, by: 8).filter { (word >> $0) & 0xFF != 0 }
  }

  @inline(__always)
  private static func isBefore<Item: TwoWordSortable>(_ left: Item, _ right: Item) -> Bool {
    left.high != right.high ? left.high < right.high : left.low < right.low
  }

  private static func insertionSort<Item: TwoWordSortable>(
    _ items: UnsafeMutablePointer<Item>, _ count: Int
  ) {
    for index in 1..<count {
      let item = items[index]
      var hole = index
      while hole > 0, isBefore(item, items[hole - 1]) {
        items[hole] = items[hole - 1]
        hole -= 1
      }
      items[hole] = item
    }
  }

  @inline(__always)
  private static func distribute<Item: TwoWordSortable>(
    _ source: UnsafeMutablePointer<Item>, _ target: UnsafeMutablePointer<Item>, _ count: Int,
    _ byte: (Item) -> Int
  ) {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { starts in
      starts.update(repeating: 0)
      for index in 0..<count { starts[byte(source[index])] &+= 1 }
      var sum = 0
      for value in 0..<256 {
        let number = starts[value]
        starts[value] = sum
        sum &+= number
      }
      for index in 0..<count {
        let item = source[index]
        let value = byte(item)
        target[starts[value]] = item
        starts[value] &+= 1
      }
    }
  }
}
