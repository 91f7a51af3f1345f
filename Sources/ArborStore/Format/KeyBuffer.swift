internal import ArborFoundation

/// A reusable buffer for encoding keys.
///
/// An index key is a tuple of columns. LMDB allows 511 bytes; index keys are truncated at
/// ``indexLimit``, which leaves room for pages of any size. Tuples that differ only after that have
/// equal keys, so code that reads a key of that length has to consult the record (see ``isCut``).
/// Keys that only serve to sort rows are never truncated.
package struct KeyBuffer: ~Copyable {
  /// The length at which index keys are truncated.
  package static let indexLimit = 480

  /// Extra capacity, because a fixed-width column is written in full before its length is checked.
  private static let slack = 32

  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private let limit: Int
  package private(set) var count = 0
  /// Whether the key was truncated.
  package private(set) var isCut = false

  /// Creates an empty buffer.
  ///
  /// - Parameter limit: The length at which keys are truncated, or `.max` to grow instead.
  package init(limit: Int = indexLimit) {
    self.limit = limit
    capacity = min(limit, 1 << 12) + Self.slack
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// The key, valid until the buffer is changed or destroyed.
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Returns a part of the key, with the same lifetime.
  @inline(__always)
  func bytes(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + offset, count: count)
  }

  /// Returns the first eight bytes from an offset as a big-endian number. Missing bytes count as 0.
  @inline(__always)
  func prefix(from offset: Int) -> UInt64 { bytes(offset, count - offset).prefixNumber }

  @inline(__always)
  package mutating func removeAll() {
    count = 0
    isCut = false
  }

  /// Shortens the key to an earlier length.
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

  /// Appends a marker and a big-endian number, all XORed with `mask`.
  @inline(__always)
  mutating func append(_ marker: UInt8, _ number: UInt64, mask: UInt8) {
    makeRoom(9)
    base.storeBytes(of: marker ^ mask, toByteOffset: count, as: UInt8.self)
    let bits = mask == 0 ? number : ~number
    base.storeBytes(of: bits.bigEndian, toByteOffset: count + 1, as: UInt64.self)
    advance(9)
  }

  /// Appends bytes, XORed with `mask`.
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

  /// Appends bytes with 00 and 01 escaped as 01 01 and 01 02, so that 00 can serve as the
  /// terminator.
  mutating func append(escaping bytes: UnsafeRawBufferPointer, mask: UInt8) {
    let start = count
    var offset = 0
    makeRoom(min(bytes.count * 2, limit - count))
    while count < limit {
      // Copies eight bytes at a time as long as none of them needs escaping.
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

  /// Grows an unlimited buffer if necessary. Limited ones always have room for one more column.
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
  /// Returns whether both buffers contain the same bytes.
  @inline(__always)
  func elementsEqual(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let left = baseAddress, let right = other.baseAddress else { return true }
    return memcmp(left, right, count) == 0
  }

  /// Returns whether these bytes precede others in LMDB's key order.
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
