/// A tree whose pages are verified before the engine uses them.
///
/// It is copied at every step of a descent, so it refers to nothing.
struct GuardedTree {
  /// The database's handle.
  let handle: UInt32
  let kind: TreeTraversal.Kind
  let record: TreeRecord
  /// The flags of the database; where this is the tree of a key's values, they say of what kind.
  private let databaseFlags: DatabaseFlags
  let order: KeyOrder
  let hasSeveralValues: Bool
  /// Tells its pages from those of other trees.
  let seed: UInt64
  /// Whether the paths to the last entry and its last value are verified.
  var isEndVerified = false

  var depth: Int { record.depth }

  /// The tree of a database, or that of their names.
  init(_ kind: TreeTraversal.Kind, of handle: UInt32, _ record: TreeRecord) {
    self.handle = handle
    self.kind = kind
    self.record = record
    databaseFlags = record.flags
    order = KeyOrder(keysOf: record.flags)
    hasSeveralValues = kind == .named && record.flags.contains(.duplicates)
    seed = PageMarks.mix(0, UInt64(handle) &+ 1)
  }

  /// The values of one of the keys of `owner`, which have a tree of their own.
  init(valuesOf owner: GuardedTree, _ node: RawNode) {
    handle = owner.handle
    kind = .values
    record = TreeRecord(node.data)
    databaseFlags = owner.databaseFlags
    order = KeyOrder(valuesOf: owner.databaseFlags)
    hasSeveralValues = false
    seed = PageMarks.mix(~owner.seed, node.key)
  }

  /// What a verification of one of its pages begins with.
  func traversal(_ name: String) -> TreeTraversal {
    guard kind == .values else { return TreeTraversal(kind, name, record, rootLevel: 0) }
    let owner = TreeTraversal(.named, name, TreeRecord(flags: databaseFlags, pad: 0), rootLevel: 0)
    return TreeTraversal(valuesOf: owner, record, rootLevel: 0)
  }

  /// The node of a branch that leads to a goal.
  @inline(__always)
  func branchIndex(of goal: TreeGoal, in page: RawPage) -> Int {
    switch goal {
    case .first: 0
    case .last: page.count - 1
    case .key(let key):
      // The first key stands for everything below the second one.
      partitioningIndex(of: page, from: 1, key) { $0 > 0 } - 1
    }
  }

  /// The first node of a leaf that is at a goal or behind it; the number of nodes where there is
  /// none.
  func leafIndex(of goal: TreeGoal, in page: RawPage) -> Int {
    switch goal {
    case .first: 0
    case .last: page.count - 1
    case .key(let key): partitioningIndex(of: page, from: 0, key) { $0 >= 0 }
    }
  }

  /// The first node of a page whose key stands to another as is asked for, which all nodes behind
  /// it do as well. A binary search.
  @inline(__always)
  private func partitioningIndex(
    of page: RawPage, from first: Int, _ key: UnsafeRawBufferPointer, _ isReached: (Int) -> Bool
  ) -> Int {
    let isPacked = page.flags.contains(.packed)
    let size = page.packedKeySize
    var (low, high) = (first, page.count)
    while low < high {
      let middle = (low &+ high) >> 1
      let found =
        isPacked ? page.part(RawPage.headerSize + middle * size, size) : page.node(middle).key
      if isReached(order.compare(found, key)) { high = middle } else { low = middle &+ 1 }
    }
    return low
  }

  /// Whether a goal lies among the keys that a page may hold.
  @inline(__always)
  func holds(_ goal: TreeGoal, _ range: PageVerifier.KeyRange) -> Bool {
    switch goal {
    case .first: return range.lower == nil
    case .last: return range.upper == nil
    case .key(let key):
      if let lower = range.lower, order.compare(key, lower) < 0 { return false }
      if let upper = range.upper, order.compare(key, upper) >= 0 { return false }
      return true
    }
  }
}

/// Where a descent in a tree goes to.
enum TreeGoal {
  case first
  case last
  case key(UnsafeRawBufferPointer)
}

/// A leaf that is verified in a state, and what else is verified of it.
struct VerifiedLeaf {
  /// What is verified besides the path to the leaf.
  struct Reach: OptionSet {
    let rawValue: UInt8

    /// What a step to another key touches, or to another value.
    static let surroundings = Reach(rawValue: 1)
    /// What a deletion touches.
    static let neighbours = Reach(rawValue: 2)
  }

  let seed: UInt64
  let state: UInt64
  let leaf: TreeStep
  let reach: Reach

  static var none: VerifiedLeaf {
    VerifiedLeaf(
      seed: 0, state: .max,
      leaf: TreeStep(
        page: RawPage(bytes: UnsafeRawBufferPointer(start: nil, count: 0)), index: 0,
        range: PageVerifier.KeyRange()), reach: [])
  }
}

/// A page on a path from the root to a leaf.
struct TreeStep {
  let page: RawPage
  /// The node that leads on; of a leaf the one that was sought.
  var index: Int
  /// The keys that the page may hold.
  let range: PageVerifier.KeyRange

  /// The page below, and the keys that it may hold.
  var below: (number: UInt64, range: PageVerifier.KeyRange) {
    (page.node(index).child, page.range(of: index, in: range))
  }
}
