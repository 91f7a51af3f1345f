internal import CLMDB

/// The reading half of a transaction as a small copyable value, for functions that serve readers
/// and the writer alike.
///
/// It owns nothing: use it only while its transaction lives. Bytes that it returns are valid until
/// the transaction ends, in a writing one until the next change.
package struct TransactionReader {
  let slot: SlotReference

  @inline(__always)
  var transaction: OpaquePointer? { slot.pointer.pointee.transaction }

  /// The transaction whose commit this sees; for a writer the one it is going to be.
  package var id: UInt64 { UInt64(mdb_txn_id(transaction)) }

  /// The value of `key`, of several the first; nil where the key is missing.
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

  /// The value of an integer key; nil where it is missing.
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

  /// The engine's answer.
  private func ask(
    _ database: Database, _ key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    if let pageGuard = slot.pointer.pointee.pageGuard {
      try pageGuard.pointee.verifySearch(database, key)
    }
    return try askVerified(database, key)
  }

  /// The engine's answer, where the pages that a search for the key touches are verified.
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

  /// Verifies all pages of a database, which takes time in proportion to them, so that what is done
  /// with it in this state afterwards has nothing to verify.
  ///
  /// - Parameter changes: How many changes are to come, where that is only worth while for many;
  ///   nil for any.
  package func verifyPages(
    of database: Database, forChanges changes: Int? = nil
  ) throws(LMDBError) {
    try slot.pointer.pointee.pageGuard?.pointee.verifyAll(of: database, forChanges: changes)
  }

  /// Verifies what the file says about a database.
  private func verifyRecord(of database: Database) throws(LMDBError) {
    if let pageGuard = slot.pointer.pointee.pageGuard {
      _ = try pageGuard.pointee.tree(of: database)
    }
  }

  /// The tree of a database, where it can be searched without the engine.
  @inline(__always)
  func tree(of database: Database, isForScan: Bool = false) -> MappedTree? {
    // What is searched here needs no page to be verified before.
    let isWorthwhile = isForScan || slot.pointer.pointee.pageGuard != nil
    return slot.pointer.pointee.trees.tree(of: database, in: transaction, isForScan: isWorthwhile)
  }

  /// A cursor over the database, on no entry yet. It must not outlive the transaction.
  package func cursor(_ database: Database) throws(LMDBError) -> Cursor {
    try Cursor(slot: slot, database: database)
  }

  /// The entries of a database, each duplicate counted; costs nothing.
  package func entryCount(_ database: Database) throws(LMDBError) -> Int {
    try verifyRecord(of: database)
    var statistics = MDB_stat()
    try check(mdb_stat(transaction, database.handle, &statistics))
    return statistics.ms_entries
  }

  /// The shape of the database's tree.
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
  /// Bytes that LMDB reads during one call.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(
      mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}

extension UnsafeRawBufferPointer {
  /// Bytes that LMDB returned.
  @inline(__always)
  init(_ value: MDB_val) {
    self.init(start: value.mv_data, count: value.mv_size)
  }
}
