internal import LMDB

/// An upper bound of the keys of a database, remembered from commit to commit.
///
/// Entries above all others can be appended, which fills pages completely and needs no comparison
/// with stored ones. Finding the last key costs a descent of the tree, the same for each of many
/// commits. The bound stays valid when the greatest key is deleted.
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

  /// Records what the database ends with; nil where it is empty.
  mutating func note(_ key: UnsafeRawBufferPointer?) {
    knowledge = key == nil ? .noKeys : .key
    bytes.removeAll(keepingCapacity: true)
    if let key { bytes.append(contentsOf: key) }
  }

  /// Whether a key is above all others.
  ///
  /// - Precondition: It is known what the database ends with.
  @inline(__always)
  func isBefore(_ key: UnsafeRawBufferPointer) -> Bool {
    knowledge == .noKeys || bytes.withUnsafeBytes { $0.isBefore(key) }
  }
}

/// An upper bound of the keys of a database with integer keys, as ``GreatestKey`` is for others.
struct GreatestNumber {
  private var known: UInt64?

  mutating func forget() { known = nil }

  /// Records that no key is above a number.
  mutating func note(_ number: UInt64) { known = number }

  /// The number, looked up where it is unknown; 0 where the database is empty.
  mutating func find(
    in database: Database, _ reader: TransactionReader
  ) throws(LMDBError) -> UInt64 {
    if let known { return known }
    let found = try reader.cursor(database).last()?.integerKey ?? 0
    known = found
    return found
  }
}
