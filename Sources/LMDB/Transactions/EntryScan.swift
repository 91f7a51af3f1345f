package import CArborBits

/// A scan over a database with integer keys, many entries at a time.
///
/// A reader's scan moves from page to page in the map and prefetches the next page while the
/// entries of the current one are used. Asking the engine for each entry would cost as much as
/// processing it. Pages that only the engine can read, and the changes of a writer, are read
/// through the engine.
///
/// Entries are valid as long as those of the transaction, which the scan must not outlive.
package struct EntryScan: ~Copyable {
  private let reader: TransactionReader
  private let database: Database
  private var pages: MappedScan?
  private var cursor: Cursor?
  /// The key to continue at, or `nil` after the greatest possible key.
  private var nextKey: UInt64?

  /// Begins a scan at the first entry whose key is not less than `start`.
  init(_ reader: TransactionReader, _ database: Database, from start: UInt64) {
    self.reader = reader
    self.database = database
    nextKey = start
    pages = reader.tree(of: database, isForScan: true).flatMap { MappedScan($0, from: start) }
  }

  /// Reads the next entries, as many as fit in the buffer. Returns fewer at the end.
  ///
  /// - Parameter entries: An uninitialized buffer, whose first elements are initialized.
  /// - Returns: The number of entries.
  package mutating func next(
    into entries: UnsafeMutableBufferPointer<NumberedEntry>
  ) throws(LMDBError) -> Int {
    guard !entries.isEmpty else { return 0 }
    var count = 0
    if pages != nil {
      let end = pages?.next(into: entries, &count)
      if count > 0 { note(entries[count - 1]) }
      if end == .roomOrEntries { return count }
      // From here on, the engine is used.
      pages = nil
    }
    try askEngine(entries, &count)
    return count
  }

  private mutating func askEngine(
    _ entries: UnsafeMutableBufferPointer<NumberedEntry>, _ count: inout Int
  ) throws(LMDBError) {
    while count < entries.count, let key = nextKey {
      let found: Entry??
      if cursor == nil {
        cursor = try reader.cursor(database)
        found = try cursor?.seek(key)
      } else {
        found = try cursor?.next()
      }
      guard let found = found ?? nil else {
        nextKey = nil
        return
      }
      let entry = NumberedEntry(key: found.integerKey, value: found.value)
      entries.initializeElement(at: count, to: entry)
      count += 1
      note(entry)
    }
  }

  private mutating func note(_ entry: NumberedEntry) {
    nextKey = entry.key == .max ? nil : entry.key + 1
  }
}

extension TransactionReader {
  /// Returns a scan over a database with integer keys, beginning at the first entry whose key is
  /// not less than `start`. It must not outlive the transaction.
  package func scan(_ database: Database, from start: UInt64) -> EntryScan {
    EntryScan(self, database, from: start)
  }
}

/// An integer key and the location of its value in the map: the form in which the checksums of many
/// records are verified at once. Values are only aligned to 2 bytes.
package typealias NumberedEntry = arbor_record

extension NumberedEntry {
  @inline(__always)
  init(key: UInt64, value: UnsafeRawBufferPointer) {
    self.init(key: key, base: value.baseAddress, count: value.count)
  }

  package var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}
