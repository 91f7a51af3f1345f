/// Descends along verified pages.
extension PageGuard {
  /// Descends to a leaf and returns it with the first node at or after the goal.
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

  /// Moves from the leaf of a path to the next or previous one. Returns `nil` if there isn't one.
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

  /// Descends from a page, always to the first or always to the last node.
  @discardableResult
  mutating func descendEdge(
    _ number: UInt64, _ tree: GuardedTree, depth: Int, _ range: PageVerifier.KeyRange, first: Bool
  ) throws(LMDBError) -> TreeStep {
    var step = TreeStep(page: try page(number, tree, depth: depth, range), index: 0, range: range)
    var depth = depth
    while true {
      step.index = first ? 0 : step.page.count - 1
      guard depth < tree.depth else { return step }
      let (number, range) = step.below
      depth += 1
      step = TreeStep(page: try page(number, tree, depth: depth, range), index: 0, range: range)
    }
  }

  /// Verifies the pages outside of the path that the engine may access when it removes entries from
  /// the path's leaf: it merges pages with their siblings on every level, and reads the first key
  /// below the merged pages.
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

  /// Verifies all pages of a tree and of nested trees.
  ///
  /// - Parameter claims: The pages that are accounted for, including those that must not be part of
  ///   the tree, or `nil` to only verify the pages.
  mutating func verifyAll(_ tree: GuardedTree, claims: inout PageClaims?) throws(LMDBError) {
    try verifyAll(tree.record.root, tree, depth: 1, PageVerifier.KeyRange(), &claims)
  }

  private mutating func verifyAll(
    _ number: UInt64, _ tree: GuardedTree, depth: Int, _ range: PageVerifier.KeyRange,
    _ claims: inout PageClaims?
  ) throws(LMDBError) {
    let page = try page(number, tree, depth: depth, range)
    try claim(number, tree, &claims)
    if depth < tree.depth {
      for index in 0..<page.count {
        let step = TreeStep(page: page, index: index, range: range).below
        try verifyAll(step.number, tree, depth: depth + 1, step.range, &claims)
      }
      return
    }
    if page.flags.contains(.packed) { return }
    for index in 0..<page.count {
      let node = page.node(index)
      if node.flags.isEmpty { continue }
      if node.flags == .largeData {
        let run = try checkRun(node.data.word(0), size: node.dataSize, tree)
        for page in run.first..<run.first + run.count { try claim(page, tree, &claims) }
      } else if let values = try values(of: node, in: tree) {
        try verifyAll(values.record.root, values, depth: 1, PageVerifier.KeyRange(), &claims)
      }
    }
  }

  @inline(__always)
  private func claim(
    _ page: UInt64, _ tree: GuardedTree, _ claims: inout PageClaims?
  ) throws(LMDBError) {
    if claims?.insert(page) == false { throw damage(tree, page, "it is used twice") }
  }

  /// Returns the tree of a key's values, or `nil` if they have none. Throws if its record isn't
  /// plausible.
  @inline(__always)
  mutating func values(
    of node: RawNode, in tree: GuardedTree
  ) throws(LMDBError) -> GuardedTree? {
    node.flags == [.values, .tree] ? try checkedValues(of: node, in: tree) : nil
  }

  @inline(never)
  private mutating func checkedValues(
    of node: RawNode, in tree: GuardedTree
  ) throws(LMDBError) -> GuardedTree? {
    try checked(GuardedTree(valuesOf: tree, node))
  }
}
