/// Verifies trees: their branch pages, their depth, and the separators of their pages.
extension PageVerifier {
  /// The half-open key range of a part of a tree.
  struct KeyRange {
    var lower: UnsafeRawBufferPointer?
    var upper: UnsafeRawBufferPointer?
  }

  /// Verifies a tree from its root.
  mutating func visit(_ tree: inout TreeTraversal) throws(LMDBError) {
    if let what = tree.recordComplaint { throw damage(tree, nil, what) }
    if !tree.record.isEmpty {
      try visit(tree.record.root, &tree, depth: 1, KeyRange())
    }
    let isCounted = scope != .branches || tree.kind != .named
    if let what = isCounted ? tree.countComplaint : tree.pageComplaint {
      throw damage(tree, nil, what)
    }
  }

  private func depthDamage(_ number: UInt64, _ tree: TreeTraversal) -> LMDBError {
    damage(tree, number, "the tree is deeper than its recorded depth of \(tree.record.depth)")
  }

  /// Verifies a page and its subtree.
  private mutating func visit(
    _ number: UInt64, _ tree: inout TreeTraversal, depth: Int, _ range: KeyRange
  ) throws(LMDBError) {
    guard depth <= tree.record.depth else {
      throw depthDamage(number, tree)
    }
    if scope == .branches, tree.kind == .named, depth == tree.record.depth {
      tree.leafPages += 1
      return try claim(number, tree)
    }
    let level = tree.rootLevel + depth - 1
    let page = try fetch(number, tree, level: level)
    try inspect(page, number, &tree, depth: depth, range)
    guard page.flags == .branch else { return }
    for index in 0..<page.count {
      try visit(page.node(index).child, &tree, depth: depth + 1, page.range(of: index, in: range))
    }
  }

  /// Verifies a page of a tree and, for a leaf, the pages that its entries refer to.
  mutating func inspect(
    _ page: RawPage, _ number: UInt64, _ tree: inout TreeTraversal, depth: Int, _ range: KeyRange
  ) throws(LMDBError) {
    guard page.number == number else {
      throw damage(tree, number, "it has the page number \(page.number)")
    }
    switch page.flags {
    case .leaf, [.leaf, .packed]:
      guard depth == tree.record.depth else {
        throw damage(tree, number, "it is a leaf on level \(depth) of \(tree.record.depth)")
      }
      tree.leafPages += 1
      try visitLeaf(page, number, &tree, level: tree.rootLevel + depth - 1, range)
    case .branch:
      guard scope == .trees || depth < tree.record.depth else {
        throw depthDamage(number, tree)
      }
      tree.branchPages += 1
      try inspectBranch(page, number, &tree, range)
    default: throw damage(tree, number, "it has an unknown kind")
    }
  }

  private mutating func inspectBranch(
    _ page: RawPage, _ number: UInt64, _ tree: inout TreeTraversal, _ range: KeyRange
  ) throws(LMDBError) {
    try checkNodes(page, number, tree, isLeaf: false)
    let count = page.count
    guard count >= 2 else { throw damage(tree, number, "it is a branch page with a single child") }
    // The first key represents everything below the second one.
    var last = range.lower
    for index in 1..<count {
      let key = page.node(index).key
      if let what = tree.sizeComplaint(key) { throw damage(tree, number, what) }
      if let last, tree.order.compare(last, key) >= 0 {
        throw damage(tree, number, "its separators are not in ascending order")
      }
      last = key
    }
    if let upper = range.upper, let last, tree.order.compare(last, upper) >= 0 {
      throw damage(tree, number, "a separator is not below the page's upper separator")
    }
  }

  /// Checks that the nodes of a page are within it and fill it, which must hold before one of them
  /// is read. Returns their summary.
  @discardableResult
  mutating func checkNodes(
    _ page: RawPage, _ number: UInt64, _ tree: TreeTraversal, isLeaf: Bool
  ) throws(LMDBError) -> NodeSummary {
    var summary = NodeSummary()
    if let what = buffers.nodeComplaint(page, isLeaf: isLeaf, &summary) {
      throw damage(tree, number, what)
    }
    return summary
  }
}

extension RawPage {
  /// Returns the key range of the subtree below a branch page's node.
  @inline(__always)
  func range(of index: Int, in range: PageVerifier.KeyRange) -> PageVerifier.KeyRange {
    PageVerifier.KeyRange(
      lower: index == 0 ? range.lower : node(index).key,
      upper: index + 1 == count ? range.upper : node(index + 1).key)
  }
}
