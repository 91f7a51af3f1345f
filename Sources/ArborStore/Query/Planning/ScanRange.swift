internal import ArborModel

/// The keys from `lower` up to but without `upper`: what one look into an index reads.
///
/// Equality, ranges, prefixes and nil all come down to this, since no column's bytes begin
/// another's and the least key above all that begin with given bytes is those bytes plus one.
struct ScanRange: Hashable {
  let lower: [UInt8]
  /// nil: to the end.
  let upper: [UInt8]?
}

extension ScanRange {
  /// All keys there are; none begins with less than this.
  static let everything = ScanRange(lower: [0], upper: nil)

  /// A scan of all keys.
  static let whole = [everything]

  /// All keys that begin with given bytes.
  init(beginningWith bytes: [UInt8]) {
    self.init(lower: bytes, upper: Self.successor(of: bytes))
  }

  /// Whether a scan of it ends with the last key there is.
  func isOpen(isForward: Bool) -> Bool { isForward ? upper == nil : lower == Self.everything.lower }

  /// Returns whether a scan of the range ends before a key, which is past its end.
  func ends(before key: UnsafeRawBufferPointer, isForward: Bool) -> Bool {
    guard isForward else { return key.isBefore(lower) }
    return upper.map { !key.isBefore($0) } ?? false
  }

  var isEmpty: Bool {
    guard let upper else { return false }
    return !lower.lexicographicallyPrecedes(upper)
  }

  /// The least bytes above all that begin with these; nil where none exist.
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
  /// Whether these bytes come before others in the order of keys.
  @inline(__always)
  func isBefore(_ other: [UInt8]) -> Bool {
    other.withUnsafeBytes { Ordering(bytes: self, $0) == .less }
  }
}
