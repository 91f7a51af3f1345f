internal import CLMDB

/// A scan along the leaves of a ``MappedTree`` with integer keys.
struct MappedScan {
  /// The reason why a scan has returned no more entries.
  enum End {
    /// The buffer is full, or there are no more entries.
    case roomOrEntries
    /// The next entry can only be read by the engine.
    case unreadable
  }

  private let tree: MappedTree
  /// The path from the root to the leaf, each branch page with the index of the node that the path
  /// follows.
  private var branches: [(page: MappedPage, nodeIndex: Int)] = []
  private var leaf: MappedPage
  /// The index of the next node of the leaf.
  private var nodeIndex: Int

  /// Begins a scan at the first entry whose key is not less than `start`. Returns `nil` if the
  /// engine has to be used.
  init?(_ tree: MappedTree, from start: UInt64) {
    self.tree = tree
    var sought = MappedNumber(start)
    guard var page = MappedPage(tree, tree.root) else { return nil }
    while !page.isLeaf {
      guard branches.count < TreeTraversal.maximumDepth, let nodeIndex = sought.branch(in: page),
        let number = page.child(nodeIndex), let below = MappedPage(tree, number)
      else { return nil }
      branches.append((page, nodeIndex))
      page = below
    }
    leaf = page
    guard let nodeIndex = sought.firstNotBelow(in: page) else { return nil }
    self.nodeIndex = nodeIndex
    prefetchLeaf()
  }

  /// Reads the next entries into the buffer after the first `count`, up to its capacity.
  mutating func next(
    into entries: UnsafeMutableBufferPointer<NumberedEntry>, _ count: inout Int
  ) -> End {
    while count < entries.count {
      while nodeIndex == leaf.count {
        guard let hasMore = turnPage() else { return .unreadable }
        if !hasMore { return .roomOrEntries }
      }
      let end = min(leaf.count, nodeIndex &+ entries.count &- count)
      while nodeIndex < end {
        guard let entry = leaf.numberedEntry(nodeIndex, in: tree) else { return .unreadable }
        entries.initializeElement(at: count, to: entry)
        count &+= 1
        nodeIndex &+= 1
      }
    }
    return .roomOrEntries
  }

  /// Moves to the next leaf. Returns `false` if there isn't one, or `nil` if it cannot be read.
  private mutating func turnPage() -> Bool? {
    guard let level = branches.lastIndex(where: { $0.nodeIndex + 1 < $0.page.count }) else {
      return false
    }
    branches[level].nodeIndex += 1
    for level in level..<branches.count {
      let (page, nodeIndex) = branches[level]
      guard let number = page.child(nodeIndex), let below = MappedPage(tree, number),
        below.isLeaf == (level == branches.count - 1)
      else { return nil }
      if level < branches.count - 1 { branches[level + 1] = (below, 0) } else { leaf = below }
    }
    nodeIndex = 0
    prefetchLeaf()
    return true
  }

  /// Prefetches the whole leaf: entries are laid out from the end of a page to its beginning, which
  /// the processor does not predict. Prefetching the next leaf as well takes longer than it saves.
  private func prefetchLeaf() { arbor_prefetch_page(leaf.bytes.bytes.baseAddress) }
}
