/// Decides whether every page behind the end of a file is listed as free, by walking the free
/// database with plain reads.
///
/// Nothing here trusts the file: page numbers, offsets, counts and the number of pages visited are
/// bounded, so damage ends in an error and never in a loop.
struct FreePageWalk {
  private static let leafFlag: UInt16 = 0x02
  private static let branchFlag: UInt16 = 0x01
  private static let bigDataFlag: UInt16 = 0x01

  private let descriptor: Int32
  private let pageSize: Int
  private let root: UInt64
  private let lastPage: UInt64
  private let firstMissing: UInt64
  private var isFree: [Bool] = []
  private var visited = 0

  /// More missing pages than this are never the leftover of a transaction.
  private static let mostMissing: UInt64 = 1 << 24

  init(descriptor: Int32, meta: MetaPages, from firstMissing: UInt64) {
    self.descriptor = descriptor
    pageSize = meta.pageSize
    root = meta.freeRoot
    lastPage = meta.lastPage
    self.firstMissing = firstMissing
  }

  /// True if all pages from the first missing one to the last are free.
  mutating func coversTail() throws(LMDBError) -> Bool {
    guard firstMissing >= 2, root != MetaPages.noPage else { return false }
    let missing = lastPage - firstMissing + 1
    guard missing <= Self.mostMissing else { return false }
    isFree = Array(repeating: false, count: Int(missing))
    guard try visit(root, depth: 0) else { return false }
    return isFree.allSatisfy { $0 }
  }

  /// Marks what the tree below `number` lists; false where the tree itself is not whole.
  private mutating func visit(_ number: UInt64, depth: Int) throws(LMDBError) -> Bool {
    visited += 1
    guard depth < 32, visited <= Int(firstMissing), number >= 2, number < firstMissing else {
      return false
    }
    var bytes = [UInt8](repeating: 0, count: pageSize)
    guard try readFully(descriptor, &bytes, at: Int(number) * pageSize) == pageSize else {
      return false
    }
    let page = RawPage(bytes: bytes)
    let lower = Int(page.half(12))
    guard page.word(0) == number, lower >= MetaPages.headerSize, lower <= pageSize else {
      return false
    }
    let count = (lower - MetaPages.headerSize) / 2
    for index in 0..<count {
      let offset = Int(page.half(MetaPages.headerSize + 2 * index))
      guard offset + 8 <= pageSize else { return false }
      if page.half(10) & Self.branchFlag != 0 {
        let child =
          UInt64(page.quad(offset)) | UInt64(page.half(offset + 4)) << 32
        guard try visit(child, depth: depth + 1) else { return false }
      } else {
        guard page.half(10) & Self.leafFlag != 0, try list(page, offset) else { return false }
      }
    }
    return true
  }

  /// Reads one entry of a leaf: a count, then that many page numbers.
  private mutating func list(_ page: RawPage, _ offset: Int) throws(LMDBError) -> Bool {
    let size = Int(page.quad(offset))
    let data = offset + 8 + Int(page.half(offset + 6))
    let isBig = page.half(offset + 4) & Self.bigDataFlag != 0
    guard data + (isBig ? 8 : size) <= pageSize, size >= 8, size % 8 == 0 else { return false }
    if !isBig {
      mark(RawPage(bytes: Array(page.bytes[data..<data + size])), entries: size / 8)
      return true
    }
    let run = page.word(data)
    guard run >= 2, run < firstMissing, size <= Int(firstMissing) * pageSize else { return false }
    var bytes = [UInt8](repeating: 0, count: size)
    let start = Int(run) * pageSize + MetaPages.headerSize
    guard try readFully(descriptor, &bytes, at: start) == size else { return false }
    mark(RawPage(bytes: bytes), entries: size / 8)
    return true
  }

  private mutating func mark(_ numbers: RawPage, entries: Int) {
    let listed = min(numbers.word(0), UInt64(entries - 1))
    for index in 0..<Int(listed) {
      let number = numbers.word(8 * (index + 1))
      if number >= firstMissing, number <= lastPage { isFree[Int(number - firstMissing)] = true }
    }
  }
}
