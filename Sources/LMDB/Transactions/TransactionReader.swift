internal import CLMDB

/// The reading part of a transaction as a small copyable value, for functions that serve readers
/// and the writer alike.
///
/// It owns nothing: use it only while its transaction is alive. Returned bytes are valid until the
/// transaction ends or, in a write transaction, until the next change.
@usableFromInline
package struct TransactionReader {
  let slot: SlotReference

  @inline(__always)
  var transaction: OpaquePointer? { slot.pointer.pointee.transaction }

  /// The number of the transaction whose commit this sees or, for a writer, of its own transaction.
  package var id: UInt64 { UInt64(mdb_txn_id(transaction)) }

  /// Returns the value of `key`, or the first of several, or `nil` if the key is missing.
  @usableFromInline
  package func get(
    _ database: Database, key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    if database.flags.ordersByBytes, !key.isEmpty, let tree = tree(of: database) {
      switch tree.value(of: MappedBytes(key)) {
      case .value(let value): return value
      case .missing: return nil
      case .unknown: break
      }
    }
    return try ask(database, key)
  }

  /// Returns the value of an integer key, or `nil` if it is missing.
  package func get(_ database: Database, key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
    if database.flags.contains(.integerKey), let tree = tree(of: database) {
      switch tree.value(of: MappedNumber(key)) {
      case .value(let value): return value
      case .missing: return nil
      case .unknown: break
      }
    }
    return try key.withBytes { (key) throws(LMDBError) in try ask(database, key) }
  }

  /// Looks up a key with the engine.
  private func ask(
    _ database: Database, _ key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    if let pageGuard = slot.pointer.pointee.pageGuard {
      try pageGuard.pointee.verifySearch(database, key)
    }
    return try askVerified(database, key)
  }

  /// Looks up a key with the engine. The pages that the search accesses must be verified.
  func askVerified(
    _ database: Database, _ key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    var key = MDB_val(key)
    var value = MDB_val()
    let code = mdb_get(transaction, database.handle, &key, &value)
    if code == MDB_SUCCESS {
      let value = UnsafeRawBufferPointer(value)
      if let pageGuard = slot.pointer.pointee.pageGuard {
        try pageGuard.pointee.verifyValue(value, of: database)
      }
      return value
    }
    if code == MDB_NOTFOUND { return nil }
    throw LMDBError(code: code)
  }

  /// Verifies all pages of a database, so that later operations on it in this state have nothing to
  /// verify.
  ///
  /// - Parameter changes: The number of upcoming changes, if verification only pays off for many,
  ///   or `nil` to verify in any case.
  /// - Complexity: Linear in the number of pages.
  package func verifyPages(
    of database: Database, forChanges changes: Int? = nil
  ) throws(LMDBError) {
    try slot.pointer.pointee.pageGuard?.pointee.verifyAll(of: database, forChanges: changes)
  }

  /// Verifies the record of a database.
  private func verifyRecord(of database: Database) throws(LMDBError) {
    if let pageGuard = slot.pointer.pointee.pageGuard {
      _ = try pageGuard.pointee.tree(of: database)
    }
  }

  /// Returns the tree of a database if it can be searched without the engine.
  @inline(__always)
  func tree(of database: Database, isForScan: Bool = false) -> MappedTree? {
    // Searching here needs no prior verification of pages.
    let isWorthwhile = isForScan || slot.pointer.pointee.pageGuard != nil
    return slot.pointer.pointee.trees.tree(of: database, in: transaction, isForScan: isWorthwhile)
  }

  /// Returns a cursor over the database without a current entry. It must not outlive the
  /// transaction.
  package func cursor(_ database: Database) throws(LMDBError) -> Cursor {
    try Cursor(slot: slot, database: database)
  }

  /// Returns the number of entries of a database, counting each duplicate, without a scan.
  package func entryCount(_ database: Database) throws(LMDBError) -> Int {
    try verifyRecord(of: database)
    var statistics = MDB_stat()
    try check(mdb_stat(transaction, database.handle, &statistics))
    return statistics.ms_entries
  }

  /// Returns the statistics of the database's tree.
  package func statistics(_ database: Database) throws(LMDBError) -> DatabaseStatistics {
    try verifyRecord(of: database)
    var statistics = MDB_stat()
    try check(mdb_stat(transaction, database.handle, &statistics))
    return DatabaseStatistics(
      pageSize: Int(statistics.ms_psize), depth: Int(statistics.ms_depth),
      branchPages: statistics.ms_branch_pages, leafPages: statistics.ms_leaf_pages,
      overflowPages: statistics.ms_overflow_pages, entries: statistics.ms_entries)
  }
}

extension MDB_val {
  /// Wraps bytes that LMDB reads during one call.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(
      mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}

extension UnsafeRawBufferPointer {
  /// Wraps bytes that LMDB returned.
  @inline(__always)
  init(_ value: MDB_val) {
    self.init(start: value.mv_data, count: value.mv_size)
  }
}
