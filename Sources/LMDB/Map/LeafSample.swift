/// What the leaf pages of a tree, or some that are spread evenly over it, hold on average.
struct LeafSample {
  /// So many leaf pages are looked at.
  private let limit: Int
  /// Whether every leaf was looked at.
  let isComplete: Bool
  private var leaves = 0.0
  private var allInnerPages = 0.0
  private var usedBytes = 0.0
  private var allBytes = 0.0
  /// The number of pages that may still be read, because a damaged tree may contain cycles.
  private var budget: Int

  /// The pages, for each leaf, of the trees that hold the values of its keys.
  var innerPages: Double { allInnerPages / leaves }
  /// The share of the leaves' bytes that holds something.
  var fill: Double { usedBytes / allBytes }

  /// Looks at a tree; nil where one of its pages is not what it should be.
  init?(of tree: MappedTree, leafPages: Int, limit: Int) {
    self.limit = limit
    isComplete = leafPages <= limit
    budget = (limit + 1) * TreeTraversal.mostLevels
    guard visit(tree, tree.root, from: 0, to: 1, level: 0), leaves > 0 else { return nil }
  }

  /// Looks at the part of the tree below a page: a share of the whole, from 0 to 1. Where not every
  /// leaf is looked at, it is those at the middles of equal parts.
  private mutating func visit(
    _ tree: MappedTree, _ number: UInt64, from lower: Double, to upper: Double, level: Int
  ) -> Bool {
    let points = isComplete ? 1 : points(below: upper) - points(below: lower)
    guard points > 0 else { return true }
    budget -= 1
    guard budget > 0, level < TreeTraversal.mostLevels, let page = MappedPage(tree, number) else {
      return false
    }
    if page.isLeaf { return add(page, tree, weight: points) }
    let width = (upper - lower) / Double(page.count)
    for index in 0..<page.count {
      guard let child = page.child(index) else { return false }
      let start = lower + Double(index) * width
      let end = index == page.count - 1 ? upper : start + width
      guard visit(tree, child, from: start, to: end, level: level + 1) else { return false }
    }
    return true
  }

  /// How many middles of ``limit`` equal parts lie below a share of the whole.
  private func points(below share: Double) -> Double {
    (share * Double(limit) + 0.5).rounded(.down)
  }

  private mutating func add(_ page: MappedPage, _ tree: MappedTree, weight: Double) -> Bool {
    let size = page.bytes.size
    let room = max(0, min(page.bytes.upper, size) - page.bytes.lower)
    leaves += weight
    usedBytes += weight * Double(size - room)
    allBytes += weight * Double(size)
    for index in 0..<page.count {
      guard let flags = page.flags(index) else { return false }
      guard flags.contains(.tree) else { continue }
      guard let record = page.record(index) else { return false }
      let pages = record.branchPages &+ record.leafPages &+ record.overflowPages
      guard pages <= tree.pageCount, record.leafPages <= pages, record.entries < 1 << 48 else {
        return false
      }
      allInnerPages += weight * Double(pages)
      // Values of one size lie side by side; how full the pages of others are is not looked at.
      guard record.pad > 0 else { continue }
      let leafBytes = Double(record.leafPages) * Double(size)
      let held =
        Double(record.entries) * Double(record.pad)
        + Double(record.leafPages) * Double(RawPage.headerSize)
      usedBytes += weight * min(held, leafBytes)
      allBytes += weight * leafBytes
    }
    return true
  }
}

extension MappedPage {
  /// What a leaf's node holds; nil where it does not lie in the page.
  fileprivate func flags(_ index: Int) -> NodeFlags? {
    let node = bytes.node(index)
    return node.offset + RawPage.nodeHeaderSize <= bytes.size ? node.flags : nil
  }

  /// The tree that a leaf's node holds; nil where its record does not lie in the page.
  fileprivate func record(_ index: Int) -> TreeRecord? {
    let node = bytes.node(index)
    guard node.offset + RawPage.nodeHeaderSize <= bytes.size,
      node.dataOffset + TreeRecord.size <= bytes.size
    else { return nil }
    return TreeRecord(bytes, at: node.dataOffset)
  }
}

/// The pages of a database, those included that hold the values of a key with many of them.
package struct TreeSpace: Sendable, Hashable {
  package let pageSize: Int
  /// Entries; each duplicate counts.
  package let entries: Int
  package private(set) var pages: Int
  /// Those of the database's own tree, without the trees in it; exact.
  package let ownPages: Int
  /// The share of the leaf pages that holds something, from 0 to 1; nil where none exist, or
  /// where they have a form that cannot be looked at.
  package let fill: Double?
  /// Whether ``pages`` and ``fill`` follow from a part of the leaf pages.
  package let isEstimated: Bool

  package var bytes: Int { pages * pageSize }

  /// The same with a share of the pages that were estimated.
  fileprivate func scaled(by share: Double) -> TreeSpace {
    var scaled = self
    scaled.pages = ownPages + Int(Double(pages - ownPages) * share)
    return scaled
  }
}

extension TransactionReader {
  /// Leaf pages that are looked at to tell how full they are.
  private static var mostSampled: Int { 256 }
  /// Leaf pages that are looked at to count the pages of the trees in them: these differ by orders
  /// of magnitude, as those of the words of a text do, and a small sample is far off.
  private static var mostCounted: Int { 4096 }

  /// Returns the pages of some databases of one file. Where pages are estimated the databases have
  /// no more of them together than there are.
  ///
  /// - Parameter used: The pages of the file that are theirs.
  package func spaces(_ databases: [Database], within used: Int) throws(LMDBError) -> [TreeSpace] {
    var spaces: [TreeSpace] = []
    for database in databases { spaces.append(try space(database)) }
    let certain = spaces.reduce(0) { $0 + ($1.isEstimated ? $1.ownPages : $1.pages) }
    let estimated = spaces.reduce(0) { $0 + ($1.isEstimated ? $1.pages - $1.ownPages : 0) }
    let room = max(0, used - certain)
    guard estimated > room else { return spaces }
    return spaces.map { $0.isEstimated ? $0.scaled(by: Double(room) / Double(estimated)) : $0 }
  }

  /// Returns the pages of a database.
  ///
  /// LMDB counts those of a tree, but not those of the trees in it that hold the values of single
  /// keys: leaf pages tell of them. Up to 4096 leaf pages are looked at, all of a small database and
  /// of a large one some that are spread evenly; up to 256 of a database whose keys have one value
  /// each.
  package func space(_ database: Database) throws(LMDBError) -> TreeSpace {
    let statistics = try statistics(database)
    let own = statistics.branchPages + statistics.leafPages + statistics.overflowPages
    let tree = transaction.flatMap { MappedTree(database, in: $0) }
    guard statistics.leafPages > 0, let tree,
      let sample = LeafSample(
        of: tree, leafPages: statistics.leafPages,
        limit: database.flags.contains(.duplicates) ? Self.mostCounted : Self.mostSampled)
    else {
      return TreeSpace(
        pageSize: statistics.pageSize, entries: statistics.entries, pages: own,
        ownPages: own, fill: nil,
        isEstimated: statistics.leafPages > 0 && database.flags.contains(.duplicates))
    }
    let inner = sample.innerPages.isNaN ? 0 : sample.innerPages * Double(statistics.leafPages)
    return TreeSpace(
      pageSize: statistics.pageSize, entries: statistics.entries,
      pages: own + Int(min(inner.rounded(), Double(tree.pageCount))), ownPages: own,
      fill: sample.fill,
      isEstimated: !sample.isComplete)
  }
}
