internal import ArborModel

/// The keys from `lower` up to but not including `upper`, which one index lookup reads.
///
/// Equalities, ranges, prefixes and `nil` all map to such ranges: the encoding is prefix-free per
/// column, and the upper bound of a prefix is its successor.
struct ScanRange: Hashable {
  let lower: [UInt8]
  /// The exclusive upper bound, or `nil` for none.
  let upper: [UInt8]?
}

extension ScanRange {
  /// The range of all keys. No key precedes its lower bound.
  static let everything = ScanRange(lower: [0], upper: nil)

  static let whole = [everything]

  /// Creates the range of all keys with a prefix.
  init(beginningWith bytes: [UInt8]) {
    self.init(lower: bytes, upper: Self.successor(of: bytes))
  }

  /// Returns whether a scan of the range ends with the last key of the index.
  func isOpen(isForward: Bool) -> Bool { isForward ? upper == nil : lower == Self.everything.lower }

  /// Returns whether a scan of the range has reached a key beyond its end.
  func ends(before key: UnsafeRawBufferPointer, isForward: Bool) -> Bool {
    guard isForward else { return key.isBefore(lower) }
    return upper.map { !key.isBefore($0) } ?? false
  }

  var isEmpty: Bool {
    guard let upper else { return false }
    return !lower.lexicographicallyPrecedes(upper)
  }

  /// Returns the least byte string greater than all that begin with `bytes`, or `nil` if there
  /// isn't one.
  static func successor(of bytes: [UInt8]) -> [UInt8]? {
    var bytes = bytes
    while let last = bytes.last {
      if last < 0xFF {
        bytes[bytes.count - 1] = last + 1
        return bytes
      }
      bytes.removeLast()
    }
    return nil
  }
}

extension UnsafeRawBufferPointer {
  /// Returns whether these bytes precede others in key order.
  @inline(__always)
  func isBefore(_ other: [UInt8]) -> Bool {
    other.withUnsafeBytes { Ordering(bytes: self, $0) == .less }
  }
}
