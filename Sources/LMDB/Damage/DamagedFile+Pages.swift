#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Reads pages of a damaged file independently of its trees.
extension DamagedFile {
  /// The use of a page, independent of its contents.
  package enum PageUse: Sendable, Hashable {
    /// The page belongs to the newest state: a traversed tree refers to it, or the free list is
    /// known and doesn't contain it.
    case current
    /// The page is left over from an earlier state: the newest one lists it as free.
    case free
    /// The use is unknown because the free list is damaged.
    case unknown
    /// The page contains the number of another page.
    case misplaced
  }

  /// The number of bytes per read.
  private static let windowSize = 1 << 20

  /// The transaction numbers of the valid root pages, newest first.
  package var transactions: [UInt64] { roots.map(\.transactionID) }

  /// Returns the number of a file's last transaction, or `nil` if no root page is valid. Other
  /// processes may have the file open, and neither they nor their locks are affected.
  package static func newestTransaction(path: String) throws(LMDBError) -> UInt64? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw .lastSystemError }
    defer { close(descriptor) }
    return try MetaPages.soundPages(descriptor).first?.transactionID
  }

  /// Verifies every page of the newest root page's state.
  ///
  /// - Throws: ``LMDBError/damaged(_:)`` with the first finding.
  package func verifyNewestPages() throws(LMDBError) { _ = try Environment.isSound(descriptor) }

  /// Calls `entry` with the entries of the name tree of a transaction's root page, and reads its
  /// free list.
  ///
  /// Discards the results of earlier traversals.
  ///
  /// - Returns: Whether the whole name tree is undamaged, or `nil` if there is no such root page.
  package func begin(
    with transaction: UInt64,
    _ entry: @escaping (DamagedEntry, _ isSound: Bool) throws(LMDBError) -> Void
  ) throws(LMDBError) -> Bool? {
    guard let root = roots.first(where: { $0.transactionID == transaction }) else { return nil }
    begin()
    lastPage = root.lastPage
    try readFreePages(root)
    return try traverse(TreeTraversal(.main, "of names", root.main, rootLevel: 0), entry)
  }

  /// Calls `entry` with the entries of the name tree of a root page that is not in the file.
  ///
  /// Discards the results of earlier traversals.
  ///
  /// - Returns: Whether the whole name tree is undamaged.
  package func begin(
    with image: RootImage,
    _ entry: @escaping (DamagedEntry, _ isSound: Bool) throws(LMDBError) -> Void
  ) throws(LMDBError) -> Bool {
    begin()
    guard let root = image.page, root.pageSize == pageSize else { return false }
    return try traverse(TreeTraversal(.main, "of names", root.main, rootLevel: 0), entry)
  }

  /// Discards the results of earlier traversals and continues without a root page.
  package func begin() {
    reached = PageClaims(lastPage: pageCount)
    firstFreeLevel = 0
    knowsFreePages = false
    lastPage = .max
  }

  /// Continues without a root page from a leaf that contains database names: searches for the
  /// branch pages above it and calls `entry` with the entries of the tree.
  ///
  /// - Returns: Whether the whole name tree is undamaged.
  package func begin(
    withNamesOn leaf: UInt64,
    _ entry: @escaping (DamagedEntry, _ isSound: Bool) throws(LMDBError) -> Void
  ) throws(LMDBError) -> Bool {
    var (root, depth) = (leaf, 1)
    while depth < TreeTraversal.maximumDepth, let above = try branch(above: root, depth: depth) {
      (root, depth) = (above, depth + 1)
    }
    begin()
    return try traverse(Self.names(root, depth: depth), entry)
  }

  private static func names(_ root: UInt64, depth: Int) -> TreeTraversal {
    TreeTraversal(.main, "of names", TreeRecord(root: root, depth: depth), rootLevel: 0)
  }

  /// Returns the number of the branch page of names that refers to a page. If there are several,
  /// because pages are reused, returns the one whose subtree is undamaged, or `nil` if all are
  /// damaged.
  private func branch(above page: UInt64, depth: Int) throws(LMDBError) -> UInt64? {
    var candidates: [UInt64] = []
    try forEachPage { (number, found) throws(LMDBError) in
      guard found.flags == .branch, found.number == number,
        buffers.nodeComplaint(found, isLeaf: false) == nil,
        (0..<found.count).contains(where: { found.node($0).child == page }), Self.isOfNames(found)
      else { return }
      candidates.append(number)
    }
    for candidate in candidates {
      begin()
      if try traverse(Self.names(candidate, depth: depth + 1), { _, _ in }) { return candidate }
    }
    return candidates.count == 1 ? candidates[0] : nil
  }

  /// Returns whether the keys of a branch page may be names of databases. The page was perhaps part
  /// of another tree, whose keys are numbers or encoded values, when the page below it had another
  /// use.
  private static func isOfNames(_ branch: RawPage) -> Bool {
    (1..<max(1, branch.count)).allSatisfy { index in
      let key = branch.node(index).key
      return !key.isEmpty && key.allSatisfy { $0 >= 0x20 }
    }
  }

  /// Reads the free list of a root page. The list is treated as unknown if a part of it is damaged.
  private func readFreePages(_ root: MetaPage) throws(LMDBError) {
    free = PageClaims(lastPage: pageCount)
    var isSound = true
    let isWhole = try traverse(TreeTraversal(.free, "of free pages", root.free, rootLevel: 0)) {
      (entry: DamagedEntry, _: Bool) throws(LMDBError) in
      try self.withValue(of: entry) { (list) throws(LMDBError) in
        guard let list, self.insert(list, before: root.lastPage + 1) else {
          isSound = false
          return
        }
      }
    }
    knowsFreePages = isWhole && isSound
  }

  /// Adds the pages of a list to the free pages. Returns `false` if the list is damaged.
  private func insert(_ bytes: UnsafeRawBufferPointer, before end: UInt64) -> Bool {
    let list = RawPage(bytes: bytes)
    guard bytes.count >= 8, list.word(0) <= UInt64(bytes.count / 8 - 1) else { return false }
    var last = end
    for index in 0..<Int(list.word(0)) {
      let page = list.word(8 * (index + 1))
      guard page >= 2, page < last else { return false }
      last = page
      // The file may end before some of its free pages.
      guard page <= pageCount else { continue }
      guard free.insert(page) else { return false }
    }
    return true
  }

  /// Calls `body` with every leaf page in file order.
  ///
  /// - Parameter body: Called with the page's number, its use and its entries.
  package func scan(
    _ body: (_ page: UInt64, PageUse, _ entries: DamagedLeaf) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    distrustFreePages()
    try forEachPage { (number, page) throws(LMDBError) in
      guard page.flags == .leaf else { return }
      firstFreeLevel = 0
      try body(
        number, use(of: number, page),
        DamagedLeaf(page: page, isSound: buffers.nodeComplaint(page, isLeaf: true) == nil))
    }
  }

  /// Writes a copy of the file in which the state of a root page is the newest one.
  ///
  /// Pages that cannot be read are filled with zeros.
  ///
  /// - Parameter path: The path of an existing file, which is empty.
  package func copy(_ root: RootImage, to path: String) throws(LMDBError) {
    let descriptor = try DataFile.createDescriptor(path, mustBeNew: false)
    defer { DataFile.closeDescriptor(descriptor) }
    try forEachPage { (number, page) throws(LMDBError) in
      let offset = off_t(number) * off_t(pageSize)
      let count = pwrite(descriptor, page.bytes.baseAddress, pageSize, offset)
      guard count == pageSize else { throw count < 0 ? .lastSystemError : .diskFull }
    }
    try Environment.restore(root, at: path)
  }

  /// Reads every page after the root pages, many at a time.
  private func forEachPage(
    _ body: (_ number: UInt64, RawPage) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    let count = max(1, Self.windowSize / pageSize)
    let window = UnsafeMutableRawBufferPointer.allocate(byteCount: count * pageSize, alignment: 16)
    defer { window.deallocate() }
    var first: UInt64 = 2
    while first < pageCount {
      if isStopped() { throw .closed }
      let size = readBytes(descriptor, window, Int(first) * pageSize)
      if size < pageSize {
        // The end of the file, or an unreadable sector. There may be more pages after it.
        first += 1
        continue
      }
      for index in 0..<size / pageSize {
        let bytes = UnsafeRawBufferPointer(
          rebasing: window[index * pageSize..<(index + 1) * pageSize])
        try body(first + UInt64(index), RawPage(bytes: bytes))
      }
      first += UInt64(size / pageSize)
    }
  }

  private func use(of number: UInt64, _ page: RawPage) -> PageUse {
    if page.number != number { return .misplaced }
    if reached.contains(number) { return .current }
    guard knowsFreePages else { return .unknown }
    return free.contains(number) || number > lastPage ? .free : .current
  }

  /// Treats the free list as unknown if it contains a page of a tree, because it is then damaged.
  private func distrustFreePages() {
    guard knowsFreePages else { return }
    for page in 2..<max(3, pageCount) where reached.contains(page) && free.contains(page) {
      knowsFreePages = false
      return
    }
  }
}

/// The entries of a leaf page that was read independently of its tree.
package struct DamagedLeaf {
  let page: RawPage
  /// Whether the entries are within the page and fill it.
  package let isSound: Bool

  package func forEach(_ body: (DamagedEntry) throws(LMDBError) -> Void) throws(LMDBError) {
    try page.forEachDamagedEntry(body)
  }
}
