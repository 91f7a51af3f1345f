internal import CArborBits
internal import CLMDB

/// The digest of a database: the sum of the hashes of its entries, whatever their order.
///
/// A commit adds the hashes of what it puts and subtracts those of what goes, and the sum tells
/// afterwards whether the database has the entries that its commits have left, and no others: a
/// page of a former state in a page's place, or an entry whose bits have changed, changes the sum.
/// Sums and hashes have 64 bits, so that an accident goes unnoticed once in 2⁶⁴ times; who forges a
/// file can compute them as well.
package enum EntryDigest {
  /// What the hashes of a database's entries begin with: the hash of its name, which makes equal
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

/// What a write transaction changes of the digests of databases so far.
///
/// Every put and every deletion of the transaction passes here, so that nobody who writes can
/// forget it. The unnamed database is left out: it keeps what the digests are kept in.
struct DigestChanges {
  private var changes: [EntryDigestChange] = []
  /// The databases that cursors and changes of the transaction are of.
  private var known: [Int] = []
  /// The seeds of the databases that it has deleted.
  private var deleted: [UInt64] = []

  /// Begins anew, with the next transaction.
  mutating func removeAll() {
    for index in known { changes[index].seed = 0 }
    known.removeAll(keepingCapacity: true)
    deleted.removeAll()
  }

  /// Makes a database known, whose entries may change from now on.
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

  /// The hash of an entry of a database that is known.
  @inline(__always)
  func hash(
    _ handle: UInt32, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> UInt64 {
    EntryDigest.hash(changes[Int(handle)].seed, key, value)
  }

  /// Notes an entry that comes.
  @inline(__always)
  mutating func add(_ hash: UInt64, to handle: UInt32) { changes[Int(handle)].sum &+= hash }

  /// Notes an entry that goes.
  @inline(__always)
  mutating func subtract(_ hash: UInt64, from handle: UInt32) { changes[Int(handle)].sum &-= hash }

  /// Notes that all entries go.
  mutating func clear(_ handle: UInt32) {
    changes[Int(handle)].sum = 0
    changes[Int(handle)].isCleared = true
  }

  /// Notes that a database goes. Another one may get its handle.
  mutating func delete(_ handle: UInt32) {
    deleted.append(changes[Int(handle)].seed)
    changes[Int(handle)].seed = 0
    known.removeAll { $0 == Int(handle) }
  }

  /// What has changed since the last time it was taken: first the databases that were deleted.
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

/// What a transaction has changed of the digest of one database.
package struct EntryDigestChange: Sendable, Hashable {
  /// See ``EntryDigest/seed(of:)``.
  package fileprivate(set) var seed: UInt64
  /// The hashes of what came less those of what went.
  package fileprivate(set) var sum: UInt64 = 0
  /// Whether all entries of before have gone.
  package fileprivate(set) var isCleared = false
}

extension WriteTransaction {
  /// Takes what the transaction has changed of the digests of databases since it began, or since
  /// this was called last.
  package func takeDigestChanges() -> [EntryDigestChange] {
    environment.writerSlot.pointer.pointee.digests.take()
  }
}

extension TransactionReader {
  /// Computes the digest of a database from its entries. Takes time in proportion to them.
  ///
  /// - Parameter visit: Called with each; false ends it.
  /// - Returns: nil where it was ended.
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
