package import LMDB

/// An open database of one environment: a small value, valid as long as the environment is open and
/// the database is not deleted.
package struct EngineDatabase: Sendable, Hashable {
  package let base: Database

  @inline(__always)
  package init(_ base: Database) { self.base = base }

  package var name: String { base.name }
  package var handle: UInt32 { base.handle }
  /// Whether a key may have several values.
  package var hasDuplicates: Bool { base.flags.contains(.duplicates) }

  /// The database that holds the names of the others, and the store's header.
  package static let unnamed = EngineDatabase(.unnamed)
}

/// How a database orders its keys and whether a key has several values.
package typealias EngineFlags = DatabaseFlags

extension EngineFlags {
  /// Whether keys are numbers of 8 bytes.
  var hasNumberKeys: Bool { contains(.integerKey) }
  /// Whether values are numbers of 8 bytes.
  var hasNumberValues: Bool { contains(.integerDuplicates) }
}

/// The flags of a store's databases.
extension StoreFormat {
  package static let arborFlags = EngineFlags(rawValue: 0)
  package static let blobFlags = EngineFlags(rawValue: 0)
  package static let recordFlags = EngineFlags.integerKey
  package static let historyFlags = EngineFlags.integerKey
  package static let logFlags = EngineFlags.integerKey
  package static let indexFlags = EngineFlags.numberSets
  package static let relationshipFlags = EngineFlags.integerKey.union(.numberSets)
  /// 16 bytes, two big-endian numbers, ordered byte by byte.
  package static let orderedFlags =
    EngineFlags.integerKey.union(.duplicates).union(.fixedDuplicates)
}

extension DatabaseDigests {
  /// The hash of a database's name, with which the hashes of its entries begin.
  static func seed(of name: String) -> UInt64 { EntryDigest.seed(of: name) }

  /// Brings them in line with what a transaction has changed.
  mutating func apply(_ changes: [EntryDigestChange]) {
    for change in changes { apply(change.seed, change.sum, isCleared: change.isCleared) }
  }
}
