/// A number to search for among numbers.
struct MappedNumber: MappedKey {
  let rank: UInt64
  var low: UInt64?
  var high: UInt64?

  @inline(__always)
  init(_ number: UInt64) { rank = number }

  @inline(__always)
  func stored(_ nodeIndex: Int, in page: MappedPage) -> UInt64? { page.number(nodeIndex) }

  @inline(__always)
  func order(to stored: UInt64) -> Int { rank < stored ? -1 : rank == stored ? 0 : 1 }

  @inline(__always)
  mutating func chooseRanks() {}

  @inline(__always)
  func rank(of stored: UInt64) -> UInt64 { stored }
}

/// Bytes to search for among others in byte order. Valid as long as the bytes are.
///
/// Keys between two others share their common prefix. The rank is the eight bytes after it.
struct MappedBytes: MappedKey {
  private let bytes: UnsafeRawBufferPointer
  private var shared = 0
  private(set) var rank: UInt64 = 0
  var low: UnsafeRawBufferPointer?
  var high: UnsafeRawBufferPointer?

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  @inline(__always)
  func stored(_ nodeIndex: Int, in page: MappedPage) -> UnsafeRawBufferPointer? {
    page.key(nodeIndex)
  }

  @inline(__always)
  func order(to stored: UnsafeRawBufferPointer) -> Int { KeyOrder.bytes.compare(bytes, stored) }

  @inline(__always)
  mutating func chooseRanks() {
    guard let low, let high else { return }
    let most = min(low.count, high.count, bytes.count)
    while shared < most, low[shared] == high[shared] { shared &+= 1 }
    rank = rank(of: bytes)
  }

  /// Returns the eight bytes after the common prefix. Shorter keys are padded with zeros; if that
  /// makes two ranks equal, the keys are compared.
  @inline(__always)
  func rank(of stored: UnsafeRawBufferPointer) -> UInt64 {
    let rest = stored.count &- shared
    guard rest < 8 else {
      return UInt64(bigEndian: stored.loadUnaligned(fromByteOffset: shared, as: UInt64.self))
    }
    var rank: UInt64 = 0
    for index in 0..<max(rest, 0) {
      rank |= UInt64(stored[shared &+ index]) << UInt64(56 &- 8 &* index)
    }
    return rank
  }
}
