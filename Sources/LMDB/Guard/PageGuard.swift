internal import CLMDB

/// Verifies the pages of one transaction's state in the map before the engine uses them.
///
/// liblmdb trusts its file: on a damaged page it crashes, loops, or returns wrong data. Before each
/// call, the committed trees are therefore descended here as the engine is going to do it, and
/// every page without a mark is verified by the rules of ``PageVerifier``. Pages that a transaction
/// has changed itself need no verification; all other pages that the engine can reach belong to the
/// committed trees.
///
/// The name tree is verified completely when the file is opened, and the free lists before the
/// first change.
///
/// Memory safety: committed pages of a state neither move nor change while its transaction is
/// alive, and every page number is checked against the map and the file before it is followed.
struct PageGuard: ~Copyable {
  let marks: PageMarks
  private let descriptor: Int32
  let pageSize: Int
  private var verifier: PageVerifier
  /// The root page of the state.
  private(set) var state: MetaPage
  /// The address of page 0, or `nil` until a page of the map is known.
  private(set) var map: UnsafeRawPointer?
  /// The number of pages that are known to be in both the file and the map.
  private var heldPages: UInt64 = 0
  /// The number of pages in the map.
  private var mappedPages: UInt64 = 0
  /// The trees by database handle.
  var trees: [KnownTree] = []
  /// The names of databases whose trees are or were known, by handle.
  var names: [String] = []
  /// The most recent leaves, indexed by the seed of their tree.
  private let leaves: UnsafeMutablePointer<VerifiedLeaf>
  private static var leafCount: UInt64 { 64 }
  /// The transaction number of the state that the last transaction committed, or `nil` if it didn't
  /// commit.
  var committed: UInt64?
  /// The positions at which the writer has verified pages, or `nil` for a reader.
  let positions: SoundPositions?
  private(set) var verifiedPages = 0
  /// The path of the last descent in a database.
  let path: UnsafeMutablePointer<TreeStep>
  /// The path of the last descent in the values of a key.
  let valuePath: UnsafeMutablePointer<TreeStep>

  init(marks: PageMarks, descriptor: Int32, state: MetaPage, isWriter: Bool) {
    self.marks = marks
    positions = isWriter ? SoundPositions() : nil
    self.descriptor = descriptor
    self.state = state
    pageSize = state.pageSize
    verifier = PageVerifier(pagesOf: state)
    // Memory safety: freed with the value, which is noncopyable. No tree is deeper.
    leaves = .allocate(capacity: Int(Self.leafCount))
    leaves.initialize(repeating: .none, count: Int(Self.leafCount))
    path = .allocate(capacity: TreeTraversal.maximumDepth)
    valuePath = .allocate(capacity: TreeTraversal.maximumDepth)
  }

  deinit {
    leaves.deallocate()
    path.deallocate()
    valuePath.deallocate()
  }

  /// Returns whether nothing has changed since the slot's last transaction.
  @inline(__always)
  func isPrepared(for transaction: Int) -> Bool {
    state.transactionID == UInt64(truncatingIfNeeded: transaction) && map != nil
  }

  /// Switches to the state that a transaction begins with.
  mutating func turn(to state: MetaPage, _ transaction: OpaquePointer?) {
    let former = self.state.transactionID
    self.state = state
    for index in trees.indices { trees[index] = .unknown }
    if map == nil { findMap(transaction) }
    takeOverPositions(from: former)
  }

  /// Discards the address of the map, which is about to move or to be replaced.
  mutating func forgetMap() {
    map = nil
    leaves.update(repeating: .none, count: Int(Self.leafCount))
    (heldPages, mappedPages) = (0, 0)
  }

  /// Finds the map through an entry of the name tree: the page that contains it also contains its
  /// own number.
  private mutating func findMap(_ transaction: OpaquePointer?) {
    guard !state.main.isEmpty else { return }
    var cursor: OpaquePointer?
    guard mdb_cursor_open(transaction, EngineFormat.namesHandle, &cursor) == MDB_SUCCESS else {
      return
    }
    defer { mdb_cursor_close(cursor) }
    var key = MDB_val()
    var value = MDB_val()
    var info = MDB_envinfo()
    guard mdb_cursor_get(cursor, &key, &value, MDB_FIRST) == MDB_SUCCESS,
      mdb_env_info(mdb_txn_env(transaction), &info) == MDB_SUCCESS
    else { return }
    let address = UInt(bitPattern: key.mv_data) & ~UInt(bitPattern: pageSize - 1)
    guard let page = UnsafeRawPointer(bitPattern: address) else { return }
    let number = RawPage(bytes: UnsafeRawBufferPointer(start: page, count: pageSize)).number
    guard number <= state.lastPage else { return }
    mappedPages = UInt64(info.me_mapsize / pageSize)
    map = page - Int(number) * pageSize
  }

  // MARK: Pages

  /// Returns a verified page of a tree. `depth` is 1 for the root.
  @inline(__always)
  mutating func page(
    _ number: UInt64, _ tree: GuardedTree, depth: Int, _ range: PageVerifier.KeyRange
  ) throws(LMDBError) -> RawPage {
    let page = try mapped(number, tree)
    let position = position(tree, depth: depth, range)
    let mark = mark(page, position)
    if !marks.hold(mark, for: number) {
      if !isTrusted(page, number, tree, depth: depth, position) {
        try verify(page, number, tree, depth: depth, range)
      }
      marks.set(mark, for: number)
    }
    positions?.insert(position)
    return page
  }

  @inline(never)
  private mutating func verify(
    _ page: RawPage, _ number: UInt64, _ tree: GuardedTree, depth: Int,
    _ range: PageVerifier.KeyRange
  ) throws(LMDBError) {
    verifiedPages += 1
    var traversal = tree.traversal(names[Int(tree.handle)])
    try verifier.inspect(page, number, &traversal, depth: depth, range)
  }

  /// Returns the position of a page: its tree, its height in the tree, and its least key.
  @inline(__always)
  private func position(
    _ tree: GuardedTree, depth: Int, _ range: PageVerifier.KeyRange
  ) -> UInt64 {
    let seed = PageMarks.mix(tree.seed, UInt64(truncatingIfNeeded: tree.depth &- depth))
    return range.lower.map { PageMarks.mix(seed, $0) } ?? seed
  }

  /// Returns the mark of a verified page: a hash of its position, kind and bounds.
  @inline(__always)
  private func mark(_ page: RawPage, _ position: UInt64) -> UInt32 {
    PageMarks.mark(PageMarks.mix(position, page.word(8)))
  }

  /// Runs `body` on a verified leaf, unless the ends of the values of its keys are already
  /// verified.
  mutating func verifyEdges(
    of leaf: TreeStep, _ tree: GuardedTree, _ body: (inout PageGuard) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    let number = leaf.page.number
    let mark = mark(leaf.page, position(tree, depth: tree.depth, leaf.range))
    if marks.holdEdges(mark, for: number) { return }
    try body(&self)
    marks.set(mark | PageMarks.edges, for: number)
  }

  // MARK: Leaves

  /// Returns a verified leaf that contains a key or an end of the tree, or `nil` if it is not among
  /// the most recent ones.
  @inline(__always)
  func verifiedLeaf(
    _ tree: GuardedTree, _ goal: TreeGoal
  ) -> UnsafeMutablePointer<VerifiedLeaf>? {
    let here = leaves + Int(truncatingIfNeeded: tree.seed % Self.leafCount)
    guard here.pointee.seed == tree.seed, here.pointee.state == state.transactionID,
      tree.holds(goal, here.pointee.leaf.range)
    else { return nil }
    return here
  }

  /// Records a leaf and the further pages that are verified.
  @inline(__always)
  func remember(_ leaf: TreeStep, of tree: GuardedTree, _ reach: VerifiedLeaf.Reach) {
    let here = leaves + Int(truncatingIfNeeded: tree.seed % Self.leafCount)
    let isSame =
      here.pointee.seed == tree.seed && here.pointee.state == state.transactionID
      && here.pointee.leaf.page.bytes.baseAddress == leaf.page.bytes.baseAddress
    here.pointee = VerifiedLeaf(
      seed: tree.seed, state: state.transactionID, leaf: leaf,
      reach: isSame ? reach.union(here.pointee.reach) : reach)
  }

  /// Returns a page that is within the file and the map.
  @inline(__always)
  private mutating func mapped(
    _ number: UInt64, _ tree: GuardedTree
  ) throws(LMDBError) -> RawPage {
    guard number >= 2, number <= state.lastPage, let map else {
      throw damage(tree, number, PageVerifier.outsideComplaint(lastPage: state.lastPage))
    }
    if number >= heldPages { try extend(to: number, tree) }
    let start = map + Int(truncatingIfNeeded: number) &* pageSize
    return RawPage(bytes: UnsafeRawBufferPointer(start: start, count: pageSize))
  }

  /// Rereads the size of the file. Throws if the page is still past its end.
  private mutating func extend(to number: UInt64, _ tree: GuardedTree) throws(LMDBError) {
    heldPages = min(try state.heldPages(descriptor), mappedPages)
    guard number < heldPages else { throw damage(tree, number, "it is past the end of the file") }
  }

  /// Checks the overflow pages of a large value, and returns the first one and their number.
  @discardableResult
  mutating func checkRun(
    _ first: UInt64, size: Int, _ tree: GuardedTree
  ) throws(LMDBError) -> (first: UInt64, count: UInt64, needed: UInt64) {
    let page = try mapped(first, tree)
    let needed = UInt64((RawPage.headerSize - 1 + size) / pageSize + 1)
    guard page.number == first, page.flags == .overflow else {
      throw damage(tree, first, "it is not the overflow page that its entry expects")
    }
    guard page.runLength >= needed, page.runLength <= state.lastPage else {
      throw damage(
        tree, first, "its overflow page count is \(page.runLength), but its value needs \(needed)")
    }
    let last = first + page.runLength - 1
    if last >= heldPages { heldPages = min(try state.heldPages(descriptor), mappedPages) }
    guard last < heldPages, last <= state.lastPage else {
      throw damage(tree, first, "its overflow pages extend past the end of the file")
    }
    return (first, page.runLength, needed)
  }

  /// Returns the pages in the free lists of the state, and those of the lists themselves.
  func freePages() throws(LMDBError) -> PageClaims {
    var verifier = try PageVerifier(descriptor: descriptor, meta: state)
    try verifier.verifyFreeLists()
    return verifier.takeClaims()
  }

  /// Verifies all pages of the state. None of them may be written during verification.
  mutating func verifyFile() throws(LMDBError) {
    if marks.areComplete { return }
    var verifier = try PageVerifier(descriptor: descriptor, meta: state)
    _ = try verifier.verify()
    marks.areComplete = true
  }

  func damage(_ tree: GuardedTree, _ page: UInt64?, _ what: String) -> LMDBError {
    verifier.damage(tree.traversal(names[Int(tree.handle)]), page, what)
  }
}
