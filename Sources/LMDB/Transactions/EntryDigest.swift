internal import CArborBits
internal import CLMDB

/// The digest of a database: the sum of the hashes of its entries, independent of their order.
///
/// A commit adds the hashes of added entries and subtracts those of removed ones, so that the sum
/// reveals whether a database contains exactly the entries that its commits left: an outdated page,
/// or an entry with a flipped bit, changes the sum. Sums and hashes have 64 bits, so an accidental
/// change is missed with a probability of 2⁻⁶⁴. They are no protection against forgery.
package enum EntryDigest {
  /// Returns the seed for the hashes of a database's entries: the hash of its name, so that equal
  /// entries of two databases differ. Never 0, and its last bit is never set.
  package static func seed(of name: String) -> UInt64 {
    var name = name
    return name.withUTF8 { arbor_hash(0, $0.baseAddress, $0.count) } & ~1 | 2
  }

  @inline(__always)
  package static func hash(
    _ seed: UInt64, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> UInt64 {
    arbor_entry_hash(seed, key.baseAddress, key.count, value.baseAddress, value.count)
  }
}

/// The changes of a write transaction to the digests of databases.
///
/// Every put and every deletion of the transaction is counted here, so that no writer can bypass
/// it. The unnamed database is excluded, because it contains the digests themselves.
struct DigestChanges {
  private var changes: [EntryDigestChange] = []
  /// The databases that the transaction has cursors on or has changed.
  private var known: [Int] = []
  /// The seeds of the databases that the transaction has deleted.
  private var deleted: [UInt64] = []

  /// Resets the changes for the next transaction.
  mutating func removeAll() {
    for index in known { changes[index].seed = 0 }
    known.removeAll(keepingCapacity: true)
    deleted.removeAll()
  }

  /// Registers a database whose entries may change from now on.
  @inline(__always)
  mutating func begin(_ database: Database) {
    let index = Int(database.handle)
    if index < changes.count, changes[index].seed != 0 { return }
    beginAnew(database, index)
  }

  @inline(never)
  private mutating func beginAnew(_ database: Database, _ index: Int) {
    if index >= changes.count {
      changes += repeatElement(EntryDigestChange(seed: 0), count: index + 1 - changes.count)
    }
    changes[index] = EntryDigestChange(seed: EntryDigest.seed(of: database.name))
    known.append(index)
  }

  /// Returns the hash of an entry of a registered database.
  @inline(__always)
  func hash(
    _ handle: UInt32, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> UInt64 {
    EntryDigest.hash(changes[Int(handle)].seed, key, value)
  }

  /// Adds the hash of a new entry to its database's sum.
  @inline(__always)
  mutating func add(_ hash: UInt64, to handle: UInt32) { changes[Int(handle)].sum &+= hash }

  /// Subtracts the hash of a removed entry from its database's sum.
  @inline(__always)
  mutating func subtract(_ hash: UInt64, from handle: UInt32) { changes[Int(handle)].sum &-= hash }

  /// Resets a database's sum and records that all earlier entries have been removed.
  mutating func clear(_ handle: UInt32) {
    changes[Int(handle)].sum = 0
    changes[Int(handle)].isCleared = true
  }

  /// Records that a database has been deleted. Its handle may be reused.
  mutating func delete(_ handle: UInt32) {
    deleted.append(changes[Int(handle)].seed)
    changes[Int(handle)].seed = 0
    known.removeAll { $0 == Int(handle) }
  }

  /// Returns the changes since the last call, deleted databases first.
  mutating func take() -> [EntryDigestChange] {
    var taken: [EntryDigestChange] = []
    taken.reserveCapacity(deleted.count + known.count)
    for seed in deleted { taken.append(EntryDigestChange(seed: seed, isCleared: true)) }
    deleted.removeAll()
    for index in known where changes[index].sum != 0 || changes[index].isCleared {
      taken.append(changes[index])
      changes[index] = EntryDigestChange(seed: changes[index].seed)
    }
    return taken
  }
}

/// The change of a transaction to the digest of one database.
package struct EntryDigestChange: Sendable, Hashable {
  /// The seed; see ``EntryDigest/seed(of:)``.
  package fileprivate(set) var seed: UInt64
  /// The hashes of added entries minus those of removed ones.
  package fileprivate(set) var sum: UInt64 = 0
  /// Whether all earlier entries have been removed.
  package fileprivate(set) var isCleared = false
}

extension WriteTransaction {
  /// Returns the transaction's changes to database digests since it began or since the last call.
  package func takeDigestChanges() -> [EntryDigestChange] {
    environment.writerSlot.pointer.pointee.digests.take()
  }
}

extension TransactionReader {
  /// Computes the digest of a database from its entries.
  ///
  /// - Parameter visit: Called with each entry. Returns `false` to stop.
  /// - Returns: `nil` if it was stopped.
  /// - Complexity: Linear in the size of the entries.
  package func digest(
    of database: Database, _ visit: (Entry) throws(LMDBError) -> Bool = { _ in true }
  ) throws(LMDBError) -> UInt64? {
    let seed = EntryDigest.seed(of: database.name)
    let cursor = try cursor(database)
    var sum: UInt64 = 0
    while let entry = try cursor.next() {
      sum &+= EntryDigest.hash(seed, entry.key, entry.value)
      guard try visit(entry) else { return nil }
    }
    return sum
  }
}
