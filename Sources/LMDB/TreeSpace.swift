/// The pages of a database, those included that hold the values of a key with many of them.
package struct TreeSpace: Sendable, Hashable {
  package let pageSize: Int
  /// Entries; each duplicate counts.
  package let entries: Int
  package let pages: Int
  /// The share of the leaf pages that holds something, from 0 to 1; nil where none exist, or
  /// where they have a form that cannot be looked at.
  package let fill: Double?
  /// Whether ``pages`` and ``fill`` follow from a part of the leaf pages.
  package let isEstimated: Bool

  package var bytes: Int { pages * pageSize }
}

extension TransactionReader {
  /// Returns the pages of a database.
  ///
  /// LMDB counts those of a tree, but not those of the trees in it that hold the values of single
  /// keys: leaf pages tell of them. Up to ``LeafSample/limit`` leaf pages are looked at, all of a
  /// small database and of a large one some that are spread evenly.
  package func space(_ database: Database) throws(LMDBError) -> TreeSpace {
    let statistics = try statistics(database)
    let own = statistics.branchPages + statistics.leafPages + statistics.overflowPages
    let tree = transaction.flatMap { MappedTree(database, in: $0) }
    guard statistics.leafPages > 0, let tree,
      let sample = LeafSample(of: tree, leafPages: statistics.leafPages)
    else {
      return TreeSpace(
        pageSize: statistics.pageSize, entries: statistics.entries, pages: own, fill: nil,
        isEstimated: statistics.leafPages > 0 && database.flags.contains(.duplicates))
    }
    let inner = sample.innerPages.isNaN ? 0 : sample.innerPages * Double(statistics.leafPages)
    return TreeSpace(
      pageSize: statistics.pageSize, entries: statistics.entries,
      pages: own + Int(min(inner.rounded(), Double(tree.pageCount))), fill: sample.fill,
      isEstimated: !sample.isComplete)
  }
}
