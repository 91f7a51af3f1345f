internal import LMDB

/// The digests of a file's databases as of a commit: for each database, the sum of the
/// ``EntryDigest`` hashes of its entries.
///
/// ```
///  0       1        2        4         8               16                            crc32c
/// ┌───────┬────────┬────────┬─────────┬───────────────┬ for each database, sorted ─┬───────┐
/// │form u8│flags u8│zero u16│count u32│LMDB           │hash of its name u64        │u32    │
/// │1      │        │        │         │transaction u64│sum of entries' hashes u64  │       │
/// └───────┴────────┴────────┴─────────┴───────────────┴────────────────────────────┴───────┘
/// ```
///
/// They are stored next to the header, which every commit rewrites, and are valid only if they name
/// the same transaction as the header. A library version without digests leaves them unchanged, and
/// the digests are unknown from then on. A database that is not listed has the sum 0, like an empty
/// database.
///
/// Flag 1 indicates that the digests are being recounted. Until a database has been counted or
/// cleared, its sum only contains the changes since the recount began, which the lowest bit of its
/// name's hash indicates; otherwise that bit is clear. A database that is not listed then has not
/// changed.
package struct DatabaseDigests: Sendable, Hashable {
  /// The digest of one database.
  struct Digest: Sendable, Hashable {
    let seed: UInt64
    var sum: UInt64
    /// Whether the sum only covers changes since the recount began.
    var isChange: Bool
  }

  /// The ID of the transaction as of which the digests are valid.
  package var transactionID: UInt64
  /// Whether a recount is in progress, so that some digests are unknown.
  package private(set) var isCounting: Bool
  /// The digests in the order of their seeds.
  private var digests: [Digest] = []

  private static let form: UInt8 = 1
  private static let countingFlag: UInt8 = 1
  private static let headerSize = 16
  private static let digestSize = 16

  /// Creates the digests of a file without entries or, if they are being counted, of any file.
  package init(transactionID: UInt64, isCounting: Bool = false) {
    self.transactionID = transactionID
    self.isCounting = isCounting
  }

  // MARK: Reading

  /// Returns the digest of a database, or `nil` if it is not known yet.
  package func sum(of name: String) -> UInt64? {
    let found = digest(EntryDigest.seed(of: name))
    return found.isChange ? nil : found.sum
  }

  /// Returns the change to a database's digest since the recount began, or `nil` if the digest is
  /// known.
  func change(of name: String) -> UInt64? {
    let found = digest(EntryDigest.seed(of: name))
    return found.isChange ? found.sum : nil
  }

  func lists(_ name: String) -> Bool {
    let seed = EntryDigest.seed(of: name)
    return digests.contains { $0.seed == seed }
  }

  private func digest(_ seed: UInt64) -> Digest {
    let index = digests.partitioningIndex { $0.seed >= seed }
    if index < digests.count, digests[index].seed == seed { return digests[index] }
    return Digest(seed: seed, sum: 0, isChange: isCounting)
  }

  // MARK: Changing

  /// Adds a transaction's change to a database's sum. If the transaction cleared the database, the
  /// sum starts from 0.
  mutating func apply(_ seed: UInt64, _ sum: UInt64, isCleared: Bool) {
    var digest = digest(seed)
    if isCleared { (digest.sum, digest.isChange) = (0, false) }
    digest.sum &+= sum
    set(digest)
  }

  /// Adds the changes of a transaction.
  mutating func apply(_ changes: [EntryDigestChange]) {
    for change in changes { apply(change.seed, change.sum, isCleared: change.isCleared) }
  }

  /// Completes the digest of a database whose entries had the sum `sum` when it had changed by
  /// `change` since the recount began. Does nothing if the digest is already known.
  mutating func complete(_ name: String, sum: UInt64, at change: UInt64) {
    var digest = digest(EntryDigest.seed(of: name))
    guard digest.isChange else { return }
    digest.sum = sum &+ (digest.sum &- change)
    digest.isChange = false
    set(digest)
  }

  /// Ends the recount if the digests of all the given databases are known.
  mutating func endCount(of names: [String]) {
    // A database that was created since is not in the list, and its sum must not be lost.
    guard isCounting, names.allSatisfy({ sum(of: $0) != nil }), digests.allSatisfy({ !$0.isChange })
    else { return }
    isCounting = false
    digests.removeAll { $0.sum == 0 }
  }

  private mutating func set(_ digest: Digest) {
    let index = digests.partitioningIndex { $0.seed >= digest.seed }
    let isListed = index < digests.count && digests[index].seed == digest.seed
    let isDefault = digest.sum == 0 && digest.isChange == isCounting
    switch (isListed, isDefault) {
    case (true, true): digests.remove(at: index)
    case (true, false): digests[index] = digest
    case (false, true): break
    case (false, false): digests.insert(digest, at: index)
    }
  }

  // MARK: Bytes

  /// Encodes the digests. Every commit does so, so the bytes are stored in their final buffer
  /// directly.
  package func encoded() -> [UInt8] {
    let count = Self.headerSize + Self.digestSize * digests.count
    return [UInt8](unsafeUninitializedCapacity: count + 4) { bytes, initialized in
      // Memory safety: every offset is below the capacity, and every byte is initialized.
      let bytes = UnsafeMutableRawBufferPointer(bytes)
      func store(_ number: some FixedWidthInteger, _ offset: Int) {
        bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: type(of: number))
      }
      store(Self.form, 0)
      store(isCounting ? Self.countingFlag : 0, 1)
      store(UInt16(0), 2)
      store(UInt32(digests.count), 4)
      store(transactionID, 8)
      var offset = Self.headerSize
      for digest in digests {
        store(digest.seed | (digest.isChange ? 1 : 0), offset)
        store(digest.sum, offset + 8)
        offset += Self.digestSize
      }
      store(Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<count])), count)
      initialized = count + 4
    }
  }

  /// Decodes the output of ``encoded()``. Returns `nil` for other bytes.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard var reader = ByteReader(checked: bytes), let form: UInt8 = reader.read(),
      form == Self.form, let flags: UInt8 = reader.read(), let _: UInt16 = reader.read(),
      let count: UInt32 = reader.read(), let transactionID: UInt64 = reader.read(),
      reader.bytesLeft == 16 * Int(count)
    else { return nil }
    self.transactionID = transactionID
    isCounting = flags & Self.countingFlag != 0
    digests.reserveCapacity(Int(count))
    while let name: UInt64 = reader.read(), let sum: UInt64 = reader.read() {
      let digest = Digest(seed: name & ~1, sum: sum, isChange: name & 1 != 0)
      if let last = digests.last, last.seed >= digest.seed { return nil }
      digests.append(digest)
    }
  }
}
