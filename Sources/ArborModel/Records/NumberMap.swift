internal import ArborFoundation
internal import CArborBits

/// A hash map from object numbers to machine words, with open addressing, linear probing and a
/// power-of-two size.
///
/// Used for the identity map and for all sets of objects on hot paths. A lookup takes 5–15 ns,
/// compared with 19–25 ns for `Dictionary`. The key 0, which is not a valid object number, marks an
/// empty slot. Removal shifts later entries back, so there are no tombstones.
///
/// Four consecutive numbers share a cache line, because objects that are fetched together are also
/// registered, looked up and released together.
@usableFromInline
package final class NumberMap {
  @usableFromInline
  struct Entry {
    @usableFromInline var key: UInt64
    @usableFromInline var word: UInt

    @inlinable
    init(key: UInt64, word: UInt) {
      self.key = key
      self.word = word
    }
  }

  /// The entries, starting at the first complete cache line of ``memory``.
  @usableFromInline var entries: UnsafeMutablePointer<Entry>
  /// The allocation, or `nil` before the first insertion. Until then, ``entries`` is a single empty
  /// slot that all such maps share.
  private var memory: UnsafeMutableRawPointer?
  @usableFromInline var mask: Int
  @usableFromInline package internal(set) var count = 0

  /// Creates an empty map. Doesn't allocate memory unless a minimum capacity is specified.
  package init(minimumCapacity: Int = 0) {
    entries = Self.nothing.entries
    mask = 0
    if minimumCapacity > 0 { resize(Self.size(for: minimumCapacity)) }
  }

  deinit { free(memory) }

  /// The word of a number, or `nil` if the map doesn't contain the number.
  @inlinable @inline(__always)
  package subscript(number: ObjectNumber) -> UInt? {
    let entry = entries[find(number.rawValue)]
    return entry.key == 0 ? nil : entry.word
  }

  @inlinable @inline(__always)
  package func contains(_ number: ObjectNumber) -> Bool {
    entries[find(number.rawValue)].key != 0
  }

  /// Returns the words of many numbers in order, with 0 for missing ones.
  ///
  /// Prefetches the slots of the following numbers. For scattered numbers, individual lookups would
  /// spend most of their time waiting for memory.
  package func words(of numbers: [ObjectNumber]) -> ContiguousArray<UInt> {
    // An array without capacity uses the empty storage that all threads share, and its count must
    // not be written.
    guard !numbers.isEmpty else { return [] }
    return ContiguousArray(unsafeUninitializedCapacity: numbers.count) { words, count in
      for slot in numbers.indices {
        if slot + Self.lookahead < numbers.count {
          prefetch(numbers[slot + Self.lookahead])
        }
        words.initializeElement(at: slot, to: self[numbers[slot]] ?? 0)
      }
      count = numbers.count
    }
  }

  /// The number of slots by which prefetching is ahead of reading.
  @usableFromInline
  package static let lookahead = 12

  /// Prefetches the slot of a number into the cache.
  @inlinable @inline(__always)
  package func prefetch(_ number: ObjectNumber) {
    let slot = entries + (Self.hash(number.rawValue) & mask)
    Self.prefetch(UInt(bitPattern: slot))
  }

  /// Sets the word of a number. Returns the previous word, or `nil` if there wasn't one.
  @discardableResult
  package func set(_ number: ObjectNumber, _ word: UInt) -> UInt? {
    if (count + 1) * 4 > (mask + 1) * 3 { resize(max(Self.leastSize, (mask + 1) * 2)) }
    let slot = find(number.rawValue)
    let former = entries[slot]
    entries[slot] = Entry(key: number.rawValue, word: word)
    if former.key != 0 { return former.word }
    count += 1
    return nil
  }

  /// Removes a number. Returns its word, or `nil` if the map didn't contain it.
  @discardableResult
  package func remove(_ number: ObjectNumber) -> UInt? {
    var hole = find(number.rawValue)
    guard entries[hole].key != 0 else { return nil }
    let word = entries[hole].word
    count -= 1
    // Move back each subsequent entry whose home slot is not between the hole and its position.
    var slot = hole
    while true {
      slot = (slot + 1) & mask
      let entry = entries[slot]
      guard entry.key != 0 else { break }
      let home = Self.hash(entry.key) & mask
      if (slot - home) & mask >= (slot - hole) & mask {
        entries[hole] = entry
        hole = slot
      }
    }
    entries[hole].key = 0
    return word
  }

  /// Removes all entries. Frees memory that is far larger than needed, so that subsequent calls
  /// don't have to clear it.
  package func removeAll() {
    guard memory != nil else { return }
    if mask >= Self.sparseSize, count < (mask + 1) / Self.sparseSize {
      free(memory)
      (memory, entries, mask) = (nil, Self.nothing.entries, 0)
    } else {
      entries.update(repeating: Entry(key: 0, word: 0), count: mask + 1)
    }
    count = 0
  }

  package func reserveCapacity(_ capacity: Int) {
    let size = Self.size(for: capacity)
    if size > mask + 1 { resize(size) }
  }

  /// Calls `body` with every number and its word, in no particular order. The map must not change
  /// during the call.
  @inlinable @inline(__always)
  package func forEach(_ body: (ObjectNumber, UInt) throws -> Void) rethrows {
    guard count > 0 else { return }
    for slot in 0...mask where entries[slot].key != 0 {
      try body(ObjectNumber(rawValue: entries[slot].key), entries[slot].word)
    }
  }

  /// Calls `body` like ``forEach(_:)``, for words that are addresses, and prefetches the memory at
  /// subsequent addresses.
  @inlinable @inline(__always)
  package func forEachAddress(_ body: (ObjectNumber, UInt) throws -> Void) rethrows {
    guard count > 0 else { return }
    // The memory for a few words is probably cached already.
    let isLarge = mask >= 1024
    for slot in 0...mask {
      if isLarge { Self.prefetch(entries[(slot + Self.lookahead) & mask].word) }
      guard entries[slot].key != 0 else { continue }
      try body(ObjectNumber(rawValue: entries[slot].key), entries[slot].word)
    }
  }

  /// Prefetches the memory at an address, which need not be valid.
  @usableFromInline
  package static func prefetch(_ address: UInt) {
    arbor_prefetch(UnsafeRawPointer(bitPattern: address))
  }

  // Fibonacci hashing of groups of four distributes the numbers of an entity well. The high bits of
  // the product are the best distributed ones.
  @inlinable @inline(__always)
  static func hash(_ key: UInt64) -> Int {
    let four = ((key >> 2) &* 0x9E37_79B9_7F4A_7C15) >> 20
    return Int(truncatingIfNeeded: four << 2 | key & 3)
  }

  @inlinable @inline(__always)
  func find(_ key: UInt64) -> Int {
    var slot = Self.hash(key) & mask
    while entries[slot].key != 0, entries[slot].key != key { slot = (slot + 1) & mask }
    return slot
  }

  private func resize(_ size: Int) {
    let (old, oldMemory, oldMask) = (entries, memory, mask)
    (memory, entries) = Self.allocate(size)
    mask = size - 1
    for slot in 0...oldMask where old[slot].key != 0 {
      entries[find(old[slot].key)] = old[slot]
    }
    free(oldMemory)
  }

  private static let leastSize = 16
  /// The number of slots per entry above which ``removeAll()`` frees the memory.
  private static let sparseSize = 64

  private static func size(for capacity: Int) -> Int {
    var size = leastSize
    while size * 3 < capacity * 4 + 4 { size *= 2 }
    return size
  }

  /// Allocates empty slots. Zero bytes represent an empty slot, and the system provides large
  /// zeroed allocations lazily.
  private static func allocate(
    _ size: Int
  ) -> (memory: UnsafeMutableRawPointer, entries: UnsafeMutablePointer<Entry>) {
    guard let memory = calloc(size * MemoryLayout<Entry>.stride + cacheLine, 1) else {
      stopProgram("Out of memory for a map of \(size) objects.")
    }
    let entries = memory.alignedUp(toMultipleOf: cacheLine)
    return (memory, entries.bindMemory(to: Entry.self, capacity: size))
  }

  /// The slot shared by empty maps. `Sendable` because it is never written to.
  private struct Nothing: @unchecked Sendable {
    let entries: UnsafeMutablePointer<Entry>
  }

  private static let nothing: Nothing = {
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
    entries.initialize(to: Entry(key: 0, word: 0))
    return Nothing(entries: entries)
  }()

  /// The assumed size of a cache line in bytes. On machines with longer cache lines, two groups of
  /// four share one.
  private static let cacheLine = 64
}
