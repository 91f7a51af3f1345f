/// Divides the bytes of a journal entry into sectors that tell *not written* from *damaged*.
///
/// ```
///  0                                496              504                  508
/// ┌────────────────────────────────┬────────────────┬────────────────────┬──────────┐
/// │bytes of the entry, then zeros  │transaction u64 │entry's crc32c u32  │crc32c u32│
/// └────────────────────────────────┴────────────────┴────────────────────┴──────────┘
/// ```
///
/// A disk writes a sector as a whole or not at all. After a power failure, a sector of an entry is
/// therefore either as the entry has it, or as it was before: zeros, or part of another entry.
/// Anything else is damage.
enum JournalSectors {
  static let size = 512
  /// The number of bytes of the entry in a sector.
  static let capacity = 496

  /// The entry that a sector belongs to.
  struct Owner: Hashable {
    let transactionID: UInt64
    /// The checksum of the undivided entry, which differs between entries of the same transaction.
    let checksum: UInt32
  }

  enum Content: Hashable {
    case part(of: Owner)
    /// Never written, or erased.
    case zeros
    case damaged
  }

  /// Returns the number of bytes that an entry takes.
  static func dividedSize(_ length: Int) -> Int { (length + capacity - 1) / capacity * size }

  static func divide(_ entry: [UInt8], _ owner: Owner) -> [UInt8] {
    var sectors: [UInt8] = []
    sectors.reserveCapacity(dividedSize(entry.count))
    for start in stride(from: 0, to: entry.count, by: capacity) {
      let first = sectors.count
      sectors += entry[start..<min(start + capacity, entry.count)]
      sectors.append(contentsOf: repeatElement(0, count: first + capacity - sectors.count))
      withUnsafeBytes(of: owner.transactionID.littleEndian) { sectors += $0 }
      withUnsafeBytes(of: owner.checksum.littleEndian) { sectors += $0 }
      let checksum = sectors.withUnsafeBytes {
        Checksum.of(UnsafeRawBufferPointer(rebasing: $0[first...]))
      }
      withUnsafeBytes(of: checksum.littleEndian) { sectors += $0 }
    }
    return sectors
  }

  static func content(of sector: UnsafeRawBufferPointer) -> Content {
    guard let reader = ByteReader(checked: sector) else {
      return sector.allSatisfy { $0 == 0 } ? .zeros : .damaged
    }
    var rest = reader
    guard rest.readBytes(capacity) != nil, let transactionID: UInt64 = rest.read(),
      let checksum: UInt32 = rest.read()
    else { return .damaged }
    return .part(of: Owner(transactionID: transactionID, checksum: checksum))
  }

  /// Returns the bytes of an entry without what the sectors add. Whether the sectors are valid must
  /// have been checked.
  static func join(_ sectors: UnsafeRawBufferPointer, length: Int) -> [UInt8] {
    var entry: [UInt8] = []
    entry.reserveCapacity(length)
    for start in stride(from: 0, to: sectors.count, by: size) {
      entry += sectors[start..<min(start + capacity, start + length - entry.count)]
    }
    return entry
  }
}
