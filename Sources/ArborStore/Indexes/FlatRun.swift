/// A growing run of trivial items in its own memory, sorted in place. A commit collects hundreds of
/// thousands of them, so no item may cost an allocation or an array check.
///
/// Memory safety: every index in use is less than `count`, and the memory is freed with the run,
/// which returns no pointers that outlive it.
struct FlatRun<Item: TwoWordSortable>: ~Copyable {
  private(set) var items: UnsafeMutablePointer<Item>
  private(set) var count = 0
  private var capacity: Int

  init() {
    capacity = 16
    items = .allocate(capacity: capacity)
  }

  deinit { items.deallocate() }

  @inline(__always)
  subscript(index: Int) -> Item { items[index] }

  @inline(__always)
  mutating func append(_ item: Item) {
    if count == capacity { grow(to: capacity * 2) }
    (items + count).initialize(to: item)
    count += 1
  }

  mutating func reserve(_ more: Int) {
    if count + more > capacity { grow(to: count + more) }
  }

  /// Removes all items. The memory is kept for the next commit unless it is large.
  mutating func removeAll() {
    count = 0
    guard capacity > Self.maximumKeptCapacity else { return }
    items.deallocate()
    capacity = 16
    items = .allocate(capacity: capacity)
  }

  private static var maximumKeptCapacity: Int { 1 << 15 }

  /// Sorts the items by both words, or only by the high word. The sort is stable.
  mutating func sort(ignoringLow: Bool = false) {
    var scratch: UnsafeMutablePointer<Item>?
    RadixSort.sort(items, count: count, ignoringLow: ignoringLow) {
      let room = UnsafeMutablePointer<Item>.allocate(capacity: count)
      scratch = room
      return room
    }
    scratch?.deallocate()
  }

  /// Sorts a range with a comparison, for items whose two words are equal.
  mutating func sort(_ range: Range<Int>, by isBefore: (Item, Item) -> Bool) {
    var part = UnsafeMutableBufferPointer(start: items + range.lowerBound, count: range.count)
    part.sort(by: isBefore)
  }

  /// Keeps the items that satisfy a predicate, in their order.
  mutating func keep(where isKept: (borrowing Self, Int) -> Bool) {
    var end = 0
    for index in 0..<count where isKept(self, index) {
      items[end] = items[index]
      end += 1
    }
    count = end
  }

  @inline(never)
  private mutating func grow(to larger: Int) {
    let moved = UnsafeMutablePointer<Item>.allocate(capacity: larger)
    moved.moveInitialize(from: items, count: count)
    items.deallocate()
    items = moved
    capacity = larger
  }
}
