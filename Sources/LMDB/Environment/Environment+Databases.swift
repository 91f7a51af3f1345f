internal import ArborLocks
internal import CLMDB

extension Environment {
  /// Opens a named database. Returns `nil` if it is missing and `create` is `false`.
  ///
  /// Opening a database that is already open is cheap. Transactions that began earlier cannot use a
  /// database that was opened after them.
  ///
  /// - Throws: ``LMDBError/incompatible`` if it exists with other flags; ``LMDBError/dbsFull``;
  ///   ``LMDBError/nestedWrite`` inside a write of this thread, in which the transaction opens
  ///   databases itself.
  package func openDatabase(
    _ name: String, _ flags: DatabaseFlags, create: Bool = false
  ) throws(LMDBError) -> Database? {
    if let known = databases.withLock({ $0.committed(name) }) { return try known.with(flags) }
    if create, !isReadOnly {
      return try commit { (transaction) throws(LMDBError) in
        try transaction.createDatabase(name, flags)
      }
    }
    return try openExisting(name)?.with(flags)
  }

  /// Opens several existing databases in one transaction. Missing ones are `nil`.
  ///
  /// - Throws: The same errors as ``openDatabase(_:_:create:)``.
  package func openDatabases(
    _ list: [(name: String, flags: DatabaseFlags)]
  ) throws(LMDBError) -> [Database?] {
    let known = databases.withLock { table in list.map { table.committed($0.name) } }
    guard known.contains(where: { $0 == nil }) else {
      return try zip(known, list).map { (database, wanted) throws(LMDBError) in
        try database?.with(wanted.flags)
      }
    }
    return try withOpeningTransaction { (transaction) throws(LMDBError) -> [Database?] in
      try list.map { (wanted) throws(LMDBError) in
        try openExisting(wanted.name, transaction)?.with(wanted.flags)
      }
    }
  }

  /// Opens a named database with any flags, or returns `nil` if it is missing. For tools that
  /// inspect arbitrary files.
  package func openDatabase(_ name: String) throws(LMDBError) -> Database? {
    if let known = databases.withLock({ $0.committed(name) }) { return known }
    return try openExisting(name)
  }

  /// Returns the unnamed database, which contains the names of the others and, in files of other
  /// programs, possibly data.
  package func mainDatabase() throws(LMDBError) -> Database {
    try withOpeningTransaction { (transaction) throws(LMDBError) -> Database in
      var handle: MDB_dbi = 0
      try check(mdb_dbi_open(transaction, nil, 0, &handle))
      return try Database(name: "", handle: handle, in: transaction)
    }
  }

  /// Returns the names of all databases in key order.
  package func databaseNames() throws(LMDBError) -> [String] {
    let main = try mainDatabase()
    if !main.flags.isEmpty { return [] }
    var candidates: [String] = []
    do {
      let transaction = try beginRead()
      let cursor = try transaction.reader.cursor(main)
      while let entry = try cursor.next() {
        // A database record has 48 bytes. Other entries are data of the unnamed database.
        guard entry.value.count == 48, !entry.key.contains(0) else { continue }
        if let name = String(validating: entry.key, as: UTF8.self) { candidates.append(name) }
      }
    }
    var names: [String] = []
    for name in candidates {
      do throws(LMDBError) {
        if try openDatabase(name) != nil { names.append(name) }
      } catch .incompatible {
        continue
      }
    }
    return names
  }

  private func openExisting(_ name: String) throws(LMDBError) -> Database? {
    try withOpeningTransaction { (transaction) throws(LMDBError) -> Database? in
      try openExisting(name, transaction)
    }
  }

  private func openExisting(
    _ name: String, _ transaction: OpaquePointer
  ) throws(LMDBError) -> Database? {
    var handle: MDB_dbi = 0
    let code = mdb_dbi_open(transaction, name, 0, &handle)
    if code == MDB_NOTFOUND { return nil }
    try check(code)
    let database = try Database(name: name, handle: handle, in: transaction)
    marks.unsettle(handle)
    databases.withLock { $0.addPending(database) }
    return database
  }

  /// Runs `body` in a read transaction whose database handles stay open.
  ///
  /// LMDB allows only one transaction at a time to open databases, so this excludes writers. The
  /// writer lock keeps the map in place as well.
  private func withOpeningTransaction<R: Sendable>(
    _ body: (OpaquePointer) throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    try takeWriter()
    defer { releaseWriter() }
    var transaction: OpaquePointer?
    while true {
      let handle = try withHandle { HandleReference(pointer: $0) }
      let code = mdb_txn_begin(handle.pointer, nil, UInt32(MDB_RDONLY), &transaction)
      if code != MDB_MAP_RESIZED {
        try check(code)
        break
      }
      try growMap()
    }
    guard let transaction else { throw .badTransaction }
    let result: R
    do throws(LMDBError) {
      result = try body(transaction)
    } catch {
      // Committed despite the error: an abort would close the handles opened before it.
      try keepHandles(transaction)
      throw error
    }
    try keepHandles(transaction)
    return result
  }

  /// Commits a read transaction, which writes nothing but passes its handles to the environment.
  /// Other threads may use them only afterwards, and not in snapshots that began earlier.
  private func keepHandles(_ transaction: OpaquePointer) throws(LMDBError) {
    let code = mdb_txn_commit(transaction)
    databases.withLock { _ = $0.finish(isCommitted: code == MDB_SUCCESS) }
    try check(code)
  }

  /// Updates the table at the end of the write transaction, and opens the gate that a deletion
  /// closed.
  func finishDatabases(isCommitted: Bool) throws(LMDBError) {
    let reopened = databases.withLock { $0.finish(isCommitted: isCommitted) }
    guard writerSlot.pointer.pointee.holdsGate else { return }
    writerSlot.pointer.pointee.holdsGate = false
    defer { openGate() }
    if !reopened.isEmpty { try reopen(reopened) }
  }

  /// Reopens databases whose deletion was aborted, because LMDB closes their handles immediately.
  /// The handles must be the same as before, since callers keep `Database` values.
  private func reopen(_ list: [Database]) throws(LMDBError) {
    let handle = try withHandle { HandleReference(pointer: $0) }
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(handle.pointer, nil, UInt32(MDB_RDONLY), &transaction))
    for database in list {
      var number: MDB_dbi = 0
      let code = mdb_dbi_open(transaction, database.name, 0, &number)
      if code != MDB_SUCCESS || number != database.handle {
        mdb_txn_abort(transaction)
        fail(.badDatabase)
        throw .badDatabase
      }
    }
    try check(mdb_txn_commit(transaction))
    databases.withLock { table in
      for database in list { table.addCommitted(database) }
    }
  }
}

extension WriteTransaction {
  /// Opens a named database in this transaction, or creates it if `create` is set. Returns `nil` if
  /// it is missing. It stays open after the commit.
  package func openDatabase(
    _ name: String, _ flags: DatabaseFlags, create: Bool = false
  ) throws(LMDBError) -> Database? {
    if let known = environment.databases.withLock({ $0.known(name) }) {
      return try known.with(flags)
    }
    let slot = environment.writerSlot.pointer
    var handle: MDB_dbi = 0
    let options = flags.rawValue | (create ? UInt32(MDB_CREATE) : 0)
    let code = mdb_dbi_open(slot.pointee.transaction, name, options, &handle)
    if code == MDB_NOTFOUND { return nil }
    try slot.pointee.checkCode(code)
    let database = try Database(name: name, handle: handle, in: slot.pointee.transaction)
    environment.marks.unsettle(handle)
    environment.databases.withLock { $0.addPending(database) }
    return try database.with(flags)
  }

  /// Opens a database, creating it if it is missing.
  package func createDatabase(
    _ name: String, _ flags: DatabaseFlags
  ) throws(LMDBError) -> Database {
    guard let database = try openDatabase(name, flags, create: true) else { throw .notFound }
    return database
  }

  /// Opens several databases at once, creating those that are missing.
  package func createDatabases(
    _ list: [(name: String, flags: DatabaseFlags)]
  ) throws(LMDBError) -> [Database] {
    var opened: [Database] = []
    opened.reserveCapacity(list.count)
    for (name, flags) in list { opened.append(try createDatabase(name, flags)) }
    return opened
  }

  /// Deletes a database with all its entries.
  ///
  /// Waits until no transaction of this process is reading and blocks new readers until the
  /// transaction ends, because LMDB closes the handle immediately. The value must not be used again
  /// unless the transaction aborts.
  ///
  /// - Throws: ``LMDBError/growthBlocked`` if this thread holds a snapshot.
  package func deleteDatabase(_ database: Database) throws(LMDBError) {
    try environment.closeGate()
    // A cached cursor would be renewed for the next database with this handle.
    environment.state.withLock { state in state.forEachSlot { $0.closeCursors() } }
    let slot = environment.writerSlot.pointer
    slot.pointee.holdsGate = true
    if let pageGuard = slot.pointee.pageGuard {
      try pageGuard.pointee.verifyAll(of: database)
    }
    let code = mdb_drop(slot.pointee.transaction, database.handle, 1)
    try slot.pointee.checkCode(code)
    slot.pointee.pageGuard?.pointee.forget(database)
    slot.pointee.digests.begin(database)
    slot.pointee.digests.delete(database.handle)
    environment.databases.withLock { $0.delete(database) }
  }
}

extension Database {
  /// Reads the flags of an open database from the file.
  init(name: String, handle: UInt32, in transaction: OpaquePointer?) throws(LMDBError) {
    var flags: UInt32 = 0
    try check(mdb_dbi_flags(transaction, handle, &flags))
    self.init(name: name, handle: handle, flags: DatabaseFlags(rawValue: flags & 0x7FFF))
  }

  /// Returns the database, or throws if it has other flags.
  func with(_ expected: DatabaseFlags) throws(LMDBError) -> Database {
    if flags != expected { throw .incompatible }
    return self
  }
}
