package import ArborFoundation
internal import LMDB

/// The followers for which a store keeps its commits, and their positions in its log.
///
/// `count variable · for each, by identity: UUID 16 bytes · sequence u64 · crc32c u32`
package struct LogReaders: Sendable, Hashable {
  /// The sequence number of the newest commit that each follower has, by the follower's ID.
  package var sequences: [UUID: UInt64]

  package init(_ sequences: [UUID: UInt64] = [:]) { self.sequences = sequences }

  /// The newest sequence number that all followers have reached, or `nil` if there are no
  /// followers. Commits up to it can be removed.
  package var least: UInt64? { sequences.values.min() }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.appendVariable(UInt64(sequences.count))
    for (id, sequence) in sequences.sorted(by: { $0.key.uuidString < $1.key.uuidString }) {
      writer.append(id)
      writer.append(sequence)
    }
    writer.appendChecksum()
    return writer.bytes
  }

  /// Decodes the output of ``encoded()``. Returns `nil` for other bytes.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard var reader = ByteReader(checked: bytes), let count = reader.readVariable() else {
      return nil
    }
    var sequences: [UUID: UInt64] = [:]
    for _ in 0..<count {
      guard let id = reader.readUUID(), let sequence: UInt64 = reader.read() else { return nil }
      sequences[id] = sequence
    }
    guard reader.isAtEnd, UInt64(sequences.count) == count else { return nil }
    self.init(sequences)
  }

  /// Reads the followers in a transaction.
  ///
  /// - Throws: `corrupted` if the entry is damaged.
  static func read(
    _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> LogReaders {
    guard let bytes = try reader.entryIfPresent(StoreFormat.logKey, in: arbor) else {
      return LogReaders()
    }
    guard let readers = LogReaders(bytes) else {
      throw .corrupted(what: "The entry \"\(StoreFormat.logKey)\" is damaged.")
    }
    return readers
  }
}
