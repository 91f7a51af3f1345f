#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The two root pages of an open file, mapped separately from the engine's map, which can move.
///
/// The engine takes the number of the last transaction from the lock file and its trees from the
/// root page with that parity, without checking whose root page it is. They differ if the file was
/// overwritten, usually with an older copy.
///
/// `@unchecked Sendable`: the pages are only read, one word at a time, and stay mapped as long as
/// this value exists. The engine writes them through the page cache, which the mapping reflects.
struct RootPages: ~Copyable, @unchecked Sendable {
  private let pages: UnsafeMutableRawPointer
  let pageSize: Int

  /// - Parameters:
  ///   - descriptor: A data file that the engine has open, with at least two pages.
  ///   - known: Its page size, or `nil` to read it.
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

  /// Maps another file of the same page size at the same address. There must be no concurrent
  /// readers.
  func show(_ descriptor: Int32) throws(LMDBError) {
    let flags = MAP_SHARED | MAP_FIXED
    guard mmap(pages, 2 * pageSize, PROT_READ, flags, descriptor, 0) != MAP_FAILED else {
      throw .lastSystemError
    }
  }

  /// Returns whether the root page with a transaction's parity belongs to that transaction. A
  /// single load.
  @inline(__always)
  func hold(_ transaction: Int) -> Bool {
    let offset = (transaction & 1) &* pageSize &+ MetaPage.transactionOffset
    return (pages + offset).load(as: Int.self) == transaction
  }

  /// Returns the root page of a transaction, or `nil` if it has been overwritten.
  func page(of transaction: Int) -> MetaPage? {
    guard hold(transaction) else { return nil }
    let start = pages + (transaction & 1) &* pageSize
    let bytes = RawPage(bytes: UnsafeRawBufferPointer(start: start, count: pageSize))
    let page = try? MetaPage(bytes)
    return hold(transaction) ? page : nil
  }
}
