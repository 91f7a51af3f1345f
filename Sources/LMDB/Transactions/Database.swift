internal import CLMDB

/// How a database orders its keys and whether a key has several values.
package struct DatabaseFlags: OptionSet, Sendable, Hashable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  // Made by unions: a literal of several goes through generic code of the standard library, whose
  // first use costs as much as the rest of an opening's flags together.

  /// Keys are native 64-bit integers, ordered by value.
  package static let integerKey = DatabaseFlags(rawValue: UInt32(MDB_INTEGERKEY))
  /// A key has any number of values, sorted.
  package static let duplicates = DatabaseFlags(rawValue: UInt32(MDB_DUPSORT))
  /// All values of a key have one size; needs `duplicates`.
  package static let fixedDuplicates = DatabaseFlags(rawValue: UInt32(MDB_DUPFIXED))
  /// Values are native 64-bit integers, ordered by value; needs `fixedDuplicates`.
  package static let integerDuplicates = DatabaseFlags(rawValue: UInt32(MDB_INTEGERDUP))

  /// Keys are ordered from their last byte on.
  static let reverseKey = DatabaseFlags(rawValue: UInt32(MDB_REVERSEKEY))
  /// Values are ordered from their last byte on; needs `duplicates`.
  static let reverseDuplicates = DatabaseFlags(rawValue: UInt32(MDB_REVERSEDUP))

  /// Whether keys are ordered as bytes are.
  @inline(__always)
  var ordersByBytes: Bool { rawValue & UInt32(MDB_INTEGERKEY | MDB_REVERSEKEY) == 0 }

  /// Sorted 64-bit numbers under each key: the form of indexes and relationships.
  package static let numberSets = duplicates.union(fixedDuplicates).union(integerDuplicates)
}

/// An open named database of one environment: a small value, valid as long as the environment is
/// open and the database is not deleted.
///
/// A transaction knows the databases that were open when it began. After a database is deleted its
/// value must not be used again: LMDB gives the handle to another name.
package struct Database: Sendable, Hashable {
  package let name: String
  package let handle: UInt32
  package let flags: DatabaseFlags

  /// The unnamed database, which holds the names of the others and may hold entries of its own. It
  /// is there as soon as a named one is open.
  package static let unnamed = Database(
    name: "", handle: EngineFormat.namesHandle, flags: DatabaseFlags(rawValue: 0))
}
