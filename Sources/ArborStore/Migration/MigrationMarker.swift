package import ArborModel
package import Foundation
internal import LMDB

/// What a store says of a migration that is under way in a copy of its file.
///
/// While a store has one, nothing but the migration writes to it: what was written would be lost
/// with the file when the copy takes its place. Readers go on. A flag in the header tells that
/// there is one, so that a commit learns it without a look at another page.
package struct MigrationMarker: Sendable, Hashable {
  /// Tells one plan from another; 0 for the way back.
  package let plan: UInt128
  /// The model that the store is brought to.
  package let target: ModelFingerprint
  /// The store's generation when the migration began, which the copy has too.
  package let generation: UInt32
  /// When the migration began.
  package let began: Date
}

extension MigrationMarker {
  /// A marker of the way back from a migration in a copy: what is open is told by it that another
  /// file takes the place of this one.
  package static func reversal(to target: ModelFingerprint, generation: UInt32) -> Self {
    Self(plan: 0, target: target, generation: generation, began: Date())
  }

  /// Whether it is of a way back, which no copy is made for.
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

  /// nil for bytes that ``encoded()`` did not make.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard var reader = ByteReader(checked: bytes), let plan: UInt128 = reader.read(),
      let target: UInt128 = reader.read(), let generation: UInt32 = reader.read(),
      let seconds: UInt64 = reader.read(), reader.isAtEnd
    else { return nil }
    let began = Double(bitPattern: seconds)
    // A date that cannot be printed is damage, whatever the checksum says.
    guard abs(began) < 1e11 else { return nil }
    self.init(
      plan: plan, target: ModelFingerprint(bits: target), generation: generation,
      began: Date(timeIntervalSinceReferenceDate: began))
  }
}

extension MigrationMarker {
  /// The marker of a transaction's state, whose header says that there is one.
  static func read(
    _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> MigrationMarker {
    let bytes = try reader.entry(StoreFormat.migrationKey, in: arbor)
    guard let marker = MigrationMarker(bytes) else {
      throw .corrupted(what: "The entry \(StoreFormat.migrationKey) is damaged.")
    }
    return marker
  }
}
