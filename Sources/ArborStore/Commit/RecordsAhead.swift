internal import ArborModel
internal import LMDB

/// The stored records of a few changes at a time, located before the first of them is read.
///
/// They are scattered in memory. Located and prefetched together, they are loaded in parallel.
struct RecordsAhead {
  private static let maximumCount = 16

  private let reader: TransactionReader
  private let database: Database
  private let last: UInt64
  private var found: [RecordView?] = []
  private var index = 0

  /// - Parameter last: The highest number in the database. Higher numbers need no lookup.
  init(_ reader: TransactionReader, _ database: Database, last: UInt64) {
    self.reader = reader
    self.database = database
    self.last = last
    found.reserveCapacity(Self.maximumCount)
  }

  /// Whether every record that was found has been taken.
  var isEmpty: Bool { index == found.count }

  /// Finds the records of the first changes.
  mutating func find(_ changes: ArraySlice<ChangeSet.RecordChange>) throws(StoreError) {
    found.removeAll(keepingCapacity: true)
    index = 0
    for change in changes.prefix(Self.maximumCount) {
      change.record?.prefetch()
      let isStored = change.number.rawValue <= last
      let record = isStored ? try reader.storedRecord(change.number, in: database) : nil
      record?.prefetch()
      found.append(record)
    }
  }

  /// Returns the stored record of the next change, unverified, or `nil` if it does not exist.
  mutating func next() -> RecordView? {
    defer { index += 1 }
    return found[index]
  }
}

extension TransactionReader {
  /// Returns the record of an object in the map, unverified, or `nil` if it does not exist.
  @inline(__always)
  func storedRecord(
    _ number: ObjectNumber, in database: Database
  ) throws(StoreError) -> RecordView? {
    let found = try storing(get(database, key: number.rawValue))
    guard let found, let base = found.baseAddress else { return nil }
    return RecordView(base: base, count: found.count)
  }

  /// Returns the record of an object, verified and in the newest layout, or `nil` if it does not
  /// exist.
  func record(
    _ number: ObjectNumber, of entity: EntitySchema, in records: Database,
    _ layouts: StoreLayouts, _ allocator: SlabAllocator
  ) throws(StoreError) -> RecordView? {
    guard let stored = try storedRecord(number, in: records) else { return nil }
    return try layouts.verified(stored, of: number, entity: entity, allocator: allocator)
  }
}
