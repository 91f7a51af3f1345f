internal import CArborBits
package import LMDB

/// A snapshot: the state of the file as of one commit, unaffected by later ones.
///
/// It serves one thread at a time and may move between threads. While it lives, pages that later
/// commits free are not reused and the file grows: end it soon.
package struct EngineSnapshot: ~Copyable {
  package let base: ReadTransaction

  init(_ base: consuming ReadTransaction) { self.base = base }

  package var id: UInt64 { base.id }
  package var reader: EngineReader { EngineReader(base.reader) }
}

/// The reading half of a transaction as a small copyable value, for functions that serve readers
/// and the writer alike.
///
/// It owns nothing: use it only while its transaction lives. Bytes that it returns lie in the map
/// and are valid until the transaction ends, in a writing one until the next change.
package struct EngineReader {
  package let base: TransactionReader

  @inline(__always)
  package init(_ base: TransactionReader) { self.base = base }

  /// The transaction whose commit this sees; for a writer the one it is going to be.
  package var id: UInt64 { base.id }

  /// The value of `key`, of several the first; nil where the key is missing.
  @inline(__always)
  package func get(
    _ database: EngineDatabase, key: UnsafeRawBufferPointer
  ) throws(EngineError) -> UnsafeRawBufferPointer? {
    try base.get(database.base, key: key)
  }

  @inline(__always)
  package func get(
    _ database: EngineDatabase, key: UInt64
  ) throws(EngineError) -> UnsafeRawBufferPointer? {
    try base.get(database.base, key: key)
  }

  @inline(__always)
  package func get(
    _ database: EngineDatabase, key: [UInt8]
  ) throws(EngineError) -> UnsafeRawBufferPointer? {
    try key.withBytes { (key) throws(EngineError) in try base.get(database.base, key: key) }
  }

  /// A cursor over a database, on no entry yet.
  @inline(__always)
  package func cursor(_ database: EngineDatabase) throws(EngineError) -> EngineCursor {
    try EngineCursor(base.cursor(database.base))
  }

  /// A scan over a database with integer keys, from the first entry on whose key is `start` or
  /// above. It must not outlive the transaction.
  @inline(__always)
  package func scan(_ database: EngineDatabase, from start: UInt64) -> EngineScan {
    EngineScan(base: base.scan(database.base, from: start))
  }

  /// The entries of a database, each value of a key counted; costs nothing.
  @inline(__always)
  package func entryCount(_ database: EngineDatabase) throws(EngineError) -> Int {
    try base.entryCount(database.base)
  }

  /// The shape of a database's tree; costs nothing.
  package func statistics(
    _ database: EngineDatabase
  ) throws(EngineError) -> (entries: Int, leafPages: Int, overflowPages: Int, bytes: Int) {
    let found = try base.statistics(database.base)
    let pages = found.branchPages + found.leafPages + found.overflowPages
    return (found.entries, found.leafPages, found.overflowPages, pages * found.pageSize)
  }

  /// The space that a database fills. Looks at up to 256 leaf pages.
  package func space(_ database: EngineDatabase) throws(EngineError) -> (
    entries: Int, pages: Int, bytes: Int, fill: Double?, isEstimated: Bool
  ) {
    let found = try base.space(database.base)
    return (found.entries, found.pages, found.bytes, found.fill, found.isEstimated)
  }

  /// Verifies all pages of a database, so that what is done with it afterwards has none to verify.
  ///
  /// - Parameter changes: How many changes are to come, where that is only worth while for many.
  package func verifyPages(
    of database: EngineDatabase, forChanges changes: Int? = nil
  ) throws(EngineError) {
    try base.verifyPages(of: database.base, forChanges: changes)
  }

  /// Computes the digest of a database from its entries; nil where `visit` has ended it.
  package func digest(
    of database: EngineDatabase, _ visit: (EngineEntry) throws(EngineError) -> Bool
  ) throws(EngineError) -> UInt64? {
    try base.digest(of: database.base) { (entry) throws(EngineError) in
      try visit(EngineEntry(base: entry))
    }
  }

  /// The bytes that a store keeps of itself under a key.
  ///
  /// - Throws: `corrupted` where there is no such entry.
  func entry(_ key: String, in arbor: EngineDatabase) throws(StoreError) -> UnsafeRawBufferPointer {
    guard let bytes = try entryIfPresent(key, in: arbor) else {
      throw .corrupted(what: "The entry \(key) is missing.")
    }
    return bytes
  }

  /// The same of an entry that need not exist; nil where it does not.
  func entryIfPresent(
    _ key: String, in arbor: EngineDatabase
  ) throws(StoreError) -> UnsafeRawBufferPointer? {
    try storing(get(arbor, key: Array(key.utf8)))
  }
}

/// An integer key, and where its value lies in the map: the form in which checksums of many records
/// are compared at once. Values are aligned to 2 bytes only.
package typealias EngineRecord = NumberedEntry

extension EngineRecord {
  var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}

/// A scan over a database with integer keys, many entries at a time, which a reader finds in the
/// map without asking the engine for each.
package struct EngineScan: ~Copyable {
  package var base: EntryScan

  /// The next entries, as many as there is room for; fewer at the end.
  ///
  /// - Parameter entries: Uninitialised room; the first ones are initialised.
  @inline(__always)
  package mutating func next(
    into entries: UnsafeMutableBufferPointer<EngineRecord>
  ) throws(EngineError) -> Int {
    try base.next(into: entries)
  }
}
