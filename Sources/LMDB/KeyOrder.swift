#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// How a tree orders its keys.
package enum KeyOrder {
  case bytes
  /// From the last byte to the first.
  case reversedBytes
  /// Native numbers of 4 or 8 bytes.
  case integers

  /// The order of a database's keys.
  package init(keysOf flags: DatabaseFlags) {
    self =
      flags.contains(.integerKey)
      ? .integers : flags.contains(.reverseKey) ? .reversedBytes : .bytes
  }

  /// The order of the values of one key.
  package init(valuesOf flags: DatabaseFlags) {
    self =
      flags.contains(.integerDuplicates)
      ? .integers : flags.contains(.reverseDuplicates) ? .reversedBytes : .bytes
  }

  /// How a key stands to another: below 0 before it, 0 equal, above 0 behind it. Numbers have one
  /// size.
  @inline(__always)
  package func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    switch self {
    case .bytes:
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

  /// Whether a key stands before another. For neighbours in a tree, which most often differ within
  /// their first bytes.
  @inline(__always)
  func isAscending(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    if case .bytes = self, left.count >= 8, right.count >= 8 {
      let one = UInt64(bigEndian: left.loadUnaligned(as: UInt64.self))
      let other = UInt64(bigEndian: right.loadUnaligned(as: UInt64.self))
      if one != other { return one < other }
    }
    return compare(left, right) < 0
  }

  @inline(__always)
  private static func number(_ key: UnsafeRawBufferPointer) -> UInt64 {
    key.count == 8
      ? key.loadUnaligned(as: UInt64.self) : UInt64(key.loadUnaligned(as: UInt32.self))
  }
}
