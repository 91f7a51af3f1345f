/// The average contents of a tree's leaf pages, or of an evenly distributed sample of them.
struct LeafSample {
  /// The maximum number of leaf pages to examine.
  private let limit: Int
  /// Whether every leaf was examined.
  let isComplete: Bool
  private var leaves = 0.0
  private var allInnerPages = 0.0
  private var usedBytes = 0.0
  private var allBytes = 0.0
  /// The number of pages that may still be examined, because a damaged tree may contain cycles.
  private var budget: Int

  /// The average number of pages, per leaf, of the nested trees that contain the values of the
  /// leaf's keys.
  var innerPages: Double { allInnerPages / leaves }
  /// The used fraction of the leaves' bytes.
  var fill: Double { usedBytes / allBytes }

  /// Examines a tree. Returns `nil` if one of its pages is invalid.
  init?(of tree: MappedTree, leafPages: Int, limit: Int) {
    self.limit = limit
    isComplete = leafPages <= limit
    budget = (limit + 1) * TreeTraversal.maximumDepth
    guard visit(tree, tree.root, from: 0, to: 1, level: 0), leaves > 0 else { return nil }
  }

  /// Examines the part of the tree below a page, given as a fraction of the whole, from 0 to 1. If
  /// not every leaf is examined, those at the midpoints of equal parts are. Returns `false` if a
  /// page is invalid.
  private mutating func visit(
    _ tree: MappedTree, _ number: UInt64, from lower: Double, to upper: Double, level: Int
  ) -> Bool {
    let points = isComplete ? 1 : points(below: upper) - points(below: lower)
    guard points > 0 else { return true }
    budget -= 1
    guard budget > 0, level < TreeTraversal.maximumDepth, let page = MappedPage(tree, number) else {
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

  /// Returns the number of midpoints of ``limit`` equal parts below a fraction of the whole.
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
      // Fixed-size values are packed. The fill of pages with other values is not examined.
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
  /// Returns the flags of a leaf's node, or `nil` if it exceeds the page.
  fileprivate func flags(_ index: Int) -> NodeFlags? {
    let node = bytes.node(index)
    return node.offset + RawPage.nodeHeaderSize <= bytes.size ? node.flags : nil
  }

  /// Returns the record of the tree in a leaf's node, or `nil` if it exceeds the page.
  fileprivate func record(_ index: Int) -> TreeRecord? {
    let node = bytes.node(index)
    guard node.offset + RawPage.nodeHeaderSize <= bytes.size,
      node.dataOffset + TreeRecord.size <= bytes.size
    else { return nil }
    return TreeRecord(bytes, at: node.dataOffset)
  }
}

/// The pages of a database, including those with the values of keys that have many of them.
package struct TreeSpace: Sendable, Hashable {
  package let pageSize: Int
  /// The number of entries. Each duplicate counts.
  package let entries: Int
  package private(set) var pages: Int
  /// The exact number of pages of the database's own tree, without nested trees.
  package let ownPages: Int
  /// The used fraction of the leaf pages, from 0 to 1, or `nil` if there are none or their format
  /// cannot be examined.
  package let fill: Double?
  /// Whether ``fill`` and, in a database with duplicates, ``pages`` are estimates.
  package let isEstimated: Bool

  package var bytes: Int { pages * pageSize }

  /// Returns a copy with a fraction of the estimated pages.
  fileprivate func scaled(by share: Double) -> TreeSpace {
    var scaled = self
    scaled.pages = ownPages + Int(Double(pages - ownPages) * share)
    return scaled
  }
}

extension TransactionReader {
  /// The maximum number of leaf pages to examine for estimating how full they are.
  private static var maximumSampledPages: Int { 256 }
  /// The maximum number of leaf pages to examine for counting the pages of nested trees. The sizes
  /// of these trees can differ by orders of magnitude, as with the words in indexed text, so a
  /// small sample would be inaccurate.
  private static var maximumCountedPages: Int { 4096 }

  /// Returns the space used by several databases in a file. Estimates are limited so that their
  /// total does not exceed the available pages.
  ///
  /// - Parameter used: The number of pages of the file that belong to databases.
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
  /// LMDB counts the pages of a tree, but not those of nested trees with the values of single keys,
  /// which are recorded in leaf pages. Up to 4096 leaf pages are examined: all of a small database,
  /// or an evenly distributed sample of a large one. Up to 256 are examined if keys have a single
  /// value.
  package func space(_ database: Database) throws(LMDBError) -> TreeSpace {
    let statistics = try statistics(database)
    let own = statistics.branchPages + statistics.leafPages + statistics.overflowPages
    let tree = transaction.flatMap { MappedTree(database, in: $0) }
    guard statistics.leafPages > 0, let tree,
      let sample = LeafSample(
        of: tree, leafPages: statistics.leafPages,
        limit: database.flags.contains(.duplicates)
          ? Self.maximumCountedPages : Self.maximumSampledPages)
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
