#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The order of keys in a tree.
package enum KeyOrder {
  case bytes
  /// Bytes from last to first.
  case reversedBytes
  /// Native numbers of 4 or 8 bytes.
  case integers

  /// Creates the order of a database's keys.
  package init(keysOf flags: DatabaseFlags) {
    self =
      flags.contains(.integerKey)
      ? .integers : flags.contains(.reverseKey) ? .reversedBytes : .bytes
  }

  /// Creates the order of the values of one key.
  package init(valuesOf flags: DatabaseFlags) {
    self =
      flags.contains(.integerDuplicates)
      ? .integers : flags.contains(.reverseDuplicates) ? .reversedBytes : .bytes
  }

  /// Returns a negative number if the first key precedes the second, 0 if they are equal, or a
  /// positive number if it follows the second. Numbers must have the same size.
  @inline(__always)
  package func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    switch self {
    case .bytes:
      let size = left.count
      if size == right.count, (8...16).contains(size) {
        // Like most keys of numbers and dates: two overlapping words.
        let (one, other) = (Self.word(left, 0), Self.word(right, 0))
        if one != other { return one < other ? -1 : 1 }
        let (tail, otherTail) = (Self.word(left, size - 8), Self.word(right, size - 8))
        return tail < otherTail ? -1 : tail == otherTail ? 0 : 1
      }
      let shared = min(left.count, right.count)
      if shared > 0, let one = left.baseAddress, let other = right.baseAddress {
        let order = Int(memcmp(one, other, shared))
        if order != 0 { return order }
      }
      return left.count - right.count
    case .reversedBytes:
      for (one, other) in zip(left.reversed(), right.reversed()) where one != other {
        return Int(one) - Int(other)
      }
      return left.count - right.count
    case .integers:
      let one = Self.number(left)
      let other = Self.number(right)
      return one < other ? -1 : one == other ? 0 : 1
    }
  }

  /// Returns a number that is monotonic in the key. Adjacent keys in a tree usually differ within
  /// their first bytes.
  @inline(__always)
  func leadingWord(_ key: UnsafeRawBufferPointer) -> UInt64 {
    switch self {
    case .bytes:
      if key.count >= 8 { return Self.word(key, 0) }
      var word: UInt64 = 0
      for byte in key { word = word << 8 | UInt64(byte) }
      return word << (64 - 8 * key.count)
    case .reversedBytes: return 0
    case .integers: return Self.number(key)
    }
  }

  /// Returns whether a key precedes another.
  @inline(__always)
  func isAscending(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    let (one, other) = (leadingWord(left), leadingWord(right))
    return one != other ? one < other : compare(left, right) < 0
  }

  /// Returns eight bytes of a key as a big-endian number.
  @inline(__always)
  private static func word(_ key: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  private static func number(_ key: UnsafeRawBufferPointer) -> UInt64 {
    key.count == 8
      ? key.loadUnaligned(as: UInt64.self) : UInt64(key.loadUnaligned(as: UInt32.self))
  }
}
