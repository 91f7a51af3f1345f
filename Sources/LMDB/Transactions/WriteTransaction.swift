internal import CLMDB

/// The behaviour of a put if the key already exists.
@usableFromInline
package enum PutMode: Sendable {
  /// Replaces the value or, in a database with duplicates, adds one.
  case overwrite
  /// Keeps the existing entry.
  case noOverwrite
  /// Does nothing if the key already has this value. For databases with duplicates.
  case noDuplicate
  /// Appends a key that is greater than all others, which fills pages completely. Otherwise throws
  /// ``LMDBError/keyExists``.
  case append
  /// Appends to the last key or adds a greater one. The value must be greater than that key's last
  /// one. Otherwise throws ``LMDBError/keyExists``.
  case appendDuplicate

  var flags: UInt32 {
    switch self {
    case .overwrite: 0
    case .noOverwrite: UInt32(MDB_NOOVERWRITE)
    case .noDuplicate: UInt32(MDB_NODUPDATA)
    case .append: UInt32(MDB_APPEND)
    case .appendDuplicate: UInt32(MDB_APPENDDUP)
    }
  }

  /// Whether an existing entry is reported as a result instead of an error.
  var answersExistence: Bool { self == .noOverwrite || self == .noDuplicate }
}

/// The only write transaction, passed to the closure of ``Environment/write(_:)``, which begins and
/// ends it on one thread.
///
/// It sees its own changes. Returned bytes are valid until its next change; a cursor stays usable
/// across changes. Any error of an operation except ``LMDBError/badValueSize`` invalidates the
/// transaction, so rethrow it from the closure.
@usableFromInline
package struct WriteTransaction: ~Copyable, ReadableTransaction {
  let environment: Environment

  package var reader: TransactionReader { TransactionReader(slot: environment.writerSlot) }

  private var slot: UnsafeMutablePointer<TransactionSlot> { environment.writerSlot.pointer }

  /// Sets the durability of this transaction's commit, overriding that of its environment.
  ///
  /// After a commit with the durability `none`, until ``Environment/synchronize()`` or a commit of
  /// another durability has returned, a power failure may leave any part of its pages in the file,
  /// including the root page. The file must then be verified completely before it is used.
  package func setDurability(_ durability: EnvironmentOptions.Durability) {
    slot.pointee.durability = durability
  }

  /// Puts an entry.
  ///
  /// - Returns: `false` if `mode` does not allow changing an existing entry.
  @discardableResult
  @usableFromInline
  package func put(
    _ database: Database, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
    _ mode: PutMode = .overwrite
  ) throws(LMDBError) -> Bool {
    if let pageGuard = slot.pointee.pageGuard {
      try pageGuard.pointee.verifyPut(database, key, value, mode)
    }
    slot.pointee.bytesPut &+= key.count &+ value.count
    if database.handle == EngineFormat.namesHandle {
      return try putUncounted(database, key, value, mode)
    }
    slot.pointee.digests.begin(database)
    let hash = slot.pointee.digests.hash(database.handle, key, value)
    let hasDuplicates = database.flags.contains(.duplicates)
    if hasDuplicates, mode == .overwrite {
      // Equivalent for the entries, but reports whether one was added.
      guard try putUncounted(database, key, value, .noDuplicate) else { return true }
    } else {
      let replaces = !hasDuplicates && (mode == .overwrite || mode == .noDuplicate)
      let former = replaces ? try valueHash(database, key) : nil
      guard try putUncounted(database, key, value, mode) else { return false }
      if let former { slot.pointee.digests.subtract(former, from: database.handle) }
    }
    slot.pointee.digests.add(hash, to: database.handle)
    return true
  }

  private func putUncounted(
    _ database: Database, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    _ mode: PutMode
  ) throws(LMDBError) -> Bool {
    var key = MDB_val(key)
    var value = MDB_val(value)
    let code = mdb_put(slot.pointee.transaction, database.handle, &key, &value, mode.flags)
    return try slot.pointee.checkPut(code, mode)
  }

  /// Returns the hash of a key's entry in a database without duplicates, or `nil` if there isn't
  /// one. The pages that a change of the key accesses must be verified.
  private func valueHash(
    _ database: Database, _ key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> UInt64? {
    try reader.askVerified(database, key).map {
      slot.pointee.digests.hash(database.handle, key, $0)
    }
  }

  /// Puts an entry of `count` bytes, which `fill` writes in place, under an integer key of a
  /// database without duplicates, replacing an existing one. For a single entry, because creating a
  /// cursor costs more than the search it saves.
  ///
  /// - Parameter isAbove: Whether the key is greater than all others, which fills pages completely.
  /// - Throws: ``LMDBError/keyExists`` if `isAbove` is set and the key is not greater than all
  ///   others.
  package func put(
    _ database: Database, key: UInt64, reserving count: Int, isAbove: Bool,
    into fill: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(LMDBError) {
    let mode = isAbove ? PutMode.append : .overwrite
    slot.pointee.bytesPut &+= 8 &+ count
    slot.pointee.digests.begin(database)
    try key.withBytes { (bytes) throws(LMDBError) in
      if let pageGuard = slot.pointee.pageGuard {
        try pageGuard.pointee.verifyPut(database, bytes, bytes, mode)
      }
      let former = isAbove ? nil : try valueHash(database, bytes)
      var key = MDB_val(bytes)
      var value = MDB_val(mv_size: count, mv_data: nil)
      let flags = mode.flags | UInt32(MDB_RESERVE)
      try slot.pointee.checkCode(
        mdb_put(slot.pointee.transaction, database.handle, &key, &value, flags))
      fill(UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size))
      let hash = slot.pointee.digests.hash(database.handle, bytes, UnsafeRawBufferPointer(value))
      if let former { slot.pointee.digests.subtract(former, from: database.handle) }
      slot.pointee.digests.add(hash, to: database.handle)
    }
  }

  /// Deletes a key with all its values. Returns `false` if it does not exist.
  @discardableResult
  @usableFromInline
  package func delete(
    _ database: Database, key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Bool {
    if let pageGuard = slot.pointee.pageGuard {
      try pageGuard.pointee.verifyDeletion(database, key, nil)
    }
    let isCounted = database.handle != EngineFormat.namesHandle
    var hash: UInt64 = 0
    if isCounted {
      slot.pointee.digests.begin(database)
      guard let found = try entriesHash(database, key) else { return false }
      hash = found
    }
    var bytes = MDB_val(key)
    let isDeleted = try checkDelete(mdb_del(slot.pointee.transaction, database.handle, &bytes, nil))
    if isDeleted, isCounted { slot.pointee.digests.subtract(hash, from: database.handle) }
    return isDeleted
  }

  /// Returns the sum of the hashes of all entries of a key, or `nil` if there are none.
  private func entriesHash(
    _ database: Database, _ key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> UInt64? {
    guard database.flags.contains(.duplicates) else { return try valueHash(database, key) }
    let cursor = try reader.cursor(database)
    var entry = try cursor.seekExact(key)
    if entry == nil { return nil }
    var sum: UInt64 = 0
    while let found = entry {
      sum &+= slot.pointee.digests.hash(database.handle, key, found.value)
      entry = try cursor.nextDuplicate()
    }
    return sum
  }

  /// Deletes one value of a key. Returns `false` if it does not exist. In a database without
  /// duplicates, the value is ignored.
  @discardableResult
  @usableFromInline
  package func delete(
    _ database: Database, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Bool {
    guard database.flags.contains(.duplicates) else { return try delete(database, key: key) }
    if let pageGuard = slot.pointee.pageGuard {
      try pageGuard.pointee.verifyDeletion(database, key, value)
    }
    slot.pointee.digests.begin(database)
    let hash = slot.pointee.digests.hash(database.handle, key, value)
    var key = MDB_val(key)
    var value = MDB_val(value)
    let isDeleted = try checkDelete(
      mdb_del(slot.pointee.transaction, database.handle, &key, &value))
    if isDeleted { slot.pointee.digests.subtract(hash, from: database.handle) }
    return isDeleted
  }

  /// Removes all entries of a database without deleting it.
  ///
  /// - Parameter isCounted: Whether the digest is set to that of an empty database. Code that puts
  ///   most of the entries again uncounted passes `false` and counts the removals and additions
  ///   itself.
  package func clear(_ database: Database, isCounted: Bool = true) throws(LMDBError) {
    if let pageGuard = slot.pointee.pageGuard {
      try pageGuard.pointee.verifyAll(of: database)
    }
    let code = mdb_drop(slot.pointee.transaction, database.handle, 0)
    try slot.pointee.checkCode(code)
    slot.pointee.digests.begin(database)
    if isCounted { slot.pointee.digests.clear(database.handle) }
  }

  /// Counts as removed an entry that an uncounted clear has removed and that is not put again.
  @inline(__always)
  @usableFromInline
  package func countRemoval(
    _ database: Database, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) {
    let hash = slot.pointee.digests.hash(database.handle, key, value)
    slot.pointee.digests.subtract(hash, from: database.handle)
  }

  /// Counts as added an entry that is put uncounted and was not removed by an uncounted clear.
  @inline(__always)
  @usableFromInline
  package func countAddition(
    _ database: Database, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) {
    let hash = slot.pointee.digests.hash(database.handle, key, value)
    slot.pointee.digests.add(hash, to: database.handle)
  }

  private func checkDelete(_ code: Int32) throws(LMDBError) -> Bool {
    if code == MDB_NOTFOUND { return false }
    try slot.pointee.checkCode(code)
    return true
  }
}

extension TransactionSlot {
  /// Throws if a change failed, and records whether the map is full.
  @inline(__always)
  mutating func checkCode(_ code: Int32) throws(LMDBError) {
    if code == MDB_SUCCESS {
      hasChanged = true
      return
    }
    if code == MDB_MAP_FULL { needsGrowth = true }
    throw DiskSpace(descriptor: descriptor).explain(LMDBError(code: code), bytes: bytesPut)
  }

  /// Throws if a put failed. In some modes, returns `false` for an existing entry instead.
  @inline(__always)
  mutating func checkPut(_ code: Int32, _ mode: PutMode) throws(LMDBError) -> Bool {
    if code == MDB_KEYEXIST, mode.answersExistence { return false }
    try checkCode(code)
    return true
  }
}
