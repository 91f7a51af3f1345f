/// What has to be verified before the engine changes entries.
extension PageGuard {
  /// A change's own look, along the path and beside it, takes about half as long as a page that is
  /// verified: with so many changes a page all pages cost no more than the looks.
  private static var changesPerPage: Int { 2 }

  /// Verifies what a put touches: the path to the key and to the value, and the pages of a large
  /// value that it replaces.
  mutating func verifyPut(
    _ database: Database, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    _ mode: PutMode
  ) throws(LMDBError) {
    guard var tree = try tree(of: database) else { return }
    let wasEndVerified = tree.isEndVerified
    try verifyPut(&tree, key, value, mode)
    if tree.isEndVerified, !wasEndVerified { noteVerifiedEnd(of: database) }
  }

  /// The same in a tree that is known.
  mutating func verifyPut(
    _ tree: inout GuardedTree, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    _ mode: PutMode
  ) throws(LMDBError) {
    switch mode {
    case .append, .appendDuplicate:
      // Once the end of the tree is the transaction's own, no append touches anything else.
      if tree.isEndVerified { return }
      try verifySearch(tree, .last, values: .last)
      tree.isEndVerified = true
    case .overwrite, .noOverwrite, .noDuplicate:
      if tree.hasSeveralValues {
        try verifySearch(tree, .key(key), values: .key(value))
      } else {
        let leaf = try locate(try sought(.key(key), in: tree), in: tree)
        try verifyReplaced(exactNode(leaf, tree, key), tree)
      }
    }
  }

  /// Verifies what a deletion touches: the path to the entry, the pages beside it that the engine
  /// joins with those of the path, and all pages of the values that go.
  ///
  /// - Parameter value: One of several values; nil where all of them go.
  mutating func verifyDeletion(
    _ database: Database, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?
  ) throws(LMDBError) {
    guard let tree = try tree(of: database) else { return }
    let leaf = try locate(.key(key), beside: tree, path)
    guard let node = exactNode(leaf, tree, key) else { return }
    try verifyReplaced(node, tree)
    guard tree.hasSeveralValues, let values = try values(of: node, in: tree) else { return }
    if let value {
      _ = try locate(.key(value), beside: values, valuePath)
    } else {
      var claims: PageClaims?
      try verifyAll(values, claims: &claims)
    }
  }

  /// The leaf of a goal; the pages beside its path are verified too.
  private mutating func locate(
    _ goal: TreeGoal, beside tree: GuardedTree, _ path: UnsafeMutablePointer<TreeStep>
  ) throws(LMDBError) -> TreeStep {
    let goal = try sought(goal, in: tree)
    if let known = verifiedLeaf(tree, goal), known.pointee.reach.contains(.neighbours) {
      var leaf = known.pointee.leaf
      leaf.index = tree.leafIndex(of: goal, in: leaf.page)
      return leaf
    }
    let leaf = try descend(tree, to: goal, path)
    try verifyNeighbours(tree, of: path)
    remember(leaf, of: tree, .neighbours)
    return leaf
  }

  /// Verifies all pages of a database, so that nothing of it is left to verify.
  ///
  /// - Parameter changes: How many changes are to come: fewer than ``changesPerPage`` for each page
  ///   leave each its own look. nil for any.
  mutating func verifyAll(of database: Database, forChanges changes: Int? = nil) throws(LMDBError) {
    guard let tree = try tree(of: database) else { return }
    if isSettled(database) { return noteSettled(database) }
    if let changes, changes / Self.changesPerPage < tree.record.likelyPages { return }
    // What is free can be given out and written over, so no page of the tree may be free.
    var claims: PageClaims? = try freePages()
    try verifyAll(tree, claims: &claims)
    noteSettled(database)
  }

  /// The node of a key; nil where the committed tree has none.
  func exactNode(_ leaf: TreeStep, _ tree: GuardedTree, _ key: UnsafeRawBufferPointer) -> RawNode? {
    guard leaf.index < leaf.page.count else { return nil }
    let node = leaf.page.node(leaf.index)
    return tree.order.compare(node.key, key) == 0 ? node : nil
  }

  /// Verifies the pages of a large value that are about to be freed.
  ///
  /// The engine frees as many as they say themselves. They may be more than the value needs, where
  /// a transaction replaced its own value by a shorter one: that is rare, and certain only once
  /// every page is known.
  private mutating func verifyReplaced(_ node: RawNode?, _ tree: GuardedTree) throws(LMDBError) {
    guard let node, node.flags == .largeData else { return }
    let run = try checkRun(node.data.word(0), size: node.dataSize, tree)
    if run.count > run.needed { try verifyFile() }
  }
}

/// What the writer knows of the pages that its own commits have written.
extension PageGuard {
  mutating func noteCommit() { committed = state.transactionID + 1 }

  /// Turns to another state from that of transaction `former`: where this process has not made it,
  /// pages may be anybody's.
  mutating func takeOverPositions(from former: UInt64) {
    if state.transactionID != former, state.transactionID != committed { positions?.removeAll() }
    committed = nil
  }

  /// Whether a page without a mark needs no look: it lies where the writer has verified one, or in
  /// the tree of names, which was verified as a whole.
  func isTrusted(
    _ page: RawPage, _ number: UInt64, _ tree: GuardedTree, depth: Int, _ position: UInt64
  ) -> Bool {
    let isKnown: Bool
    if let known = positions?.contains(position) { isKnown = known } else { isKnown = false }
    guard isKnown || (tree.kind == .main && areNamesSettled) else { return false }
    return page.number == number && page.flags.contains(depth == tree.depth ? .leaf : .branch)
  }

  /// Whether the tree of names has no page left to verify.
  private var areNamesSettled: Bool {
    marks.isSettled(EngineFormat.namesHandle, in: state.transactionID)
  }
}
