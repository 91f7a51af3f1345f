internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Verifies the pages of one transaction's state where they lie in the map, before the engine uses
/// them.
///
/// liblmdb trusts its file: on a damaged page it ends the process, loops, or gives wrong data. So
/// before a call into it the committed trees are descended here as the engine is going to do it,
/// and every page that has no mark yet is verified by the rules of ``PageVerifier``. Pages that a
/// transaction has changed itself are the engine's own and need no look: what it can still reach
/// in the file are pages of the committed trees.
///
/// The tree of names is verified as a whole when the file is opened, and the lists of free pages
/// before the first change.
///
/// Sound because committed pages of a state neither move nor change while its transaction lives,
/// and every number is checked against the map and the file before it is followed.
struct PageGuard: ~Copyable {
  private let marks: PageMarks
  private let descriptor: Int32
  private let pageSize: Int
  private var verifier: PageVerifier
  /// The root page of the state.
  private(set) var state: MetaPage
  /// Page 0; nil until a page of the map is known.
  private(set) var map: UnsafeRawPointer?
  /// The pages that the file and the map are known to hold.
  private var heldPages: UInt64 = 0
  private var mappedPages: UInt64 = 0
  /// By database handle.
  private var trees: [KnownTree] = []
  /// The names of the databases whose trees are known or were, by handle.
  private var names: [String] = []
  /// The last leaves, each where the seed of its tree says.
  private let leaves: UnsafeMutablePointer<VerifiedLeaf>
  private static var leafCount: UInt64 { 64 }
  /// The path of the last descent, in a database and in the values of a key.
  let path: UnsafeMutablePointer<TreeStep>
  let valuePath: UnsafeMutablePointer<TreeStep>

  private enum KnownTree {
    case unknown
    /// Nothing of the file is left to verify before the engine uses the database: it is empty, all
    /// its pages are verified, or they are about to go.
    case settled
    case tree(GuardedTree)
  }

  init(marks: PageMarks, descriptor: Int32, state: MetaPage) {
    self.marks = marks
    self.descriptor = descriptor
    self.state = state
    pageSize = state.pageSize
    verifier = PageVerifier(pagesOf: state)
    // Sound: freed with the value, which can not be copied; no tree is deeper.
    leaves = .allocate(capacity: Int(Self.leafCount))
    leaves.initialize(repeating: .none, count: Int(Self.leafCount))
    path = .allocate(capacity: TreeWalk.mostLevels)
    valuePath = .allocate(capacity: TreeWalk.mostLevels)
  }

  deinit {
    leaves.deallocate()
    path.deallocate()
    valuePath.deallocate()
  }

  /// Whether nothing has changed since the slot's last transaction.
  @inline(__always)
  func isPrepared(for transaction: Int) -> Bool {
    state.transactionID == UInt64(truncatingIfNeeded: transaction) && map != nil
  }

  /// Turns to the state that a transaction begins with.
  mutating func turn(to state: MetaPage, _ transaction: OpaquePointer?) {
    self.state = state
    trees.removeAll(keepingCapacity: true)
    if map == nil { findMap(transaction) }
  }

  /// The map moves, or another file takes the place: the next transaction looks anew.
  mutating func forgetMap() {
    map = nil
    leaves.update(repeating: .none, count: Int(Self.leafCount))
    (heldPages, mappedPages) = (0, 0)
  }

  /// Finds the map by an entry among the names: the page that it lies in says its own number.
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

  // MARK: Trees

  /// The tree of a database in this state; nil where nothing of it is left to verify.
  @inline(__always)
  mutating func tree(of database: Database) throws(LMDBError) -> GuardedTree? {
    let index = Int(database.handle)
    if index < trees.count {
      switch trees[index] {
      case .tree(let tree): return tree
      case .settled: return nil
      case .unknown: break
      }
    }
    return try learn(database)
  }

  private mutating func learn(_ database: Database) throws(LMDBError) -> GuardedTree? {
    let index = Int(database.handle)
    if index >= trees.count {
      trees.append(contentsOf: repeatElement(.unknown, count: index + 1 - trees.count))
    }
    if index >= names.count {
      names.append(contentsOf: repeatElement("", count: index + 1 - names.count))
    }
    names[index] = database.handle == EngineFormat.namesHandle ? "of names" : database.name
    let found = try find(database)
    trees[index] = found.map { .tree($0) } ?? .settled
    return found
  }

  private mutating func find(_ database: Database) throws(LMDBError) -> GuardedTree? {
    let handle = database.handle
    if handle == EngineFormat.namesHandle {
      return try checked(GuardedTree(.main, of: handle, state.main))
    }
    guard handle > EngineFormat.namesHandle, let names = try tree(of: .unnamed) else {
      return nil
    }
    let record = try Array(database.name.utf8).withUnsafeBufferPointer {
      (bytes) throws(LMDBError) -> TreeRecord? in
      let key = TreeGoal.key(UnsafeRawBufferPointer(bytes))
      let leaf = try descend(names, to: key, path)
      guard leaf.index < leaf.page.count else { return nil }
      let node = leaf.page.node(leaf.index)
      guard node.flags == .tree, node.key.elementsEqual(bytes) else { return nil }
      return TreeRecord(node.data)
    }
    guard let record else { return nil }
    return try checked(GuardedTree(.named, of: handle, record))
  }

  /// Remembers that the end of a database's tree is verified.
  mutating func noteVerifiedEnd(of database: Database) {
    let index = Int(database.handle)
    guard index < trees.count, case .tree(var tree) = trees[index] else { return }
    tree.isEndVerified = true
    trees[index] = .tree(tree)
  }

  /// Notes that nothing of a database is left to verify in this state.
  mutating func noteSettled(_ database: Database) {
    let index = Int(database.handle)
    if index < trees.count { trees[index] = .settled }
  }

  /// Forgets a database, whose handle another one may get.
  mutating func forget(_ database: Database) {
    let index = Int(database.handle)
    if index < trees.count { trees[index] = .unknown }
  }

  /// A tree whose record says what can be, as far as it can be told without the pages; nil where it
  /// is empty.
  @inline(__always)
  func checked(_ tree: GuardedTree) throws(LMDBError) -> GuardedTree? {
    let record = tree.record
    // What has pages and a depth that can be needs no further look at what an empty tree has.
    let isPlain =
      tree.kind == .values && !record.isEmpty && (1...TreeWalk.mostLevels).contains(record.depth)
    if !isPlain, let what = tree.walk("").recordComplaint { throw damage(tree, nil, what) }
    guard max(record.branchPages, record.leafPages, record.overflowPages) <= state.lastPage else {
      throw damage(tree, nil, "it has other numbers of pages than it says")
    }
    guard record.entries / UInt64(pageSize) <= state.lastPage else {
      throw damage(tree, nil, "it says that it has \(record.entries) entries")
    }
    return record.isEmpty ? nil : tree
  }

  // MARK: Pages

  /// A page of a tree, verified. `depth` is 1 for the root.
  @inline(__always)
  mutating func page(
    _ number: UInt64, _ tree: GuardedTree, depth: Int, _ range: PageVerifier.KeyRange
  ) throws(LMDBError) -> RawPage {
    let page = try mapped(number, tree)
    let mark = mark(page, tree, depth: depth, range)
    if !marks.hold(mark, for: number) {
      try verify(page, number, tree, depth: depth, range)
      marks.set(mark, for: number)
    }
    return page
  }

  @inline(never)
  private mutating func verify(
    _ page: RawPage, _ number: UInt64, _ tree: GuardedTree, depth: Int,
    _ range: PageVerifier.KeyRange
  ) throws(LMDBError) {
    var walk = tree.walk(names[Int(tree.handle)])
    try verifier.inspect(page, number, &walk, depth: depth, range)
  }

  /// What a page is verified as: its height in its tree, its kind and bounds, and the least key.
  @inline(__always)
  private func mark(
    _ page: RawPage, _ tree: GuardedTree, depth: Int, _ range: PageVerifier.KeyRange
  ) -> UInt32 {
    let height = UInt64(truncatingIfNeeded: tree.depth &- depth)
    let mixed = PageMarks.mix(tree.seed &+ height, page.word(8))
    return PageMarks.mark(range.lower.map { PageMarks.mix(mixed, $0) } ?? mixed)
  }

  /// Runs `body` on a verified leaf, unless the ends of the values of its keys are verified.
  mutating func verifyEdges(
    of leaf: TreeStep, _ tree: GuardedTree,
    _ body: (inout PageGuard) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    let number = leaf.page.number
    let mark = mark(leaf.page, tree, depth: tree.depth, leaf.range)
    if marks.holdEdges(mark, for: number) { return }
    try body(&self)
    marks.set(mark | PageMarks.edges, for: number)
  }

  // MARK: Leaves

  /// A verified leaf that a key, or an end of the tree, belongs to; nil where the last ones were
  /// others.
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

  /// Remembers a leaf, and what else is verified of it.
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

  /// A page that lies in the file and in the map.
  @inline(__always)
  private mutating func mapped(
    _ number: UInt64, _ tree: GuardedTree
  ) throws(LMDBError) -> RawPage {
    guard number >= 2, number <= state.lastPage, let map else {
      throw damage(
        tree, number, PageVerifier.outsideComplaint(lastPage: state.lastPage))
    }
    if number >= heldPages { try extend(to: number, tree) }
    let start = map + Int(truncatingIfNeeded: number) &* pageSize
    return RawPage(bytes: UnsafeRawBufferPointer(start: start, count: pageSize))
  }

  /// Looks how long the file is by now.
  private mutating func extend(to number: UInt64, _ tree: GuardedTree) throws(LMDBError) {
    heldPages = min(try state.heldPages(descriptor), mappedPages)
    guard number < heldPages else {
      throw damage(tree, number, "it is behind the end of the file")
    }
  }

  /// Checks the pages of a large value, to which a node of a leaf leads.
  ///
  /// - Returns: The first page and the number of pages.
  @discardableResult
  mutating func checkRun(
    _ first: UInt64, size: Int, _ tree: GuardedTree
  ) throws(LMDBError) -> (first: UInt64, count: UInt64, needed: UInt64) {
    let page = try mapped(first, tree)
    let needed = UInt64((RawPage.headerSize - 1 + size) / pageSize + 1)
    guard page.number == first, page.flags == .overflow else {
      throw damage(tree, first, "it is no run of pages, as its entry says")
    }
    guard page.runLength >= needed, page.runLength <= state.lastPage else {
      throw damage(
        tree, first, "it is a run of \(page.runLength) pages, and its value needs \(needed)")
    }
    let last = first + page.runLength - 1
    if last >= heldPages { heldPages = min(try state.heldPages(descriptor), mappedPages) }
    guard last < heldPages, last <= state.lastPage else {
      throw damage(tree, first, "it is a run that goes behind the end of the file")
    }
    return (first, page.runLength, needed)
  }

  /// Verifies all pages of the state. Only where none of them can be written meanwhile.
  mutating func verifyFile() throws(LMDBError) {
    if marks.areComplete { return }
    var verifier = try PageVerifier(descriptor: descriptor, meta: state)
    _ = try verifier.verify()
    marks.areComplete = true
  }

  /// The error of a finding in a tree.
  func damage(_ tree: GuardedTree, _ page: UInt64?, _ what: String) -> LMDBError {
    verifier.damage(tree.walk(names[Int(tree.handle)]), page, what)
  }
}
