#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The two root pages of an open file, mapped apart from the engine's map, which moves.
///
/// The engine takes the number of the last transaction from the lock file and its trees from the
/// root page of that parity, without a look at whose root page it is. They differ where somebody
/// wrote over the file, most often with an older copy of it.
///
/// `@unchecked Sendable`: the pages are only read, a word at a time, and stay mapped as long as
/// this value lives. The engine writes them through the system's cache, which the mapping shows.
struct RootPages: ~Copyable, @unchecked Sendable {
  private let pages: UnsafeMutableRawPointer
  let pageSize: Int

  /// - Parameters:
  ///   - descriptor: a data file that the engine has open, of two pages at least.
  ///   - known: its page size; nil where it has to be read.
  init(descriptor: Int32, pageSize known: Int? = nil) throws(LMDBError) {
    let size: Int
    if let known { size = known } else { size = try Self.pageSize(descriptor) }
    let mapped = mmap(nil, 2 * size, PROT_READ, MAP_SHARED, descriptor, 0)
    guard let mapped, mapped != MAP_FAILED else { throw .lastSystemError }
    pages = mapped
    pageSize = size
  }

  private static func pageSize(_ descriptor: Int32) throws(LMDBError) -> Int {
    guard let meta = try MetaPages.read(descriptor) else { throw .fileTooSmall }
    return meta.pageSize
  }

  deinit { munmap(pages, 2 * pageSize) }

  /// Shows another file of the same page size from now on, at the same address. Nobody reads.
  func show(_ descriptor: Int32) throws(LMDBError) {
    let flags = MAP_SHARED | MAP_FIXED
    guard mmap(pages, 2 * pageSize, PROT_READ, flags, descriptor, 0) != MAP_FAILED else {
      throw .lastSystemError
    }
  }

  /// Whether the root page of a transaction's parity is that transaction's own. One load.
  @inline(__always)
  func hold(_ transaction: Int) -> Bool {
    let offset = (transaction & 1) &* pageSize &+ MetaPage.transactionOffset
    return (pages + offset).load(as: Int.self) == transaction
  }

  /// The root page of a transaction; nil where it is no longer that transaction's own.
  func page(of transaction: Int) -> MetaPage? {
    guard hold(transaction) else { return nil }
    let start = pages + (transaction & 1) &* pageSize
    let bytes = RawPage(bytes: UnsafeRawBufferPointer(start: start, count: pageSize))
    let page = try? MetaPage(bytes)
    return hold(transaction) ? page : nil
  }
}
