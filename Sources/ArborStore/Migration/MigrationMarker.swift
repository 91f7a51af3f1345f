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

  package init(plan: UInt128, target: ModelFingerprint, generation: UInt32, began: Date) {
    self.plan = plan
    self.target = target
    self.generation = generation
    self.began = began
  }

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

  /// The marker of a transaction's state, whose header says that there is one.
  static func read(
    _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> MigrationMarker {
    let bytes = try StoreOpener.entry(StoreFormat.migrationKey, reader, arbor)
    guard let marker = MigrationMarker(bytes) else {
      throw .corrupted(
        entity: nil, object: nil, what: "The entry \(StoreFormat.migrationKey) is damaged.")
    }
    return marker
  }
}

extension StoreEngine {
  /// The migration that is under way in a copy of the file; nil where none exists.
  package func migrationMarker() throws(StoreError) -> MigrationMarker? {
    let snapshot = try snapshot()
    defer { snapshot.close() }
    let reader = try snapshot.reader
    guard try StoreHeader.read(reader, databases.arbor, path: path).isBeingMigrated else {
      return nil
    }
    return try MigrationMarker.read(reader, databases.arbor)
  }

  /// Begins a migration in a copy: from now on all commits but those of a store that was opened
  /// with ``StoreOpening/isMigrating`` are refused, in every process. Durable when it returns.
  ///
  /// A copy of the file that is made afterwards has the marker too.
  ///
  /// - Throws: `migrationUnderWay` where another plan's marker is there already; the same one is
  ///   left as it is.
  package func setMigrationMarker(_ marker: MigrationMarker) throws(StoreError) {
    try changeMarker { (transaction, header) throws(StoreError) in
      if header.isBeingMigrated {
        let present = try MigrationMarker.read(transaction.reader, databases.arbor)
        guard present.plan == marker.plan else { throw .migrationUnderWay(present) }
        return
      }
      header.isBeingMigrated = true
      try storing { () throws(LMDBError) in
        try StoreCreation.put(
          StoreFormat.migrationKey, marker.encoded(), databases.arbor, transaction)
      }
    }
  }

  /// Ends a migration in a copy, or gives it up: commits go on. Nothing happens where none is under
  /// way.
  package func removeMigrationMarker() throws(StoreError) {
    try changeMarker { (transaction, header) throws(StoreError) in
      header.isBeingMigrated = false
      try storing { () throws(LMDBError) in
        _ = try transaction.delete(
          databases.arbor, key: Array(StoreFormat.migrationKey.utf8))
      }
    }
  }

  private func changeMarker(
    _ body: (borrowing WriteTransaction, inout HeaderRecord) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard !hasEnded else { throw .closed }
    guard !isReadOnly else { throw .readOnly(path: path) }
    try write(passesMarker: true, body)
    try storing { () throws(LMDBError) in try environment.synchronize() }
  }
}

extension StoreOpener {
  /// Refuses a file that is being migrated in a copy to callers that want to write to it.
  func refuseWhileMigrating(
    _ header: HeaderRecord, _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) {
    guard header.isBeingMigrated, !opening.isReadOnly, !opening.isMigrating else { return }
    throw .migrationUnderWay(try MigrationMarker.read(reader, arbor))
  }

  /// The same of a store that may have been open already.
  func refuseWhileMigrating(_ store: StoreEngine) throws(StoreError) {
    guard !opening.isReadOnly, !opening.isMigrating, !store.isReadOnly,
      let marker = try store.migrationMarker()
    else { return }
    throw .migrationUnderWay(marker)
  }
}
