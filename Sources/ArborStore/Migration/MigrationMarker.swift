package import ArborFoundation
package import ArborModel
internal import LMDB

/// A marker in a store that is being migrated in a copy of its file.
///
/// As long as it exists, only the migration writes to the store: other changes would be lost when
/// the copy replaces the file. Readers are not affected. A flag in the header indicates the marker,
/// so that commits need not read another page.
package struct MigrationMarker: Sendable, Hashable {
  /// The identifier of the plan, or 0 for a reversal.
  package let plan: UInt128
  /// The fingerprint of the model that the store is migrated to.
  package let target: ModelFingerprint
  /// The store's model generation when the migration started, which the copy shares.
  package let generation: UInt32
  /// The time when the migration started.
  package let began: Date
}

extension MigrationMarker {
  /// Creates a marker for reverting a migration that was done in a copy. It notifies processes that
  /// have the file open that the file is being replaced.
  package static func reversal(to target: ModelFingerprint, generation: UInt32) -> Self {
    Self(plan: 0, target: target, generation: generation, began: Date())
  }

  /// Whether the marker belongs to a reversal, which needs no copy.
  package var isReversal: Bool { plan == 0 }

  // MARK: Bytes

  /// `plan u128 · model fingerprint u128 · generation u32 · seconds since 2001 f64 · crc32c u32`
  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(plan)
    writer.append(target.bits)
    writer.append(generation)
    writer.append(began.timeIntervalSinceReferenceDate.bitPattern)
    writer.appendChecksum()
    return writer.bytes
  }

  /// Decodes the output of ``encoded()``. Returns `nil` for other bytes.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard var reader = ByteReader(checked: bytes), let plan: UInt128 = reader.read(),
      let target: UInt128 = reader.read(), let generation: UInt32 = reader.read(),
      let seconds: UInt64 = reader.read(), reader.isAtEnd
    else { return nil }
    let began = Double(bitPattern: seconds)
    // A date that cannot be formatted is damage, even if the checksum is valid.
    guard abs(began) < 1e11 else { return nil }
    self.init(
      plan: plan, target: ModelFingerprint(bits: target), generation: generation,
      began: Date(timeIntervalSinceReferenceDate: began))
  }
}

extension MigrationMarker {
  /// Reads the marker in the state of a transaction whose header indicates one.
  static func read(
    _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> MigrationMarker {
    let bytes = try reader.entry(StoreFormat.migrationKey, in: arbor)
    guard let marker = MigrationMarker(bytes) else {
      throw .corrupted(what: "The entry \"\(StoreFormat.migrationKey)\" is damaged.")
    }
    return marker
  }
}
