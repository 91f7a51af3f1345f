internal import LMDB

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
