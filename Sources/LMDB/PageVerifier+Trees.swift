/// Trees: their branches, their depth, and the keys that separate their pages.
extension PageVerifier {
  /// The keys that a part of a tree may hold: from the lower one on, and before the upper one.
  struct KeyRange {
    var lower: UnsafeRawBufferPointer?
    var upper: UnsafeRawBufferPointer?
  }

  /// Verifies a tree from its root on.
  mutating func visit(_ tree: inout TreeWalk) throws(LMDBError) {
    if let what = tree.recordComplaint { throw damage(tree, nil, what) }
    if !tree.record.isEmpty {
      try visit(tree.record.root, &tree, depth: 1, KeyRange())
    }
    if let what = tree.countComplaint { throw damage(tree, nil, what) }
  }

  /// Verifies a page and what is below it.
  private mutating func visit(
    _ number: UInt64, _ tree: inout TreeWalk, depth: Int, _ range: KeyRange
  ) throws(LMDBError) {
    guard depth <= tree.record.depth else {
      throw damage(tree, number, "the tree is deeper than it says")
    }
    let level = tree.rootLevel + depth - 1
    let page = try fetch(number, tree, level: level)
    switch page.flags {
    case .leaf, [.leaf, .packed]:
      guard depth == tree.record.depth else {
        throw damage(tree, number, "it is a leaf on level \(depth) of \(tree.record.depth)")
      }
      tree.leafPages += 1
      try visitLeaf(page, number, &tree, level: level, range)
    case .branch:
      tree.branchPages += 1
      try visitBranch(page, number, &tree, depth: depth, range)
    default:
      throw damage(tree, number, "it is of an unknown kind")
    }
  }

  private mutating func visitBranch(
    _ page: RawPage, _ number: UInt64, _ tree: inout TreeWalk, depth: Int, _ range: KeyRange
  ) throws(LMDBError) {
    try checkNodes(page, number, tree, isLeaf: false)
    let count = page.count
    guard count >= 2 else { throw damage(tree, number, "it is a branch with one page below it") }
    // The first key stands for everything below the second one.
    var last = range.lower
    for index in 1..<count {
      let key = page.node(index).key
      if let what = tree.sizeComplaint(key) { throw damage(tree, number, what) }
      if let last, tree.order.compare(last, key) >= 0 {
        throw damage(tree, number, "its separating keys do not ascend")
      }
      last = key
    }
    if let upper = range.upper, let last, tree.order.compare(last, upper) >= 0 {
      throw damage(tree, number, "a separating key is above those of the page's parent")
    }
    for index in 0..<count {
      let below = KeyRange(
        lower: index == 0 ? range.lower : page.node(index).key,
        upper: index + 1 == count ? range.upper : page.node(index + 1).key)
      try visit(page.node(index).child, &tree, depth: depth + 1, below)
    }
  }

  /// Everything about the nodes of a page that must hold before one of them is read: they are
  /// inside the page and fill it.
  mutating func checkNodes(
    _ page: RawPage, _ number: UInt64, _ tree: TreeWalk, isLeaf: Bool
  ) throws(LMDBError) {
    if let what = buffers.nodeComplaint(page, isLeaf: isLeaf) { throw damage(tree, number, what) }
  }
}
