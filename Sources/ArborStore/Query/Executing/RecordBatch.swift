internal import ArborModel
internal import CArborBits
internal import LMDB

/// A batch of scanned records of one entity, whose checksums are verified together.
///
/// A checksum is a chain of dependent steps. Verified one by one between the work on each record,
/// checksums take as long as the rest of the scan. In a loop of their own, the processor overlaps
/// several of them and needs a third of the time.
///
/// The entries belong to the scan's transaction. A batch must not outlive the memory it was created
/// in.
struct RecordBatch {
  private let records: UnsafeMutableBufferPointer<NumberedEntry>
  private let entity: UInt16
  private let seed: UInt32
  private(set) var count = 0
  /// One bit per record, set if its checksum is valid.
  private var intact: UInt64 = 0

  /// The maximum number of records: one per bit.
  static let capacity = 64

  /// Calls `body` with a batch for the records of an entity.
  static func withBatch<R>(
    of entity: EntitySchema, _ body: (inout RecordBatch) throws -> R
  ) rethrows -> R {
    try withUnsafeTemporaryAllocation(of: NumberedEntry.self, capacity: capacity) { records in
      var batch = RecordBatch(records: records, layout: entity.layout)
      return try body(&batch)
    }
  }

  private init(records: UnsafeMutableBufferPointer<NumberedEntry>, layout: RecordLayout) {
    self.records = records
    (entity, seed) = (layout.entity, layout.seed)
  }

  /// Reads up to `most` further records. Returns whether there may be more.
  mutating func read(_ scan: inout EntryScan, atMost most: Int) throws -> Bool {
    count = try scan.next(into: UnsafeMutableBufferPointer(rebasing: records[..<most]))
    intact = arbor_records_intact(records.baseAddress, count, entity, seed)
    return count == most
  }

  /// Throws if a key is not an object number of the entity: a forged key would turn an object of
  /// another class into a row. Keys ascend, so checking the first and last is sufficient.
  func checkKeys() throws(StoreError) {
    guard count > 0, number(0).entity != entity || number(count - 1).entity != entity else {
      return
    }
    let misplaced = number(0).entity != entity ? number(0) : number(count - 1)
    throw .corrupted(
      object: misplaced,
      what: "The object number \(misplaced.rawValue) is stored with the records of another entity.")
  }

  /// Returns the object number of a record.
  @inline(__always)
  func number(_ index: Int) -> ObjectNumber { ObjectNumber(rawValue: records[index].key) }

  /// Returns a record that is known to be undamaged and in the newest layout. Returns `nil` for
  /// others, whose ``bytes(_:)`` have to be examined.
  @inline(__always)
  func record(_ index: Int, _ layout: RecordLayout) -> RecordView? {
    guard let record = intact(index), record.hasForm(of: layout) else { return nil }
    return record
  }

  /// Returns a record in any layout, or `nil` if its checksum is invalid.
  @inline(__always)
  func intact(_ index: Int) -> RecordView? {
    guard intact >> UInt64(index) & 1 == 1, let base = records[index].base else { return nil }
    return RecordView(base: base, count: records[index].count)
  }

  /// Returns the stored bytes of a record.
  func bytes(_ index: Int) -> UnsafeRawBufferPointer { records[index].value }
}
