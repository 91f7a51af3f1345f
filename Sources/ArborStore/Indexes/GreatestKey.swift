internal import LMDB

/// A key that none of a database is above, as far as one is known without looking.
///
/// Entries above all others fill pages completely, and need no comparison with what is there. To
/// look where a database ends costs a way through its tree, time and again the same for commits
/// that follow one another.
///
/// What is known is an upper bound: the greatest key may have been deleted since. What is above the
/// bound is above all others in any case.
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

/// A number that none of a database's keys is above, as far as one is known without looking: what
/// ``GreatestKey`` is for keys of bytes.
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
