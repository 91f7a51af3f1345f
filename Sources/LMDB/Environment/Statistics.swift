/// The shape of one database's tree, as of a transaction.
package struct DatabaseStatistics: Sendable, Hashable {
  /// Bytes of a page.
  package let pageSize: Int
  /// Levels of the tree; 0 when empty.
  package let depth: Int
  package let branchPages: Int
  package let leafPages: Int
  package let overflowPages: Int
  /// Entries; each duplicate counts.
  package let entries: Int

  /// Bytes of the tree's pages.
  package var bytes: Int { (branchPages + leafPages + overflowPages) * pageSize }
}

/// The state of an environment's file, as of the last commit.
package struct EnvironmentInfo: Sendable, Hashable {
  /// Bytes of address space that the file may grow into.
  package let mapSize: Int
  package let pageSize: Int
  /// The highest page number in use or free.
  package let lastPage: Int
  package let lastTransactionID: UInt64
  package let maximumReaders: Int
  /// Reader slots that were ever used and not given back.
  package let readers: Int
  package let maximumKeySize: Int
}

/// What the pages of a file are for, as of a snapshot.
package struct PageUse: Sendable, Hashable {
  /// Bytes of the file.
  package let fileSize: Int
  package let pageSize: Int
  /// Pages of the file, used and free.
  package let all: Int
  /// Pages that later commits have to spare before the file grows.
  package let free: Int
  /// Pages of the engine's list of free pages, which are used.
  package let list: Int
  /// Levels of the tree of the databases' names.
  package let depth: Int

  package var used: Int { max(0, all - free) }

  /// The used pages without the two root pages and the list of free pages.
  package var pagesOfDatabases: Int { max(0, used - list - 2) }

  /// The pages that a compacted copy would have: the two root pages and the databases, and what one
  /// commit behind it adds, a way down the tree of names and a list of the pages it replaces.
  package var compacted: Int { min(all, max(0, used - list) + depth + 1) }

  /// The bytes that a compacted copy would save.
  package var reclaimable: Int { max(0, fileSize - compacted * pageSize) }
}

/// One taken slot in the file's table of readers.
package struct ReaderInfo: Sendable, Hashable {
  package let processID: Int32
  /// The snapshot it holds; nil while idle.
  package let transactionID: UInt64?
}
