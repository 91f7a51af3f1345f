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

/// One taken slot in the file's table of readers.
package struct ReaderInfo: Sendable, Hashable {
  package let processID: Int32
  /// The snapshot it holds; nil while idle.
  package let transactionID: UInt64?
}
