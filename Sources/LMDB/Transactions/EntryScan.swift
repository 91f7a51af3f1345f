package import CArborBits

/// A scan over a database with integer keys, many entries at a time.
///
/// A reader's scan goes from page to page in the map and has the next page on its way to the
/// processor while the entries of one are used; asking the engine for each entry would cost as much
/// as all that is done with it. What only the engine can read, and what a writer has changed,
/// it is asked for.
///
/// Entries are valid as those of the transaction are, which the scan must not outlive.
package struct EntryScan: ~Copyable {
  private let reader: TransactionReader
  private let database: Database
  private var pages: MappedScan?
  private var cursor: Cursor?
  /// Where to go on; nil behind the last possible key.
  private var nextKey: UInt64?

  /// A scan from the first entry whose key is `start` or above.
  init(_ reader: TransactionReader, _ database: Database, from start: UInt64) {
    self.reader = reader
    self.database = database
    nextKey = start
    pages = reader.tree(of: database, isForScan: true).flatMap { MappedScan($0, from: start) }
  }

  /// The next entries, as many as there is room for; fewer at the end.
  ///
  /// - Parameter entries: Uninitialised room; the first ones are initialised.
  /// - Returns: How many entries there are.
  package mutating func next(
    into entries: UnsafeMutableBufferPointer<NumberedEntry>
  ) throws(LMDBError) -> Int {
    guard !entries.isEmpty else { return 0 }
    var count = 0
    if pages != nil {
      let end = pages?.next(into: entries, &count)
      if count > 0 { note(entries[count - 1]) }
      if end == .roomOrEntries { return count }
      // From here on the engine is asked.
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
  /// A scan over a database with integer keys, from the first entry on whose key is `start` or
  /// above. It must not outlive the transaction.
  package func scan(_ database: Database, from start: UInt64) -> EntryScan {
    EntryScan(self, database, from: start)
  }
}

/// An integer key, and where its value lies in the map: the form in which checksums of many records
/// are compared at once. Values are aligned to 2 bytes only.
package typealias NumberedEntry = arbor_record

extension NumberedEntry {
  @inline(__always)
  init(key: UInt64, value: UnsafeRawBufferPointer) {
    self.init(key: key, base: value.baseAddress, count: value.count)
  }

  package var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}
