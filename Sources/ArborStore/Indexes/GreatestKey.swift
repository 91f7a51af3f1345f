internal import LMDB

/// An upper bound of the keys of a database, cached across commits.
///
/// Entries above all others can be appended, which fills pages completely and needs no comparison
/// with stored entries. Finding the last key costs a tree descent, whose result is the same for
/// many commits. The bound stays valid if the greatest key is deleted.
struct GreatestKey {
  private enum Knowledge {
    case unknown
    case noKeys
    case key
  }

  private var knowledge = Knowledge.unknown
  private var bytes: [UInt8] = []

  var isKnown: Bool { knowledge != .unknown }

  mutating func forget() { knowledge = .unknown }

  /// Records the last key of the database, or `nil` if it is empty.
  mutating func note(_ key: UnsafeRawBufferPointer?) {
    knowledge = key == nil ? .noKeys : .key
    bytes.removeAll(keepingCapacity: true)
    if let key { bytes.append(contentsOf: key) }
  }

  /// Returns whether a key is greater than all keys of the database.
  ///
  /// - Precondition: The last key has been recorded.
  @inline(__always)
  func isBefore(_ key: UnsafeRawBufferPointer) -> Bool {
    knowledge == .noKeys || bytes.withUnsafeBytes { $0.isBefore(key) }
  }
}

/// An upper bound of the keys of a database with integer keys, like ``GreatestKey``.
struct GreatestNumber {
  private var known: UInt64?

  mutating func forget() { known = nil }

  /// Records that no key is greater than a number.
  mutating func note(_ number: UInt64) { known = number }

  /// Returns the greatest number, looking it up if necessary. 0 if the database is empty.
  mutating func find(
    in database: Database, _ reader: TransactionReader
  ) throws(LMDBError) -> UInt64 {
    if let known { return known }
    let found = try reader.cursor(database).last()?.integerKey ?? 0
    known = found
    return found
  }
}
