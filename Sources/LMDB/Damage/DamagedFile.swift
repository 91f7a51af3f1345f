#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A data file that may be damaged in any way, read for what it still holds.
///
/// Nothing here trusts the file: it is read by plain bounded reads, a window at a time, and never
/// mapped or written. A page that the medium does not give is a damaged page, so that reading
/// itself never fails; ``traverse(_:_:lost:)`` follows trees as far as they are sound, and
/// ``scan(_:)`` reads every page by itself, whatever leads to it.
///
/// The memory is two bits for each page of the file, one page for each level of the trees, a window
/// and the largest value.
package final class DamagedFile {
  package let path: String
  package let pageSize: Int
  /// The pages that the file holds, the last one perhaps in part.
  package let pageCount: UInt64
  /// Whether somebody holds the file open, who may change it while it is read.
  package let isInUse: Bool
  /// Asked again and again while pages are read; the reading ends with ``LMDBError/closed`` where
  /// it says so.
  package var isStopped: () -> Bool = { false }
  /// The root pages that are sound in themselves, the newest first.
  let roots: [MetaPage]
  let descriptor: Int32
  /// The pages of the trees that were followed.
  var reached: PageClaims
  /// The pages that the root page lists as free, if that is known.
  var free: PageClaims
  package internal(set) var knowsFreePages = false
  /// The last page that the root page knows of; what lies behind it was never committed.
  var lastPage = UInt64.max
  var buffers: PageBuffers
  /// The level of the buffers that a tree within a tree begins with.
  var firstFreeLevel = 0
  private var value = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// How bytes of the file are read, as far as the medium gives them; tests put in its place a
  /// medium with unreadable sectors.
  var readBytes: (_ descriptor: Int32, UnsafeMutableRawBufferPointer, _ offset: Int) -> Int = {
    readAvailable($0, $1, at: $2)
  }

  /// Opens a file for reading.
  ///
  /// - Throws: ``LMDBError/noSuchFile`` and what else the system says of the path;
  ///   ``LMDBError/invalid`` where nothing in the file looks like a page of LMDB;
  ///   ``LMDBError/foreignFormat(version:)``.
  package init(path given: String) throws(LMDBError) {
    let path = try DataFile.canonicalPath(given)
    // Without O_NONBLOCK opening a pipe would wait for its other end.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw .lastSystemError }
    do throws(LMDBError) {
      let size = Int(try DataFile.status(ofFile: descriptor).st_size)
      // The lock goes with the descriptor.
      isInUse = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
      var sound = try MetaPages.soundPages(descriptor)
      if sound.count == 1, let pageSize = Self.pageSize(descriptor, size) {
        // Pages carry their numbers; a root page's word for their size may be what is damaged.
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
    close(descriptor)
    value.deallocate()
  }

  /// The page size by which most pages carry their number.
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

  /// Reads a page into the buffer of a level; nil where the file or the medium does not give it.
  func read(_ page: UInt64, level: Int) -> RawPage? {
    guard page < pageCount else { return nil }
    let buffer = buffers.page(level: level)
    guard readBytes(descriptor, buffer, Int(page) * pageSize) == pageSize else { return nil }
    return RawPage(bytes: UnsafeRawBufferPointer(buffer))
  }

  /// Reads the value that fills pages of its own; nil where those are not what the entry says.
  /// Valid until the next value.
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
