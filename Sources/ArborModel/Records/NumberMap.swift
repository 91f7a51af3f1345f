internal import CArborBits
internal import Foundation

/// A map from object numbers to machine words: open addressing, linear probing, power-of-two size.
///
/// It is the form of the identity map and of every set of objects on a hot path: a look-up costs
/// 5–15 ns where `Dictionary` costs 19–25. The key 0, no object's number, marks an empty slot, and
/// removal shifts later entries back so that no tombstones pile up.
///
/// Four consecutive numbers are neighbours in one cache line: objects that are fetched together are
/// registered, found and let go together.
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

  /// Where the entries lie: from the first whole cache line of ``memory`` on.
  @usableFromInline var entries: UnsafeMutablePointer<Entry>
  /// nil before the first entry: then ``entries`` is one empty slot that all such maps share.
  private var memory: UnsafeMutableRawPointer?
  @usableFromInline var mask: Int
  @usableFromInline package internal(set) var count = 0

  /// A map takes no memory before something is set, unless it is told of what will be.
  package init(minimumCapacity: Int = 0) {
    entries = Self.nothing.entries
    mask = 0
    if minimumCapacity > 0 { resize(Self.size(for: minimumCapacity)) }
  }

  deinit { free(memory) }

  /// The word of a number, or nil.
  @inlinable @inline(__always)
  package subscript(number: ObjectNumber) -> UInt? {
    let entry = entries[find(number.rawValue)]
    return entry.key == 0 ? nil : entry.word
  }

  @inlinable @inline(__always)
  package func contains(_ number: ObjectNumber) -> Bool {
    entries[find(number.rawValue)].key != 0
  }

  /// The words of many numbers in their order, 0 for those that have none.
  ///
  /// The slots of numbers further on are on their way to the processor meanwhile: where numbers
  /// are scattered, waiting for them is most of what looking them up one by one costs.
  package func words(of numbers: [ObjectNumber]) -> ContiguousArray<UInt> {
    // An array without room is the one that all threads share: its count would be written there.
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

  /// How many slots ahead memory is asked for.
  @usableFromInline
  package static let lookahead = 12

  /// Begins to bring the slot of a number near to the processor.
  @inlinable @inline(__always)
  package func prefetch(_ number: ObjectNumber) {
    let slot = entries + (Self.hash(number.rawValue) & mask)
    Self.prefetch(UInt(bitPattern: slot))
  }

  /// Sets the word of a number; returns the word it had.
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

  /// Removes a number; returns the word it had.
  @discardableResult
  package func remove(_ number: ObjectNumber) -> UInt? {
    var hole = find(number.rawValue)
    guard entries[hole].key != 0 else { return nil }
    let word = entries[hole].word
    count -= 1
    // Move each follower back whose home does not lie between the hole and its place.
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

  /// Forgets everything. Memory that was made for far more is given back, so that nobody who needs
  /// little goes through it time and again.
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

  /// Calls `body` with every number and its word, in no order. The map must not change meanwhile.
  @inlinable @inline(__always)
  package func forEach(_ body: (ObjectNumber, UInt) throws -> Void) rethrows {
    guard count > 0 else { return }
    for slot in 0...mask where entries[slot].key != 0 {
      try body(ObjectNumber(rawValue: entries[slot].key), entries[slot].word)
    }
  }

  /// As ``forEach(_:)``, where the words are addresses: the memory of those that come next is on
  /// its way to the processor while `body` works.
  @inlinable @inline(__always)
  package func forEachAddress(_ body: (ObjectNumber, UInt) throws -> Void) rethrows {
    guard count > 0 else { return }
    // What a few words lead to is near anyway.
    let isLarge = mask >= 1024
    for slot in 0...mask {
      if isLarge { Self.prefetch(entries[(slot + Self.lookahead) & mask].word) }
      guard entries[slot].key != 0 else { continue }
      try body(ObjectNumber(rawValue: entries[slot].key), entries[slot].word)
    }
  }

  /// Begins to bring what lies at an address, which need not be a valid one, near to the processor.
  @usableFromInline
  package static func prefetch(_ address: UInt) {
    arbor_prefetch(UnsafeRawPointer(bitPattern: address))
  }

  // Fibonacci hashing of the fours spreads what belongs to one entity; the high bits are the good
  // ones.
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
  /// A map with so many times the slots that its entries need is too large.
  private static let sparseSize = 64

  private static func size(for capacity: Int) -> Int {
    var size = leastSize
    while size * 3 < capacity * 4 + 4 { size *= 2 }
    return size
  }

  /// Slots that are empty, since zero bytes are an empty slot; a large run of them comes from the
  /// system untouched.
  private static func allocate(
    _ size: Int
  ) -> (memory: UnsafeMutableRawPointer, entries: UnsafeMutablePointer<Entry>) {
    guard let memory = calloc(size * MemoryLayout<Entry>.stride + cacheLine, 1) else {
      stopProgram("Out of memory for a map of \(size) objects.")
    }
    let entries = memory.alignedUp(toMultipleOf: cacheLine)
    return (memory, entries.bindMemory(to: Entry.self, capacity: size))
  }

  /// The slot of maps without entries, which is never written. Sendable for that reason.
  private struct Nothing: @unchecked Sendable {
    let entries: UnsafeMutablePointer<Entry>
  }

  private static let nothing: Nothing = {
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
    entries.initialize(to: Entry(key: 0, word: 0))
    return Nothing(entries: entries)
  }()

  /// Bytes; where lines are longer, two fours share one.
  private static let cacheLine = 64
}
