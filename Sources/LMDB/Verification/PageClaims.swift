/// The pages of a file that have been accounted for, one bit each.
struct PageClaims: ~Copyable {
  private let words: UnsafeMutablePointer<UInt64>
  /// The number of claimed pages.
  private(set) var count: UInt64 = 0
  let lastPage: UInt64

  /// - Parameter lastPage: The last page that can be claimed. The caller must bound it: an eighth
  ///   of it in bytes is allocated.
  init(lastPage: UInt64) {
    self.lastPage = lastPage
    // Memory safety: freed with the value, which is noncopyable. Callers don't exceed the last
    // page.
    words = .allocate(capacity: Int(lastPage / 64) + 1)
    words.initialize(repeating: 0, count: Int(lastPage / 64) + 1)
  }

  deinit { words.deallocate() }

  /// Claims a page. Returns `false` if it has already been claimed.
  @inline(__always)
  mutating func insert(_ page: UInt64) -> Bool {
    let mask: UInt64 = 1 << (page % 64)
    let index = Int(page / 64)
    guard words[index] & mask == 0 else { return false }
    words[index] |= mask
    count += 1
    return true
  }

  func contains(_ page: UInt64) -> Bool {
    page <= lastPage && words[Int(page / 64)] & (1 << (page % 64)) != 0
  }

  /// Returns the number of the first unclaimed page in a range, or `nil` if there is none.
  func firstUnclaimed(in range: ClosedRange<UInt64>) -> UInt64? {
    var page = range.lowerBound
    while page <= range.upperBound {
      let rest = ~words[Int(page / 64)] >> (page % 64)
      if rest == 0 {
        page = (page / 64 + 1) * 64
      } else {
        page += UInt64(rest.trailingZeroBitCount)
        return page <= range.upperBound ? page : nil
      }
    }
    return nil
  }
}
