/// Pages of a damaged file, each read by itself.
extension DamagedFile {
  /// What is known of a page apart from what it holds.
  package enum PageUse: Sendable, Hashable {
    /// A tree that was followed leads to it, or all that is known to be free is something else: it
    /// is part of the newest state.
    case current
    /// The newest state lists it as free: it is left over from an earlier one.
    case free
    /// The list of free pages is damaged, so the use is unknown.
    case unknown
    /// The page contains the number of another page.
    case misplaced
  }

  /// The bytes that are read at once.
  private static let windowSize = 1 << 20

  /// The transactions of the root pages that are sound, the newest first.
  package var transactions: [UInt64] { roots.map(\.transactionID) }

  /// Hands on the entries among the names of the databases, as the root page of a transaction leads
  /// to them, and follows its list of free pages.
  ///
  /// What was followed before is forgotten.
  ///
  /// - Returns: Whether the whole tree of names is sound; nil where there is no such root page.
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

  /// Discards the record of the pages reached so far, and continues without a root page.
  package func begin() {
    reached = PageClaims(lastPage: pageCount)
    firstFreeLevel = 0
    knowsFreePages = false
    lastPage = .max
  }

  /// Goes on without a root page from a leaf with names of databases: looks for the branches above
  /// it, and hands on the entries of the tree.
  ///
  /// - Returns: Whether the whole tree of names is sound.
  package func begin(
    withNamesOn leaf: UInt64,
    _ entry: @escaping (DamagedEntry, _ isSound: Bool) throws(LMDBError) -> Void
  ) throws(LMDBError) -> Bool {
    var (root, depth) = (leaf, 1)
    while depth < TreeTraversal.mostLevels, let above = try branch(above: root, depth: depth) {
      (root, depth) = (above, depth + 1)
    }
    begin()
    return try traverse(Self.names(root, depth: depth), entry)
  }

  private static func names(_ root: UInt64, depth: Int) -> TreeTraversal {
    TreeTraversal(.main, "of names", TreeRecord(root: root, depth: depth), rootLevel: 0)
  }

  /// The branch that leads to a page: of several that do, since pages are used again, the one below
  /// which everything is sound.
  private func branch(above page: UInt64, depth: Int) throws(LMDBError) -> UInt64? {
    var candidates: [UInt64] = []
    try forEachPage { (number, found) throws(LMDBError) in
      guard found.flags == .branch, found.number == number,
        buffers.nodeComplaint(found, isLeaf: false) == nil,
        (0..<found.count).contains(where: { found.node($0).child == page })
      else { return }
      candidates.append(number)
    }
    for candidate in candidates {
      begin()
      if try traverse(Self.names(candidate, depth: depth + 1), { _, _ in }) { return candidate }
    }
    return candidates.count == 1 ? candidates[0] : nil
  }

  /// Reads which pages a root page lists as free; nothing is known where a part of the list is
  /// damaged.
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

  /// Adds the pages of a list to the free ones; false where it is damaged.
  private func insert(_ bytes: UnsafeRawBufferPointer, before end: UInt64) -> Bool {
    let list = RawPage(bytes: bytes)
    guard bytes.count >= 8, list.word(0) <= UInt64(bytes.count / 8 - 1) else { return false }
    var last = end
    for index in 0..<Int(list.word(0)) {
      let page = list.word(8 * (index + 1))
      guard page >= 2, page < last else { return false }
      last = page
      // The file may end before pages that are free.
      guard page <= pageCount else { continue }
      guard free.insert(page) else { return false }
    }
    return true
  }

  /// Hands on the entries of every leaf, in the order of the file.
  ///
  /// - Parameter body: Gets the page's number, what it is for, and its entries.
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

  /// Reads every page behind the root pages, many at once.
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
        // The end, or a part that the medium does not give: behind it there may be more.
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

  /// A list of free pages that names a page of a tree is damaged, and says nothing of others.
  private func distrustFreePages() {
    guard knowsFreePages else { return }
    for page in 2..<max(3, pageCount) where reached.contains(page) && free.contains(page) {
      knowsFreePages = false
      return
    }
  }
}

/// The entries of a leaf that was read by itself.
package struct DamagedLeaf {
  let page: RawPage
  /// Whether the entries lie inside of the page and fill it.
  package let isSound: Bool

  package func forEach(_ body: (DamagedEntry) throws(LMDBError) -> Void) throws(LMDBError) {
    try page.forEachDamagedEntry(body)
  }
}
