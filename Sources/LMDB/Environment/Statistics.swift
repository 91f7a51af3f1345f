/// The statistics of one database's tree, as of a transaction.
package struct DatabaseStatistics: Sendable, Hashable {
  /// The page size in bytes.
  package let pageSize: Int
  /// The number of levels of the tree, 0 if it is empty.
  package let depth: Int
  package let branchPages: Int
  package let leafPages: Int
  package let overflowPages: Int
  /// The number of entries. Each duplicate counts.
  package let entries: Int

  /// The size of the tree's pages in bytes.
  package var bytes: Int { (branchPages + leafPages + overflowPages) * pageSize }
}

/// The state of an environment's file, as of the last commit.
package struct EnvironmentInfo: Sendable, Hashable {
  /// The size of the map in bytes, up to which the file may grow.
  package let mapSize: Int
  package let pageSize: Int
  /// The highest page number, used or free.
  package let lastPage: Int
  package let lastTransactionID: UInt64
  package let maximumReaders: Int
  /// The number of reader slots that have been used and not been returned.
  package let readers: Int
  package let maximumKeySize: Int
}

/// The page use of a file, as of a snapshot.
package struct PageUse: Sendable, Hashable {
  /// The size of the file in bytes.
  package let fileSize: Int
  package let pageSize: Int
  /// The number of pages, used and free.
  package let all: Int
  /// The number of pages that later commits can reuse before the file grows.
  package let free: Int
  /// The number of pages of the engine's free list, which count as used.
  package let list: Int
  /// The depth of the name tree.
  package let depth: Int

  package var used: Int { max(0, all - free) }

  /// The number of used pages, excluding the two root pages and the free list.
  package var pagesOfDatabases: Int { max(0, used - list - 2) }

  /// The number of pages of a compacted copy: the two root pages, the databases, and the pages that
  /// one more commit adds (a path in the name tree and a list of the freed pages).
  package var compacted: Int { min(all, max(0, used - list) + depth + 1) }

  /// The number of bytes that a compacted copy would save.
  package var reclaimable: Int { max(0, fileSize - compacted * pageSize) }
}

/// An occupied slot in the file's reader table.
package struct ReaderInfo: Sendable, Hashable {
  package let processID: Int32
  /// The transaction number of its snapshot, or `nil` if the slot is idle.
  package let transactionID: UInt64?
}
