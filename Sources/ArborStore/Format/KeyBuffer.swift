internal import Foundation

/// The bytes of keys while they are made, in memory that is reused.
///
/// An index key is a tuple of columns. LMDB allows 511 bytes; ours are cut at ``indexLimit``, which
/// leaves room for pages of any size. Of two tuples that differ only behind the cut the keys are
/// equal, so code that reads a key of that length asks the record (see ``isCut``). Keys that only
/// serve to sort rows are never cut.
package struct KeyBuffer: ~Copyable {
  /// The length that index keys are cut at.
  package static let indexLimit = 480

  /// A fixed-width column is written whole before it is known to be too long.
  private static let slack = 32

  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private let limit: Int
  /// The number of bytes, at most the limit.
  package private(set) var count = 0
  /// Whether columns, or the end of one, did not fit.
  package private(set) var isCut = false

  /// Makes an empty buffer.
  ///
  /// - Parameter limit: The number of bytes at which it cuts; `.max` to grow instead.
  package init(limit: Int = indexLimit) {
    self.limit = limit
    capacity = min(limit, 1 << 12) + Self.slack
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// The key, valid until the buffer changes or ends.
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// A part of the bytes, valid likewise.
  @inline(__always)
  func bytes(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + offset, count: count)
  }

  /// The first eight bytes from an offset on, as a number of their order; missing ones count as 0.
  @inline(__always)
  func prefix(from offset: Int) -> UInt64 { bytes(offset, count - offset).prefixNumber }

  @inline(__always)
  package mutating func removeAll() {
    count = 0
    isCut = false
  }

  /// Takes bytes off the end, back to a count the buffer had.
  @inline(__always)
  package mutating func truncate(to count: Int) {
    self.count = count
    isCut = false
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    makeRoom(1)
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    advance(1)
  }

  /// Adds a marker and the bytes of a number, the most significant first, all inverted by `mask`.
  @inline(__always)
  mutating func append(_ marker: UInt8, _ number: UInt64, mask: UInt8) {
    makeRoom(9)
    base.storeBytes(of: marker ^ mask, toByteOffset: count, as: UInt8.self)
    let bits = mask == 0 ? number : ~number
    base.storeBytes(of: bits.bigEndian, toByteOffset: count + 1, as: UInt64.self)
    advance(9)
  }

  /// Adds bytes as they are, inverted by `mask`.
  mutating func append(_ bytes: UnsafeRawBufferPointer, mask: UInt8) {
    let fitting = min(bytes.count, limit - count)
    makeRoom(fitting)
    guard let source = bytes.baseAddress, fitting > 0 else {
      isCut = isCut || !bytes.isEmpty
      return
    }
    (base + count).copyMemory(from: source, byteCount: fitting)
    if mask != 0 { invert(from: count, to: count + fitting) }
    count += fitting
    if fitting < bytes.count { isCut = true }
  }

  /// Adds bytes of which 00 and 01 are written as 01 01 and 01 02, so that 00 can end them.
  mutating func append(escaping bytes: UnsafeRawBufferPointer, mask: UInt8) {
    let start = count
    var offset = 0
    makeRoom(min(bytes.count * 2, limit - count))
    while count < limit {
      // Eight bytes at once as long as none of them is to be escaped.
      while offset + 8 <= bytes.count, count + 8 <= limit {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        guard (word &- 0x0202_0202_0202_0202) & ~word & 0x8080_8080_8080_8080 == 0 else { break }
        base.storeBytes(of: word, toByteOffset: count, as: UInt64.self)
        offset += 8
        count += 8
      }
      guard offset < bytes.count, count < limit else { break }
      let byte = bytes[offset]
      offset += 1
      if byte > 1 {
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
      } else {
        base.storeBytes(of: 1, toByteOffset: count, as: UInt8.self)
        base.storeBytes(of: byte + 1, toByteOffset: count + 1, as: UInt8.self)
        advance(2)
      }
    }
    if offset < bytes.count { isCut = true }
    if mask != 0 { invert(from: start, to: count) }
  }

  @inline(__always)
  private mutating func advance(_ length: Int) {
    count += length
    if count > limit {
      count = limit
      isCut = true
    }
  }

  /// Grows a buffer that has no limit. Others have room for a column beyond theirs.
  @inline(__always)
  private mutating func makeRoom(_ length: Int) {
    if count + length > capacity { grow(to: count + length) }
  }

  @inline(never)
  private mutating func grow(to needed: Int) {
    capacity = max(needed, capacity * 2)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = larger
  }

  private func invert(from start: Int, to end: Int) {
    let bytes = UnsafeMutableRawBufferPointer(start: base, count: end)
    for offset in start..<end { bytes[offset] = ~bytes[offset] }
  }
}

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
