internal import ArborFoundation
internal import ArborModel

/// An entry to add to or remove from an index.
///
/// The first 16 bytes of the key are stored inline, so that sorting touches nothing else and the
/// keys of numbers and dates need no additional memory.
struct IndexEntry: TwoWordSortable {
  /// Bytes 0–7 of the key, big-endian, padded with zeros.
  let high: UInt64
  /// Bytes 8–15 of the key, in the same form.
  let low: UInt64
  let number: UInt64
  /// The length of the key in the low 16 bits, then the flags, then from bit 24 the offset of a
  /// longer key.
  private let details: UInt64

  private static let removal: UInt64 = 1 << 16
  private static let exempt: UInt64 = 1 << 17
  static let inlineSize = 16

  init(
    high: UInt64, low: UInt64, number: UInt64, length: Int, offset: Int, isRemoval: Bool,
    isExempt: Bool
  ) {
    self.high = high
    self.low = low
    self.number = number
    details =
      UInt64(length) | (isRemoval ? Self.removal : 0) | (isExempt ? Self.exempt : 0)
      | UInt64(offset) << 24
  }

  @inline(__always) var length: Int { Int(details & 0xFFFF) }
  @inline(__always) var offset: Int { Int(details >> 24) }
  @inline(__always) var isRemoval: Bool { details & Self.removal != 0 }
  /// Whether the entry is exempt from the uniqueness constraint, because a value is `nil` or the
  /// key was truncated.
  @inline(__always) var isExempt: Bool { details & Self.exempt != 0 }
  @inline(__always) var isLong: Bool { length > Self.inlineSize }
}

/// The changes of one commit to one index. Entries may be added in any order and are sorted by key
/// and number.
struct EntryRun: ~Copyable {
  private var entries = FlatRun<IndexEntry>()
  /// The keys of more than 16 bytes, stored consecutively.
  private var longKeys: [UInt8] = []
  private var hasUnevenKeys = false
  private var firstLength = 0
  private var greatestNumber: UInt64 = 0
  /// Whether an entry was added after one with a greater number.
  private var hasMixedNumbers = false

  var count: Int { entries.count }
  var isEmpty: Bool { entries.count == 0 }

  @inline(__always)
  subscript(index: Int) -> IndexEntry { entries[index] }

  mutating func reserve(_ more: Int) { entries.reserve(more) }

  mutating func removeAll() {
    entries.removeAll()
    longKeys.removeAll(keepingCapacity: longKeys.capacity < 1 << 20)
    hasUnevenKeys = false
    firstLength = 0
    greatestNumber = 0
    hasMixedNumbers = false
  }

  /// Appends an entry. Sorting is fastest if entries are added in the order of their object
  /// numbers.
  @inline(__always)
  mutating func append(
    _ key: UnsafeRawBufferPointer, _ number: ObjectNumber, isRemoval: Bool, isExempt: Bool
  ) {
    let count = key.count
    var high: UInt64 = 0
    var low: UInt64 = 0
    var offset = 0
    if count > IndexEntry.inlineSize {
      high = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
      low = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      offset = longKeys.count
      longKeys.append(contentsOf: key)
    } else {
      var words: (UInt64, UInt64) = (0, 0)
      withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: key) }
      (high, low) = (UInt64(bigEndian: words.0), UInt64(bigEndian: words.1))
    }
    if count != firstLength {
      hasUnevenKeys = hasUnevenKeys || firstLength != 0
      firstLength = count
    }
    if number.rawValue < greatestNumber {
      hasMixedNumbers = true
    } else {
      greatestNumber = number.rawValue
    }
    entries.append(
      IndexEntry(
        high: high, low: low, number: number.rawValue, length: count, offset: offset,
        isRemoval: isRemoval, isExempt: isExempt))
  }

  /// Sorts the entries by key, then by number.
  mutating func sort() {
    entries.sort()
    guard hasUnevenKeys || hasMixedNumbers || firstLength > IndexEntry.inlineSize else { return }
    // Keys with the same first 16 bytes are compared by the remaining bytes and the length; entries
    // with the same key by number.
    var start = 0
    while start < entries.count {
      var end = start + 1
      while end < entries.count, entries[end].high == entries[start].high,
        entries[end].low == entries[start].low
      {
        end += 1
      }
      if end - start > 1 { sortTails(start..<end) }
      start = end
    }
  }

  private mutating func sortTails(_ range: Range<Int>) {
    longKeys.withUnsafeBytes { longKeys in
      entries.sort(range) { left, right in
        let order = Self.compareTails(left, right, longKeys)
        return order != 0 ? order < 0 : left.number < right.number
      }
    }
  }

  private static func compareTails(
    _ left: IndexEntry, _ right: IndexEntry, _ longKeys: UnsafeRawBufferPointer
  ) -> Int {
    let shared = min(left.length, right.length) - IndexEntry.inlineSize
    if shared > 0, let base = longKeys.baseAddress {
      let order = memcmp(
        base + left.offset + IndexEntry.inlineSize, base + right.offset + IndexEntry.inlineSize,
        shared)
      if order != 0 { return Int(order) }
    }
    return left.length - right.length
  }

  @inline(__always)
  func isSameKey(_ left: IndexEntry, _ right: IndexEntry) -> Bool {
    guard left.high == right.high, left.low == right.low, left.length == right.length else {
      return false
    }
    guard left.isLong else { return true }
    return longKeys.withUnsafeBytes { Self.compareTails(left, right, $0) } == 0
  }

  /// Returns the index after the last entry with the same key as the entry at `start`.
  @inline(__always)
  func endOfKey(_ start: Int) -> Int {
    let first = entries[start]
    var end = start + 1
    while end < entries.count, isSameKey(first, entries[end]) { end += 1 }
    return end
  }

  /// Returns the first index whose key satisfies a condition that all later keys also satisfy.
  func partitioningIndex(where isReached: (UnsafeRawBufferPointer) -> Bool) -> Int {
    (0..<entries.count).partitioningIndex { withKey(entries[$0], isReached) }
  }

  /// Returns the first index whose entry follows a position.
  func partitioningIndex(behind position: IndexBuildList.Position) -> Int {
    (0..<entries.count).partitioningIndex { index in
      let entry = entries[index]
      return withKey(entry) { !position.reaches($0, entry.number) }
    }
  }

  /// Removes all entries except a range of the sorted run, which stays sorted.
  mutating func keep(_ range: Range<Int>) {
    var kept = EntryRun()
    kept.reserve(range.count)
    for index in range {
      let entry = entries[index]
      withKey(entry) { key in
        kept.append(
          key, ObjectNumber(rawValue: entry.number), isRemoval: entry.isRemoval,
          isExempt: entry.isExempt)
      }
    }
    // The kept entries are sorted. Entries added later have greater numbers or set the flag.
    kept.greatestNumber = greatestNumber
    kept.hasMixedNumbers = false
    self = kept
  }

  func indices(of key: UnsafeRawBufferPointer) -> Range<Int> {
    let start = partitioningIndex { !$0.isBefore(key) }
    guard start < entries.count, withKey(entries[start], { $0.elementsEqual(key) }) else {
      return start..<start
    }
    return start..<endOfKey(start)
  }

  /// Calls `body` with the bytes of an entry's key.
  @inline(__always)
  func withKey<R, E: Error>(
    _ entry: IndexEntry, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    if entry.isLong {
      return try longKeys.withUnsafeBufferPointer { (bytes) throws(E) -> R in
        let key = UnsafeBufferPointer(rebasing: bytes[entry.offset..<(entry.offset + entry.length)])
        return try body(UnsafeRawBufferPointer(key))
      }
    }
    let words = (entry.high.bigEndian, entry.low.bigEndian)
    return try withUnsafeBytes(of: words) { (bytes) throws(E) -> R in
      try body(UnsafeRawBufferPointer(rebasing: bytes[..<entry.length]))
    }
  }
}
