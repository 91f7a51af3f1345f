import LMDB

/// Keys with 16-byte values, in plain collections: the oracle of the random test of duplicates.
///
/// Values are numbers whose big-endian bytes are stored, so that numbers and bytes sort alike.
struct DuplicatesModel: Equatable {
  /// The sorted values of each key. Keys without values are removed.
  private(set) var values: [UInt64: [UInt128]] = [:]

  subscript(key: UInt64) -> [UInt128] { values[key] ?? [] }

  var keys: [UInt64] { values.keys.sorted() }
  var count: Int { values.values.reduce(0) { $0 + $1.count } }

  /// Returns the index of the first value of `key` that is greater than or equal to `value`.
  func lowerBound(_ key: UInt64, _ value: UInt128) -> Int {
    Self.lowerBound(values[key] ?? [], value)
  }

  private static func lowerBound(_ sorted: [UInt128], _ value: UInt128) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  func contains(_ key: UInt64, _ value: UInt128) -> Bool {
    let sorted = values[key] ?? []
    let index = Self.lowerBound(sorted, value)
    return index < sorted.count && sorted[index] == value
  }

  /// Inserts a value. Returns `false` if the key already has it.
  mutating func insert(_ key: UInt64, _ value: UInt128) -> Bool {
    let index = lowerBound(key, value)
    if contains(key, value) { return false }
    values[key, default: []].insert(value, at: index)
    return true
  }

  /// Removes a value. Returns `false` if the key doesn't have it.
  mutating func remove(_ key: UInt64, _ value: UInt128) -> Bool {
    guard contains(key, value) else { return false }
    let index = lowerBound(key, value)
    values[key]?.remove(at: index)
    if values[key]?.isEmpty == true { values[key] = nil }
    return true
  }

  /// Removes all values of a key. Returns `false` if it has none.
  mutating func removeAll(_ key: UInt64) -> Bool { values.removeValue(forKey: key) != nil }
}

extension UInt128 {
  /// Creates a number from its big-endian bytes.
  init(stored: UnsafeRawBufferPointer) {
    self.init(bigEndian: stored.loadUnaligned(as: UInt128.self))
  }

  /// Calls `body` with the stored big-endian bytes.
  func withStoredBytes<R>(
    _ body: (UnsafeRawBufferPointer) throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    try withUnsafeBytes(of: bigEndian) { (bytes) throws(LMDBError) in try body(bytes) }
  }

  /// The number with its halves swapped, as in the second database of an ordered relationship.
  var exchanged: UInt128 { self << 64 | self >> 64 }
}
