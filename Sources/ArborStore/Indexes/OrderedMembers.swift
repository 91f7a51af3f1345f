package import ArborModel
package import LMDB

/// The members of an ordered relationship, as stored in its two databases.
///
/// ```
/// r/…   owner → member ‖ position      is it a member, and where?
/// o/…   owner → position ‖ member      the members in order
/// ```
///
/// Both halves of a value are big-endian, so that their bytes have the order of the numbers.
package enum OrderedMembers {
  package struct Member: Sendable, Hashable {
    package let member: ObjectNumber
    package let position: UInt64
  }

  static let valueSize = 16

  /// A stored value.
  struct StoredPair: BitwiseCopyable, EntryBytes {
    private let first: UInt64
    private let second: UInt64

    @inline(__always)
    init(_ first: UInt64, _ second: UInt64) {
      (self.first, self.second) = (first.bigEndian, second.bigEndian)
    }

    @inline(__always) var numbers: (UInt64, UInt64) {
      (UInt64(bigEndian: first), UInt64(bigEndian: second))
    }
  }

  /// Returns the members in order.
  package static func read(
    _ reader: TransactionReader, _ order: Database, _ owner: ObjectNumber
  ) throws(LMDBError) -> [Member] {
    var members: [Member] = []
    let cursor = try reader.cursor(order)
    var batch = try cursor.firstBatch(owner.rawValue)
    while let values = batch {
      for value in WholeValues(values, as: StoredPair.self) {
        let (position, member) = value.numbers
        members.append(Member(member: ObjectNumber(rawValue: member), position: position))
      }
      batch = try cursor.nextBatch()
    }
    return members
  }

  /// Returns the position of an object among the members, or `nil` if it is not a member.
  package static func position(
    _ reader: TransactionReader, _ members: Database, _ owner: ObjectNumber, _ member: ObjectNumber
  ) throws(LMDBError) -> UInt64? {
    let cursor = try reader.cursor(members)
    let found = try cursor.seek(owner.rawValue, value: StoredPair(member.rawValue, 0))
    guard let found, found.value.count == valueSize else { return nil }
    let (here, position) = pair(found.value)
    return here == member.rawValue ? position : nil
  }

  /// Calls `body` with the key and the value of a member in each of the two databases.
  static func change(
    _ members: Database, _ order: Database, _ owner: UInt64, _ member: UInt64,
    _ position: UInt64, _ body: (Database, UInt64, StoredPair) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    try body(members, owner, StoredPair(member, position))
    try body(order, owner, StoredPair(position, member))
  }

  /// Returns the two numbers of a value. Returns zeros for a value that is too short, which is
  /// damage that the store check reports.
  @inline(__always)
  static func pair(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
    guard bytes.count >= valueSize else { return (0, 0) }
    return bytes.loadUnaligned(as: StoredPair.self).numbers
  }
}
