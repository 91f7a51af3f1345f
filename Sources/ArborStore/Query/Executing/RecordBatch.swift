internal import ArborModel
internal import CArborBits
internal import LMDB

/// Some records of a scan over an entity, whose checksums are compared together.
///
/// A checksum is a chain of steps that wait for each other. One after another, with the work on
/// each record between them, they take as long as all the rest of a scan; in a loop of their own
/// the processor takes several at once, in a third of the time.
///
/// The entries are those of the scan's transaction; a batch lives no longer than the room it is in.
struct RecordBatch {
  private let records: UnsafeMutableBufferPointer<NumberedEntry>
  private let entity: UInt16
  private(set) var count = 0
  /// A bit for each record whose checksum is right.
  private var intact: UInt64 = 0

  /// The greatest number of records: there is a bit for each.
  static let capacity = 64

  /// Calls `body` with a batch for the records of an entity.
  static func withBatch<R>(
    of entity: EntitySchema, _ body: (inout RecordBatch) throws -> R
  ) rethrows -> R {
    try withUnsafeTemporaryAllocation(of: NumberedEntry.self, capacity: capacity) { records in
      var batch = RecordBatch(records: records, entity: entity.layout.entity)
      return try body(&batch)
    }
  }

  private init(records: UnsafeMutableBufferPointer<NumberedEntry>, entity: UInt16) {
    self.records = records
    self.entity = entity
  }

  /// Reads so many records on at most; returns whether there may be more behind.
  mutating func read(_ scan: inout EntryScan, atMost most: Int) throws -> Bool {
    count = try scan.next(into: UnsafeMutableBufferPointer(rebasing: records[..<most]))
    intact = arbor_records_intact(records.baseAddress, count, entity)
    return count == most
  }

  /// Refuses keys that are no numbers of the entity's objects: a forged one would make an object of
  /// another class one of the rows. Keys ascend, so that the outer ones tell of all.
  func checkKeys() throws(StoreError) {
    guard count > 0, number(0).entity != entity || number(count - 1).entity != entity else {
      return
    }
    let misplaced = number(0).entity != entity ? number(0) : number(count - 1)
    throw .corrupted(
      object: misplaced,
      what: "The object number \(misplaced.rawValue) is stored with the records of another entity.")
  }

  /// The number of a record's object.
  @inline(__always)
  func number(_ index: Int) -> ObjectNumber { ObjectNumber(rawValue: records[index].key) }

  /// A record of the newest layout that is certainly undamaged; nil for others, which have to be
  /// looked at: ``bytes(_:)``.
  @inline(__always)
  func record(_ index: Int, _ layout: RecordLayout) -> RecordView? {
    guard let record = intact(index), record.hasForm(of: layout) else { return nil }
    return record
  }

  /// A record with the right checksum, in whatever layout.
  @inline(__always)
  func intact(_ index: Int) -> RecordView? {
    guard intact >> UInt64(index) & 1 == 1, let base = records[index].base else { return nil }
    return RecordView(base: base, count: records[index].count)
  }

  /// What is stored.
  func bytes(_ index: Int) -> UnsafeRawBufferPointer { records[index].value }
}
