/// Verifies pages before the engine searches or steps.
extension PageGuard {
  /// Verifies the pages that a search for a key and its first value accesses.
  mutating func verifySearch(
    _ database: Database, _ key: UnsafeRawBufferPointer
  ) throws(LMDBError) {
    if let tree = try tree(of: database) { try verifySearch(tree, .key(key)) }
  }

  /// Checks the value found by a search for a key.
  mutating func verifyValue(
    _ value: UnsafeRawBufferPointer, of database: Database
  ) throws(LMDBError) {
    guard value.count > state.pageSize / 2, let tree = try tree(of: database) else { return }
    try verifyLargeValue(value, of: tree)
  }

  /// Verifies the pages that a search accesses: the path to a key, the next leaf if the key is
  /// greater than all keys of its leaf, and the path to one of the values of the found entry.
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

  /// Returns the leaf of a goal, on a verified path, with the first node at or after the goal.
  @inline(__always)
  mutating func locate(_ goal: TreeGoal, in tree: GuardedTree) throws(LMDBError) -> TreeStep {
    try locate(goal, in: tree, verifiedLeaf(tree, goal))
  }

  /// Returns the same as ``locate(_:in:)``, given the result of searching the most recent leaves.
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

  /// Verifies the path to one of the values of an entry, if they have their own tree.
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

  /// Verifies all pages that a step from an entry of a leaf to another key accesses: the adjacent
  /// leaves, and the ends of the values that a step can reach.
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

  /// Verifies all pages that a step from one value of a key to another accesses. Returns the leaf
  /// of the values, or `nil` if they have no tree of their own.
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

  /// Checks a value that the engine has found outside a leaf of the map.
  mutating func verifyLargeValue(
    _ value: UnsafeRawBufferPointer, of tree: GuardedTree
  ) throws(LMDBError) {
    guard let map, let start = value.baseAddress else { return }
    let offset = start - map - RawPage.headerSize
    // Pages written by the transaction itself are elsewhere.
    guard offset >= 0, let number = UInt64(exactly: offset / state.pageSize),
      number <= state.lastPage
    else { return }
    try checkRun(number, size: value.count, tree)
  }

  /// Returns the goal after checking that it can be compared with the keys of a tree.
  func sought(_ goal: TreeGoal, in tree: GuardedTree) throws(LMDBError) -> TreeGoal {
    if tree.order == .integers, case .key(let key) = goal, key.count != 8, key.count != 4 {
      throw .badValueSize
    }
    return goal
  }
}
