/// Verifies pages before the engine changes entries.
extension PageGuard {
  /// The number of changes per page at which verifying all pages costs no more than individual
  /// checks. A change's own check, along its path and the adjacent pages, takes about half as long
  /// as verifying a page.
  private static var changesPerPage: Int { 2 }

  /// Verifies the pages that a put accesses: the path to the key and to the value, and the pages of
  /// a large value that it replaces.
  mutating func verifyPut(
    _ database: Database, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    _ mode: PutMode
  ) throws(LMDBError) {
    guard var tree = try tree(of: database) else { return }
    let wasEndVerified = tree.isEndVerified
    try verifyPut(&tree, key, value, mode)
    if tree.isEndVerified, !wasEndVerified { noteVerifiedEnd(of: database) }
  }

  /// Verifies the pages that a put in a given tree accesses.
  mutating func verifyPut(
    _ tree: inout GuardedTree, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    _ mode: PutMode
  ) throws(LMDBError) {
    switch mode {
    case .append, .appendDuplicate:
      // Once the end of the tree belongs to the transaction, appending accesses nothing else.
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

  /// Verifies the pages that a deletion accesses: the path to the entry, the adjacent pages that
  /// the engine may merge with those of the path, and all pages of the deleted values.
  ///
  /// - Parameter value: The value to delete, or `nil` to delete all values of the key.
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

  /// Returns the leaf of a goal after verifying the pages adjacent to its path.
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
  /// - Parameter changes: The number of upcoming changes, or `nil` for any. With fewer than
  ///   ``changesPerPage`` per page, each change is checked individually instead.
  mutating func verifyAll(of database: Database, forChanges changes: Int? = nil) throws(LMDBError) {
    guard let tree = try tree(of: database) else { return }
    if isSettled(database) { return noteSettled(database) }
    if let changes, changes / Self.changesPerPage < tree.record.likelyPages { return }
    // Free pages can be reused and overwritten, so no page of the tree may be free.
    var claims: PageClaims? = try freePages()
    try verifyAll(tree, claims: &claims)
    noteSettled(database)
  }

  /// Returns the node of a key, or `nil` if the committed tree has none.
  func exactNode(_ leaf: TreeStep, _ tree: GuardedTree, _ key: UnsafeRawBufferPointer) -> RawNode? {
    guard leaf.index < leaf.page.count else { return nil }
    let node = leaf.page.node(leaf.index)
    return tree.order.compare(node.key, key) == 0 ? node : nil
  }

  /// Verifies the pages of a large value that are about to be freed.
  ///
  /// The engine frees as many pages as the first one claims. These may be more than the value
  /// needs, if a transaction replaced its own value by a shorter one. That is rare, and can only be
  /// confirmed once every page is known.
  private mutating func verifyReplaced(_ node: RawNode?, _ tree: GuardedTree) throws(LMDBError) {
    guard let node, node.flags == .largeData else { return }
    let run = try checkRun(node.data.word(0), size: node.dataSize, tree)
    if run.count > run.needed { try verifyFile() }
  }
}

/// The writer's knowledge of pages that its own commits have written.
extension PageGuard {
  mutating func noteCommit() { committed = state.transactionID + 1 }

  /// Switches from the state of transaction `former` to another one. If this process didn't commit
  /// that state, another process may have written its pages.
  mutating func takeOverPositions(from former: UInt64) {
    if state.transactionID != former, state.transactionID != committed { positions?.removeAll() }
    committed = nil
  }

  /// Returns whether a page without a mark needs no verification: it is at a position that the
  /// writer has verified, or in the name tree, which was verified completely.
  func isTrusted(
    _ page: RawPage, _ number: UInt64, _ tree: GuardedTree, depth: Int, _ position: UInt64
  ) -> Bool {
    let isKnown: Bool
    if let known = positions?.contains(position) { isKnown = known } else { isKnown = false }
    guard isKnown || (tree.kind == .main && areNamesSettled) else { return false }
    return page.number == number && page.flags.contains(depth == tree.depth ? .leaf : .branch)
  }

  /// Whether the name tree has no page left to verify.
  private var areNamesSettled: Bool {
    marks.isSettled(EngineFormat.namesHandle, in: state.transactionID)
  }
}
