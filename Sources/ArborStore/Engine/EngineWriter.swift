package import LMDB

/// The one transaction that writes: lent to a closure by ``EngineEnvironment``, which begins and
/// ends it on one thread.
///
/// It sees its own changes. Bytes that it returns are valid until its next change; a cursor stays
/// usable across changes. An error of a change spoils the transaction: let it leave the closure.
package struct EngineWriter: ~Copyable {
  package let base: WriteTransaction

  package init(_ lent: borrowing WriteTransaction) {
    base = WriteTransaction(environment: lent.environment)
  }

  /// The transaction that the commit is going to be.
  package var id: UInt64 { base.id }
  package var reader: EngineReader { @inline(__always) get { EngineReader(base.reader) } }

  /// Whether the commit waits for the medium; those of the environment go on as they did.
  ///
  /// Behind one that does not, a loss of power may leave any part of its pages in the file, until
  /// ``EngineEnvironment/synchronize()`` or a commit that waits has returned.
  package func setDurability(isFull: Bool) { base.setDurability(isFull ? .full : .none) }

  // MARK: Putting

  /// What becomes of an entry that is there already.
  package struct PutMode {
    fileprivate let base: LMDB.PutMode

    /// The value of the key is replaced; in a database with several values one more is put.
    package static var overwrite: Self { Self(base: .overwrite) }
    /// A key that is there stays as it is.
    package static var noOverwrite: Self { Self(base: .noOverwrite) }
    /// A pair that is there stays as it is.
    package static var noDuplicate: Self { Self(base: .noDuplicate) }
    /// The key is above all others.
    package static var append: Self { Self(base: .append) }
  }

  /// Puts an entry; false where `mode` forbids to change the one that is there.
  @inline(__always)
  @discardableResult
  package func put(
    _ database: EngineDatabase, key: some EngineBytes, value: some EngineBytes,
    _ mode: PutMode = .overwrite
  ) throws(EngineError) -> Bool {
    try key.withBytes { (key) throws(EngineError) in
      try value.withBytes { (value) throws(EngineError) in
        try base.put(database.base, key: key, value: value, mode.base)
      }
    }
  }

  /// Puts `count` bytes, which `fill` writes where they are to lie, as the value of the key. For a
  /// single entry: a cursor costs more than the search that it spares.
  ///
  /// - Parameter isAbove: Whether the key is above all others, which fills pages completely.
  @inline(__always)
  package func put(
    _ database: EngineDatabase, key: UInt64, reserving count: Int, isAbove: Bool,
    into fill: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(EngineError) {
    try base.put(database.base, key: key, reserving: count, isAbove: isAbove, into: fill)
  }

  // MARK: Deleting

  /// Deletes a key with all its values; false where it was not there.
  @inline(__always)
  @discardableResult
  package func delete(
    _ database: EngineDatabase, key: some EngineBytes
  ) throws(EngineError) -> Bool {
    try key.withBytes { (key) throws(EngineError) in try base.delete(database.base, key: key) }
  }

  /// Deletes one value of a key; false where it was not there.
  @inline(__always)
  @discardableResult
  package func delete(
    _ database: EngineDatabase, key: some EngineBytes, value: some EngineBytes
  ) throws(EngineError) -> Bool {
    try key.withBytes { (key) throws(EngineError) in
      try value.withBytes { (value) throws(EngineError) in
        try base.delete(database.base, key: key, value: value)
      }
    }
  }

  /// Removes all entries of a database and keeps it.
  ///
  /// - Parameter isCounted: Whether its digest becomes that of no entries. Code that puts most of
  ///   the entries again uncounted says no, and counts what goes and what comes.
  package func clear(_ database: EngineDatabase, isCounted: Bool = true) throws(EngineError) {
    try base.clear(database.base, isCounted: isCounted)
  }

  // MARK: Digests

  /// Counts an entry that an uncounted clear has removed and that is not put again.
  @inline(__always)
  package func countRemoval(
    _ database: EngineDatabase, key: some EngineBytes, value: some EngineBytes
  ) {
    key.withBytes { key in
      value.withBytes { value in base.countRemoval(database.base, key: key, value: value) }
    }
  }

  /// Counts an entry that is put uncounted, and that an uncounted clear has not removed.
  @inline(__always)
  package func countAddition(
    _ database: EngineDatabase, key: some EngineBytes, value: some EngineBytes
  ) {
    key.withBytes { key in
      value.withBytes { value in base.countAddition(database.base, key: key, value: value) }
    }
  }

  /// Takes what the transaction has changed of the digests of databases, since the last time.
  package func takeDigestChanges() -> [EntryDigestChange] { base.takeDigestChanges() }

  // MARK: Databases

  /// Opens a database; nil where it is missing.
  package func openDatabase(
    _ name: String, _ flags: EngineFlags
  ) throws(EngineError) -> EngineDatabase? {
    try base.openDatabase(name, flags, create: false).map(EngineDatabase.init)
  }

  /// Opens a database, or creates it.
  package func createDatabase(
    _ name: String, _ flags: EngineFlags
  ) throws(EngineError) -> EngineDatabase {
    EngineDatabase(try base.createDatabase(name, flags))
  }

  /// Opens several databases at once, creating those that are missing.
  package func createDatabases(
    _ list: [(name: String, flags: EngineFlags)]
  ) throws(EngineError) -> [EngineDatabase] {
    try base.createDatabases(list).map(EngineDatabase.init)
  }

  /// Deletes a database with all its entries; its value must not be used again.
  ///
  /// Waits until this process reads nowhere.
  package func deleteDatabase(_ database: EngineDatabase) throws(EngineError) {
    try base.deleteDatabase(database.base)
  }
}
