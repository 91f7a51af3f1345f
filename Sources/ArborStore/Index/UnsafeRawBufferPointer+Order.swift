internal import Foundation

extension UnsafeRawBufferPointer {
  /// Whether two runs hold the same bytes.
  @inline(__always)
  func elementsEqual(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let left = baseAddress, let right = other.baseAddress else { return true }
    return memcmp(left, right, count) == 0
  }

  /// Whether these bytes come before others, as LMDB orders keys.
  @inline(__always)
  func isBefore(_ other: UnsafeRawBufferPointer) -> Bool {
    let shared = Swift.min(count, other.count)
    if shared > 0, let left = baseAddress, let right = other.baseAddress {
      let order = memcmp(left, right, shared)
      if order != 0 { return order < 0 }
    }
    return count < other.count
  }
}
