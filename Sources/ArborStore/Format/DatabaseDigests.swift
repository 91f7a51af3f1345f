internal import LMDB

/// The digests of a file's databases as of a commit: for each database, the sum of the
/// ``EntryDigest`` hashes of its entries.
///
/// ```
///  0       1        4         8               16                            crc32c
/// ┌───────┬────────┬─────────┬───────────────┬ for each database, sorted ─┬───────┐
/// │form u8│zero u24│count u32│LMDB           │hash of its name u64        │u32    │
/// │1      │        │         │transaction u64│sum of entries' hashes u64  │       │
/// └───────┴────────┴─────────┴───────────────┴────────────────────────────┴───────┘
/// ```
///
/// They are stored next to the header, which every commit rewrites, and name the same transaction. A
/// database that is not listed has the sum 0, like an empty database.
package struct DatabaseDigests: Sendable, Hashable {
  /// The digest of one database.
  struct Digest: Sendable, Hashable {
    let seed: UInt64
    var sum: UInt64
  }

  /// The ID of the transaction as of which the digests are valid.
  package var transactionID: UInt64
  /// The digests in the order of their seeds.
  private var digests: [Digest] = []

  private static let form: UInt8 = 1
  private static let headerSize = 16
  private static let digestSize = 16

  /// Creates the digests of a file without entries.
  package init(transactionID: UInt64) { self.transactionID = transactionID }

  // MARK: Reading

  /// Returns the digest of a database.
  package func sum(of name: String) -> UInt64 { digest(EntryDigest.seed(of: name)).sum }

  func lists(_ name: String) -> Bool {
    let seed = EntryDigest.seed(of: name)
    return digests.contains { $0.seed == seed }
  }

  private func digest(_ seed: UInt64) -> Digest {
    let index = digests.partitioningIndex { $0.seed >= seed }
    if index < digests.count, digests[index].seed == seed { return digests[index] }
    return Digest(seed: seed, sum: 0)
  }

  // MARK: Changing

  /// Adds a transaction's change to a database's sum. If the transaction cleared the database, the
  /// sum starts from 0.
  mutating func apply(_ seed: UInt64, _ sum: UInt64, isCleared: Bool) {
    var digest = digest(seed)
    if isCleared { digest.sum = 0 }
    digest.sum &+= sum
    set(digest)
  }

  /// Adds the changes of a transaction.
  mutating func apply(_ changes: [EntryDigestChange]) {
    for change in changes { apply(change.seed, change.sum, isCleared: change.isCleared) }
  }

  private mutating func set(_ digest: Digest) {
    let index = digests.partitioningIndex { $0.seed >= digest.seed }
    let isListed = index < digests.count && digests[index].seed == digest.seed
    switch (isListed, digest.sum == 0) {
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
      store(UInt8(0), 1)
      store(UInt16(0), 2)
      store(UInt32(digests.count), 4)
      store(transactionID, 8)
      var offset = Self.headerSize
      for digest in digests {
        store(digest.seed, offset)
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
      form == Self.form, reader.readBytes(3) != nil,
      let count: UInt32 = reader.read(), let transactionID: UInt64 = reader.read(),
      reader.bytesLeft == 16 * Int(count)
    else { return nil }
    self.transactionID = transactionID
    digests.reserveCapacity(Int(count))
    while let name: UInt64 = reader.read(), let sum: UInt64 = reader.read() {
      if let last = digests.last, last.seed >= name { return nil }
      digests.append(Digest(seed: name, sum: sum))
    }
  }
}
