/// A map from object numbers to machine words: open addressing, linear probing, power-of-two size.
///
/// It is the form of the identity map and of every set of objects on a hot path: a look-up costs
/// 5–15 ns where `Dictionary` costs 19–25. The key 0, no object's number, marks an empty place, and
/// removal shifts later entries back so that no tombstones pile up.
@usableFromInline
package final class NumberMap {
  @usableFromInline var keys: UnsafeMutablePointer<UInt64>
  @usableFromInline var words: UnsafeMutablePointer<UInt>
  @usableFromInline var mask: Int
  package private(set) var count = 0

  package init(minimumCapacity: Int = 8) {
    let size = Self.size(for: minimumCapacity)
    (keys, words) = Self.allocate(size)
    mask = size - 1
  }

  deinit {
    keys.deallocate()
    words.deallocate()
  }

  /// The word of a number, or nil.
  @inlinable @inline(__always)
  package subscript(number: ObjectNumber) -> UInt? {
    let place = find(number.rawValue)
    return keys[place] == 0 ? nil : words[place]
  }

  @inlinable @inline(__always)
  package func contains(_ number: ObjectNumber) -> Bool {
    keys[find(number.rawValue)] != 0
  }

  /// Sets the word of a number; returns the word it had.
  @discardableResult
  package func set(_ number: ObjectNumber, _ word: UInt) -> UInt? {
    if (count + 1) * 4 > (mask + 1) * 3 { resize((mask + 1) * 2) }
    let place = find(number.rawValue)
    if keys[place] != 0 {
      defer { words[place] = word }
      return words[place]
    }
    keys[place] = number.rawValue
    words[place] = word
    count += 1
    return nil
  }

  /// Removes a number; returns the word it had.
  @discardableResult
  package func remove(_ number: ObjectNumber) -> UInt? {
    var hole = find(number.rawValue)
    guard keys[hole] != 0 else { return nil }
    let word = words[hole]
    count -= 1
    // Move each follower back whose home does not lie between the hole and its place.
    var place = hole
    while true {
      place = (place + 1) & mask
      let key = keys[place]
      guard key != 0 else { break }
      let home = Self.hash(key) & mask
      if (place - home) & mask >= (place - hole) & mask {
        keys[hole] = key
        words[hole] = words[place]
        hole = place
      }
    }
    keys[hole] = 0
    return word
  }

  package func removeAll() {
    keys.update(repeating: 0, count: mask + 1)
    count = 0
  }

  package func reserveCapacity(_ capacity: Int) {
    let size = Self.size(for: capacity)
    if size > mask + 1 { resize(size) }
  }

  /// Calls `body` with every number and its word, in no order. The map must not change meanwhile.
  package func forEach(_ body: (ObjectNumber, UInt) throws -> Void) rethrows {
    guard count > 0 else { return }
    for place in 0...mask where keys[place] != 0 {
      try body(ObjectNumber(rawValue: keys[place]), words[place])
    }
  }

  // Fibonacci hashing spreads the consecutive numbers of one entity; the high bits are the good
  // ones.
  @inlinable @inline(__always)
  static func hash(_ key: UInt64) -> Int {
    Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 20)
  }

  @inlinable @inline(__always)
  func find(_ key: UInt64) -> Int {
    var place = Self.hash(key) & mask
    while keys[place] != 0, keys[place] != key { place = (place + 1) & mask }
    return place
  }

  private func resize(_ size: Int) {
    let (oldKeys, oldWords, oldMask) = (keys, words, mask)
    (keys, words) = Self.allocate(size)
    mask = size - 1
    for place in 0...oldMask where oldKeys[place] != 0 {
      let new = find(oldKeys[place])
      keys[new] = oldKeys[place]
      words[new] = oldWords[place]
    }
    oldKeys.deallocate()
    oldWords.deallocate()
  }

  private static func size(for capacity: Int) -> Int {
    var size = 16
    while size * 3 < capacity * 4 + 4 { size *= 2 }
    return size
  }

  private static func allocate(
    _ size: Int
  ) -> (UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<UInt>) {
    let keys = UnsafeMutablePointer<UInt64>.allocate(capacity: size)
    keys.initialize(repeating: 0, count: size)
    let words = UnsafeMutablePointer<UInt>.allocate(capacity: size)
    words.initialize(repeating: 0, count: size)
    return (keys, words)
  }
}
