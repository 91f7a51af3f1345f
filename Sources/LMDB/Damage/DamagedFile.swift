#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A data file that may be damaged in any way, read for the data that it still contains.
///
/// Nothing in the file is trusted: it is read by bounded reads, one window at a time, and never
/// mapped or written. An unreadable page counts as damaged, so that reading itself never fails.
/// ``traverse(_:_:lost:)`` follows trees as far as they are undamaged, and ``scan(_:)`` reads every
/// page regardless of references to it.
///
/// Memory use is two bits per page of the file, one page per level of the trees, a window and the
/// largest value.
package final class DamagedFile {
  package let path: String
  package let pageSize: Int
  /// The number of pages in the file. The last one may be incomplete.
  package let pageCount: UInt64
  /// Whether another process has the file open and may change it while it is read.
  package let isInUse: Bool
  /// A closure that is called repeatedly while pages are read. Reading ends with
  /// ``LMDBError/closed`` once it returns `true`.
  package var isStopped: () -> Bool = { false }
  /// The root pages that are valid by themselves, newest first.
  let roots: [MetaPage]
  let descriptor: Int32
  /// The pages of the trees traversed so far.
  var reached: PageClaims
  /// The pages in the free list of the root page, if it is known.
  var free: PageClaims
  package internal(set) var knowsFreePages = false
  /// The number of the last page according to the root page. Pages after it were never committed.
  var lastPage = UInt64.max
  var buffers: PageBuffers
  /// The buffer level at which a nested tree begins.
  var firstFreeLevel = 0
  private var value = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// The function that reads as many bytes of the file as the medium returns. Tests replace it to
  /// simulate unreadable sectors.
  var readBytes: (_ descriptor: Int32, UnsafeMutableRawBufferPointer, _ offset: Int) -> Int = {
    readAvailable($0, $1, at: $2)
  }

  /// Opens a file for reading.
  ///
  /// - Throws: ``LMDBError/noSuchFile`` and other system errors for the path; ``LMDBError/invalid``
  ///   if nothing in the file looks like an LMDB page; ``LMDBError/foreignFormat(version:)``.
  package init(path given: String) throws(LMDBError) {
    let path = try DataFile.canonicalPath(given)
    // Without O_NONBLOCK, opening a pipe would wait for its other end.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw .lastSystemError }
    do throws(LMDBError) {
      let size = Int(try DataFile.status(ofFile: descriptor).st_size)
      // The lock is released when the descriptor is closed.
      isInUse = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
      var sound = try MetaPages.soundPages(descriptor)
      if sound.count == 1, let pageSize = Self.pageSize(descriptor, size) {
        // Pages contain their numbers. The page size in the root page may itself be damaged.
        sound.removeAll { $0.pageSize != pageSize }
      }
      guard let pageSize = sound.first?.pageSize ?? Self.pageSize(descriptor, size) else {
        throw .invalid
      }
      roots = sound
      self.pageSize = pageSize
      pageCount = UInt64((size + pageSize - 1) / pageSize)
    } catch {
      close(descriptor)
      throw error
    }
    self.path = path
    self.descriptor = descriptor
    reached = PageClaims(lastPage: pageCount)
    free = PageClaims(lastPage: pageCount)
    buffers = PageBuffers(pageSize: pageSize)
  }

  deinit {
    // A child process that another thread is starting may have a copy of the descriptor for a
    // moment.
    flock(descriptor, LOCK_UN)
    close(descriptor)
    value.deallocate()
  }

  /// Returns the page size with which most pages contain their own number, or `nil` if none does.
  static func pageSize(_ descriptor: Int32, _ size: Int) -> Int? {
    var best: (size: Int, count: Int)?
    var pageSize = 512
    while pageSize <= 32768 {
      var count = 0
      for page in 2..<max(3, min(size / pageSize, 4096)) {
        var header: (UInt64, UInt64) = (0, 0)
        let isPage = withUnsafeMutableBytes(of: &header) { bytes in
          guard readAvailable(descriptor, bytes, at: page * pageSize) == 16 else { return false }
          let found = RawPage(bytes: UnsafeRawBufferPointer(bytes))
          return found.number == page
            && [.branch, .leaf, [.leaf, .packed], .overflow].contains(found.flags)
        }
        if isPage { count += 1 }
      }
      if count > best?.count ?? 0 { best = (pageSize, count) }
      pageSize *= 2
    }
    return best?.size
  }

  // MARK: Reading

  /// Reads a page into the buffer of a level. Returns `nil` if it is beyond the end of the file or
  /// unreadable.
  func read(_ page: UInt64, level: Int) -> RawPage? {
    guard page < pageCount else { return nil }
    let buffer = buffers.page(level: level)
    guard readBytes(descriptor, buffer, Int(page) * pageSize) == pageSize else { return nil }
    return RawPage(bytes: UnsafeRawBufferPointer(buffer))
  }

  /// Reads a value from its overflow pages. Returns `nil` if these don't match the entry. The
  /// result is valid until the next value is read.
  func readRun(_ first: UInt64, size: Int) -> UnsafeRawBufferPointer? {
    guard first >= 2, first < pageCount else { return nil }
    var header: (UInt64, UInt64) = (0, 0)
    let length = withUnsafeMutableBytes(of: &header) { bytes -> UInt64? in
      guard readBytes(descriptor, bytes, Int(first) * pageSize) == bytes.count else { return nil }
      let page = RawPage(bytes: UnsafeRawBufferPointer(bytes))
      return page.number == first && page.flags == .overflow ? page.runLength : nil
    }
    let needed = UInt64((RawPage.headerSize - 1 + size) / pageSize + 1)
    guard let length, length >= needed, needed <= pageCount - first else { return nil }
    if value.count < size {
      value.deallocate()
      value = .allocate(byteCount: size, alignment: 16)
    }
    let target = UnsafeMutableRawBufferPointer(rebasing: value[..<size])
    let offset = Int(first) * pageSize + RawPage.headerSize
    guard readBytes(descriptor, target, offset) == size else { return nil }
    return UnsafeRawBufferPointer(target)
  }
}
