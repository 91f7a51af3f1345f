internal import ArborModel
internal import LMDB

/// The seeds of checksums that the records on the pages of a damaged file agree on.
///
/// A checksum is XORed with the store's seed, so each sound record reveals the seed of the store
/// that wrote it. A damaged record, or bytes that aren't a record, reveal an arbitrary number.
final class RecordSeeds {
  /// The number of records by seed.
  private var counts: [UInt32: Int] = [:]

  /// The maximum number of seeds to remember. Further ones belong to damaged records, or to other
  /// stores.
  private static let maximumSeeds = 1 << 16

  /// The size that every record exceeds. The values of ordered members have it.
  private static let minimumSize = 16

  /// Reads every record of a file.
  ///
  /// - Parameter likely: Seeds that are remembered in any case.
  init(_ source: SalvageSource, likely: [UInt32]) throws(StoreError) {
    for seed in likely { counts[seed] = 0 }
    try storing(source.limit) { () throws(LMDBError) in
      try source.file.scan { (_, _, leaf) throws(LMDBError) in
        try leaf.forEach { (entry) throws(LMDBError) in try self.count(entry, of: source) }
      }
    }
  }

  private func count(_ entry: DamagedEntry, of source: SalvageSource) throws(LMDBError) {
    guard entry.key.count == 8 else { return }
    let number = ObjectNumber(rawValue: entry.key.loadUnaligned(as: UInt64.self))
    guard number.entity > 0, (1...ObjectNumber.maximumSequence).contains(number.sequence) else {
      return
    }
    try source.file.withValue(of: entry) { (bytes) throws(LMDBError) in
      guard let bytes, bytes.count > Self.minimumSize,
        let seed = RecordChecksum.seed(of: bytes, key: number),
        counts.count < Self.maximumSeeds || counts[seed] != nil
      else { return }
      counts[seed, default: 0] += 1
    }
  }

  /// Returns the seed to verify records with: the given one if any record has it, and otherwise the
  /// one that most records have.
  ///
  /// A single record with another seed proves nothing, because it may be damaged.
  func seed(insteadOf given: UInt32) -> UInt32 {
    if counts[given] ?? 0 > 0 { return given }
    let most = counts.max { ($0.value, $0.key) < ($1.value, $1.key) }
    guard let most, most.value > 1 else { return given }
    return most.key
  }
}
