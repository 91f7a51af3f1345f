import LMDB

/// Keys with 16-byte values, in plain collections: the oracle of the random test of them.
///
/// A value is a number here whose big-endian bytes are stored, so that both order the same way.
struct DuplicatesModel: Equatable {
  /// Sorted; no key is without values.
  private(set) var values: [UInt64: [UInt128]] = [:]

  subscript(key: UInt64) -> [UInt128] { values[key] ?? [] }

  var keys: [UInt64] { values.keys.sorted() }
  var count: Int { values.values.reduce(0) { $0 + $1.count } }

  /// The index of the first value of a key that is `value` or above.
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

  /// False where the key has the value already.
  mutating func insert(_ key: UInt64, _ value: UInt128) -> Bool {
    let index = lowerBound(key, value)
    if contains(key, value) { return false }
    values[key, default: []].insert(value, at: index)
    return true
  }

  /// False where the key does not have the value.
  mutating func remove(_ key: UInt64, _ value: UInt128) -> Bool {
    guard contains(key, value) else { return false }
    let index = lowerBound(key, value)
    values[key]?.remove(at: index)
    if values[key]?.isEmpty == true { values[key] = nil }
    return true
  }

  /// False where the key has no values.
  mutating func removeAll(_ key: UInt64) -> Bool { values.removeValue(forKey: key) != nil }
}

extension UInt128 {
  /// The number whose big-endian bytes a value is.
  init(stored: UnsafeRawBufferPointer) {
    self.init(bigEndian: stored.loadUnaligned(as: UInt128.self))
  }

  /// Lends the bytes that are stored.
  func withStoredBytes<R>(
    _ body: (UnsafeRawBufferPointer) throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    try withUnsafeBytes(of: bigEndian) { (bytes) throws(LMDBError) in try body(bytes) }
  }

  /// The number with its halves exchanged, as the second database of an ordered relationship has
  /// them.
  var exchanged: UInt128 { self << 64 | self >> 64 }
}
