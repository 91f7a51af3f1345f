/// What has to be verified before the engine searches or steps.
extension PageGuard {
  /// Verifies what the search for a key and its first value touches.
  mutating func verifySearch(
    _ database: Database, _ key: UnsafeRawBufferPointer
  ) throws(LMDBError) {
    if let tree = try tree(of: database) { try verifySearch(tree, .key(key)) }
  }

  /// Checks the value that such a search has found.
  mutating func verifyValue(
    _ value: UnsafeRawBufferPointer, of database: Database
  ) throws(LMDBError) {
    guard value.count > state.pageSize / 2, let tree = try tree(of: database) else { return }
    try verifyLargeValue(value, of: tree)
  }

  /// Verifies what a search touches: the path to a key, the next leaf where the key is behind all
  /// of its own, and the path to one of the values of the entry that is found.
  mutating func verifySearch(
    _ tree: GuardedTree, _ goal: TreeGoal, values: TreeGoal = .first
  ) throws(LMDBError) {
    let goal = try sought(goal, in: tree)
    let known = verifiedLeaf(tree, goal)
    if let known, known.pointee.reach.contains(.surroundings) {
      guard tree.hasSeveralValues, case .key = values else { return }
    }
    var leaf = try locate(goal, in: tree, known)
    if leaf.index == leaf.page.count {
      try descend(tree, to: goal, path)
      guard let next = try step(tree, forward: true, path) else { return }
      leaf = next
    }
    try verifyValues(of: leaf, tree, values)
  }

  /// The leaf of a goal, on a verified path, with the first node that is at the goal or behind it.
  @inline(__always)
  mutating func locate(_ goal: TreeGoal, in tree: GuardedTree) throws(LMDBError) -> TreeStep {
    try locate(goal, in: tree, verifiedLeaf(tree, goal))
  }

  /// The same, where it has been looked whether one of the last leaves is the one.
  @inline(__always)
  private mutating func locate(
    _ goal: TreeGoal, in tree: GuardedTree, _ known: UnsafeMutablePointer<VerifiedLeaf>?
  ) throws(LMDBError) -> TreeStep {
    if let known {
      var leaf = known.pointee.leaf
      leaf.index = tree.leafIndex(of: goal, in: leaf.page)
      return leaf
    }
    let leaf = try descend(tree, to: goal, path)
    remember(leaf, of: tree, [])
    return leaf
  }

  /// Verifies the path to one of the values of an entry, where they have a tree of their own.
  private mutating func verifyValues(
    of leaf: TreeStep, _ tree: GuardedTree, _ goal: TreeGoal
  ) throws(LMDBError) {
    guard tree.hasSeveralValues,
      let values = try values(of: leaf.page.node(leaf.index), in: tree)
    else { return }
    let goal = try sought(goal, in: values)
    let found = try locate(goal, in: values)
    guard found.index == found.page.count else { return }
    try descend(values, to: goal, valuePath)
    _ = try step(values, forward: true, valuePath)
  }

  /// Verifies everything that a step from an entry of a leaf to another key touches: the leaves at
  /// both sides, and the ends of the values that a step can come to.
  mutating func verifyAround(_ tree: GuardedTree, _ goal: TreeGoal) throws(LMDBError) -> TreeStep {
    let goal = try sought(goal, in: tree)
    if let known = verifiedLeaf(tree, goal), known.pointee.reach.contains(.surroundings) {
      return known.pointee.leaf
    }
    let leaf = try descend(tree, to: goal, path)
    if let next = try step(tree, forward: true, path) {
      try verifyValues(of: next, tree, .first)
    }
    try descend(tree, to: goal, path)
    if let previous = try step(tree, forward: false, path) {
      try verifyValues(of: previous, tree, .last)
    }
    if tree.hasSeveralValues {
      try verifyEdges(of: leaf, tree) { (pages) throws(LMDBError) in
        for index in 0..<leaf.page.count {
          guard let values = try pages.values(of: leaf.page.node(index), in: tree) else { continue }
          try pages.descend(values, to: .first, pages.valuePath)
          try pages.descend(values, to: .last, pages.valuePath)
        }
      }
    }
    remember(leaf, of: tree, .surroundings)
    return leaf
  }

  /// Verifies everything that a step from a value of a key to another one of its values touches.
  /// Gives the leaf of the values; nil where they have no tree of their own.
  mutating func verifyValuesAround(
    _ tree: GuardedTree, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(LMDBError) -> TreeStep? {
    guard tree.hasSeveralValues else { return nil }
    let leaf = try locate(try sought(.key(key), in: tree), in: tree)
    guard leaf.index < leaf.page.count,
      let values = try values(of: leaf.page.node(leaf.index), in: tree)
    else { return nil }
    let goal = try sought(.key(value), in: values)
    if let known = verifiedLeaf(values, goal), known.pointee.reach.contains(.surroundings) {
      return known.pointee.leaf
    }
    let found = try descend(values, to: goal, valuePath)
    _ = try step(values, forward: true, valuePath)
    try descend(values, to: goal, valuePath)
    _ = try step(values, forward: false, valuePath)
    remember(found, of: values, .surroundings)
    return found
  }

  /// Checks a value that the engine has found outside of a leaf of the map.
  mutating func verifyLargeValue(
    _ value: UnsafeRawBufferPointer, of tree: GuardedTree
  ) throws(LMDBError) {
    guard let map, let start = value.baseAddress else { return }
    let offset = start - map - RawPage.headerSize
    // What the transaction has written itself lies elsewhere.
    guard offset >= 0, let number = UInt64(exactly: offset / state.pageSize),
      number <= state.lastPage
    else { return }
    try checkRun(number, size: value.count, tree)
  }

  /// A goal that can be compared with the keys of a tree.
  func sought(_ goal: TreeGoal, in tree: GuardedTree) throws(LMDBError) -> TreeGoal {
    if tree.order == .integers, case .key(let key) = goal, key.count != 8, key.count != 4 {
      throw .badValueSize
    }
    return goal
  }
}
