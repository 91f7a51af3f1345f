/// A tree whose pages are verified before the engine uses them.
///
/// It is copied at every step of a descent, so it contains no references.
struct GuardedTree {
  let handle: UInt32
  let kind: TreeTraversal.Kind
  let record: TreeRecord
  /// The flags of the database. For the tree of a key's values, they determine the kind of values.
  private let databaseFlags: DatabaseFlags
  let order: KeyOrder
  let hasSeveralValues: Bool
  /// A seed that distinguishes the marks of the tree's pages from those of other trees.
  let seed: UInt64
  /// Whether the paths to the last entry and its last value are verified.
  var isEndVerified = false

  var depth: Int { record.depth }

  /// Creates the tree of a database, or the name tree.
  init(_ kind: TreeTraversal.Kind, of handle: UInt32, _ record: TreeRecord) {
    self.handle = handle
    self.kind = kind
    self.record = record
    databaseFlags = record.flags
    order = KeyOrder(keysOf: record.flags)
    hasSeveralValues = kind == .named && record.flags.contains(.duplicates)
    seed = PageMarks.mix(0, UInt64(handle) &+ 1)
  }

  /// Creates the tree of the values of one of `owner`'s keys.
  init(valuesOf owner: GuardedTree, _ node: RawNode) {
    handle = owner.handle
    kind = .values
    record = TreeRecord(node.data)
    databaseFlags = owner.databaseFlags
    order = KeyOrder(valuesOf: owner.databaseFlags)
    hasSeveralValues = false
    seed = PageMarks.mix(~owner.seed, node.key)
  }

  /// Returns the initial state for verifying one of its pages.
  func traversal(_ name: String) -> TreeTraversal {
    guard kind == .values else { return TreeTraversal(kind, name, record, rootLevel: 0) }
    let owner = TreeTraversal(.named, name, TreeRecord(flags: databaseFlags, pad: 0), rootLevel: 0)
    return TreeTraversal(valuesOf: owner, record, rootLevel: 0)
  }

  /// Returns the index of the node of a branch page that leads to a goal.
  @inline(__always)
  func branchIndex(of goal: TreeGoal, in page: RawPage) -> Int {
    switch goal {
    case .first: 0
    case .last: page.count - 1
    case .key(let key):
      // The first key of a branch page represents everything below the second one.
      partitioningIndex(of: page, from: 1, key) { $0 > 0 } - 1
    }
  }

  /// Returns the index of the first node of a leaf at or after a goal, or the number of nodes if
  /// there isn't one.
  func leafIndex(of goal: TreeGoal, in page: RawPage) -> Int {
    switch goal {
    case .first: 0
    case .last: page.count - 1
    case .key(let key): partitioningIndex(of: page, from: 0, key) { $0 >= 0 }
    }
  }

  /// Finds the index of the first node whose key satisfies a comparison that also holds for all
  /// later nodes, by binary search.
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

  /// Returns whether a goal is in the key range of a page.
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

/// The goal of a descent in a tree.
enum TreeGoal {
  case first
  case last
  case key(UnsafeRawBufferPointer)
}

/// A leaf that is verified in a state, with further verified pages.
struct VerifiedLeaf {
  /// The pages that are verified in addition to the path to the leaf.
  struct Reach: OptionSet {
    let rawValue: UInt8

    /// The pages that a step to another key or value accesses.
    static let surroundings = Reach(rawValue: 1)
    /// The pages that a deletion accesses.
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
  /// The index of the node that the path follows or, in a leaf, of the one that was searched for.
  var index: Int
  /// The key range of the page.
  let range: PageVerifier.KeyRange

  /// The number of the page below and its key range.
  var below: (number: UInt64, range: PageVerifier.KeyRange) {
    (page.node(index).child, page.range(of: index, in: range))
  }
}
