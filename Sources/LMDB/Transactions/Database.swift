internal import CLMDB

/// The key order of a database, and whether a key can have several values.
@usableFromInline
package struct DatabaseFlags: OptionSet, Sendable, Hashable {
  @usableFromInline
  package let rawValue: UInt32

  @usableFromInline
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  // Combined with unions: an array literal of several flags uses generic code of the standard
  // library, whose first use costs as much as all other work with flags when a store is opened.

  /// Keys are native 64-bit integers, ordered by value.
  package static let integerKey = DatabaseFlags(rawValue: UInt32(MDB_INTEGERKEY))
  /// A key has any number of values, sorted.
  package static let duplicates = DatabaseFlags(rawValue: UInt32(MDB_DUPSORT))
  /// All values have the same size. Requires `duplicates`.
  package static let fixedDuplicates = DatabaseFlags(rawValue: UInt32(MDB_DUPFIXED))
  /// Values are native integers, ordered by value. Requires `fixedDuplicates`.
  package static let integerDuplicates = DatabaseFlags(rawValue: UInt32(MDB_INTEGERDUP))

  /// Keys are ordered from their last byte.
  static let reverseKey = DatabaseFlags(rawValue: UInt32(MDB_REVERSEKEY))
  /// Values are ordered from their last byte. Requires `duplicates`.
  static let reverseDuplicates = DatabaseFlags(rawValue: UInt32(MDB_REVERSEDUP))

  /// Whether keys are ordered bytewise.
  @inline(__always)
  var ordersByBytes: Bool { rawValue & UInt32(MDB_INTEGERKEY | MDB_REVERSEKEY) == 0 }

  /// Sorted sets of numbers per key, as used by indexes and relationships; see ``NumberForm``. With
  /// `integerDuplicates`, the engine would compare numbers of 5 bytes by the first four.
  package static let numberSets = duplicates.union(fixedDuplicates)
}

/// An open named database of one environment: a small value that is valid as long as the
/// environment is open and the database is not deleted.
///
/// A transaction can use the databases that were open when it began. After a database is deleted,
/// its value must not be used again, because LMDB reuses the handle.
@usableFromInline
package struct Database: Sendable, Hashable {
  package let name: String
  package let handle: UInt32
  package let flags: DatabaseFlags
  /// The form of the values of a database of numbers.
  @usableFromInline package private(set) var numbers = NumberForm.wide

  /// Returns the database with another form of numbers.
  package func storing(_ numbers: NumberForm) -> Database {
    var database = self
    database.numbers = numbers
    return database
  }

  /// The unnamed database, which contains the names of the others and may contain other entries. It
  /// is available once a named one is open.
  package static let unnamed = Database(
    name: "", handle: EngineFormat.namesHandle, flags: DatabaseFlags(rawValue: 0))
}
