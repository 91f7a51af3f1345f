/// Descents along verified pages.
extension PageGuard {
  /// Descends to a leaf.
  ///
  /// - Returns: The leaf, with the first node that is at the goal or behind it.
  @discardableResult
  @inline(__always)
  mutating func descend(
    _ tree: GuardedTree, to goal: TreeGoal, _ path: UnsafeMutablePointer<TreeStep>
  ) throws(LMDBError) -> TreeStep {
    var number = tree.record.root
    var range = PageVerifier.KeyRange()
    for depth in 1..<tree.depth {
      let page = try page(number, tree, depth: depth, range)
      let step = TreeStep(page: page, index: tree.branchIndex(of: goal, in: page), range: range)
      path[depth - 1] = step
      (number, range) = step.below
    }
    let page = try page(number, tree, depth: tree.depth, range)
    let leaf = TreeStep(page: page, index: tree.leafIndex(of: goal, in: page), range: range)
    path[tree.depth - 1] = leaf
    return leaf
  }

  /// Steps from the leaf of a path to the one behind or before it; nil where there is none.
  mutating func step(
    _ tree: GuardedTree, forward: Bool, _ path: UnsafeMutablePointer<TreeStep>
  ) throws(LMDBError) -> TreeStep? {
    var depth = tree.depth - 1
    while depth > 0, path[depth - 1].index == (forward ? path[depth - 1].page.count - 1 : 0) {
      depth -= 1
    }
    guard depth > 0 else { return nil }
    path[depth - 1].index += forward ? 1 : -1
    let (number, range) = path[depth - 1].below
    return try descendEdge(number, tree, depth: depth + 1, range, first: forward)
  }

  /// Descends from a page on always to the first node, or to the last one.
  ///
  /// - Returns: The leaf with that node.
  @discardableResult
  mutating func descendEdge(
    _ number: UInt64, _ tree: GuardedTree, depth: Int, _ range: PageVerifier.KeyRange, first: Bool
  ) throws(LMDBError) -> TreeStep {
    var step = TreeStep(
      page: try page(number, tree, depth: depth, range), index: 0, range: range)
    var depth = depth
    while true {
      step.index = first ? 0 : step.page.count - 1
      guard depth < tree.depth else { return step }
      let (number, range) = step.below
      depth += 1
      step = TreeStep(page: try page(number, tree, depth: depth, range), index: 0, range: range)
    }
  }

  /// Verifies what the engine may touch besides the path when it takes entries out of the path's
  /// leaf: it joins pages with those at their sides, on every level, and reads the first key below
  /// those that it joins.
  mutating func verifyNeighbours(
    _ tree: GuardedTree, of path: UnsafeMutablePointer<TreeStep>
  ) throws(LMDBError) {
    for depth in 1..<tree.depth {
      var parent = path[depth - 1]
      let index = parent.index
      func edge(_ other: Int, first: Bool) throws(LMDBError) {
        parent.index = other
        let (number, range) = parent.below
        try descendEdge(number, tree, depth: depth + 1, range, first: first)
      }
      if index > 0 {
        try edge(index - 1, first: false)
        try edge(index - 1, first: true)
        try edge(0, first: true)
      }
      if index + 1 < parent.page.count { try edge(index + 1, first: true) }
    }
  }

  /// Verifies all pages of a tree, and of the trees in its entries.
  ///
  /// - Parameter runs: Where the pages of large values are accounted for.
  mutating func verifyAll(
    _ tree: GuardedTree, runs: inout PageClaims
  ) throws(LMDBError) {
    try verifyAll(tree.record.root, tree, depth: 1, PageVerifier.KeyRange(), &runs)
  }

  private mutating func verifyAll(
    _ number: UInt64, _ tree: GuardedTree, depth: Int, _ range: PageVerifier.KeyRange,
    _ runs: inout PageClaims
  ) throws(LMDBError) {
    let page = try page(number, tree, depth: depth, range)
    if page.flags.contains(.packed) { return }
    for index in 0..<page.count {
      let node = page.node(index)
      if depth < tree.depth {
        try verifyAll(
          node.child, tree, depth: depth + 1, page.range(of: index, in: range), &runs)
      } else if node.flags == .largeData {
        let run = try checkRun(node.data.word(0), size: node.dataSize, tree)
        for page in run.first..<run.first + run.count where !runs.insert(page) {
          throw damage(tree, page, "it is used twice")
        }
      } else if let values = try values(of: node, in: tree) {
        try verifyAll(values.record.root, values, depth: 1, PageVerifier.KeyRange(), &runs)
      }
    }
  }

  /// The values of a key that have a tree of their own, whose record says what can be.
  mutating func values(
    of node: RawNode, in tree: GuardedTree
  ) throws(LMDBError) -> GuardedTree? {
    guard let values = tree.values(of: node) else { return nil }
    return try checked(values)
  }
}
