package import LMDB

/// Every name and constant that lies in a store's file, in one place.
///
/// A store is one LMDB environment with these databases; the article *Store Format* explains each
/// with worked examples.
///
/// ```
/// (the unnamed one)            header and newest commits · digests · names of the others
/// arbor                        mark · model · model-digest · catalog · layout/<entity>/<n>
///                              · counter/<name> · migration · former · index-builds · log
///                              · follows · shared · scrub · app/<key>
/// e/<Entity>                   object number  → record
/// i/<Entity>/<index>           encoded values → object numbers
/// r/<Entity>/<relationship>    owner          → members
///                              ordered: owner → target ‖ position
/// o/<Entity>/<relationship>    ordered only: owner → position ‖ target
/// b/<Entity>                   object ‖ property ‖ version ‖ chunk → bytes of a large binary
/// history                      sequence       → what the commit did
/// log                          sequence       → the commit itself, until all who follow have it
/// ```
///
/// Entities, relationships and indexes that were renamed keep the databases that they were born
/// with: the catalogue tells which ones.
///
/// Nothing here may change without a new format version and an entry in the article's history of
/// formats.
package enum StoreFormat {
  /// A reader refuses a file of another major version, and reads one of a later minor version.
  package static let majorVersion: UInt16 = 3
  package static let minorVersion: UInt16 = 4
  /// Both, as a person reads them.
  package static var version: String { "\(majorVersion).\(minorVersion)" }

  /// A commit that changes more objects than this is kept in the history without listing them.
  package static let mostListedChanges = 10_000
  /// So many of the newest commits are remembered, and up to ``longestHistory``: those before go
  /// when commits move from behind the header to the history.
  package static let historyLength: UInt64 = 1000
  /// The bytes behind the header that the newest commits may fill: a dozen or two that change an
  /// object each. With them a header leaves most of its page to the rest of its database.
  package static let latestCommitsSize = 512
  /// No entry of the history is shorter: format, flags, date, no changes, checksum.
  package static let leastEntrySize = 15
  /// At most so many commits are remembered.
  package static let longestHistory =
    historyLength + UInt64(latestCommitsSize / (leastEntrySize + 1))
  /// The distance between the positions of two members of an ordered relationship at first.
  package static let positionGap: UInt64 = 1 << 32
  /// A binary of so many bytes is kept outside of its record where the model allows it.
  ///
  /// Measured with 4,096 of this size: a count that looks at every record takes 0.06 ms where they
  /// lie outside and 13.7 ms where they lie inside, since each record has to be read as a whole for
  /// its checksum; to read all of them takes the same time, and the file is smaller by a fifth.
  package static let leastBlobSize = 16 << 10
  /// The bytes of a large binary that lie under one key: with LMDB's page header they fill 64 KiB.
  package static let blobChunkSize = (64 << 10) - 16
}

// MARK: - Databases

extension StoreFormat {
  package static let arborDatabase = "arbor"
  package static let historyDatabase = "history"
  package static let logDatabase = "log"

  /// The records of a concrete entity, by its stored name.
  package static func recordDatabase(_ stored: String) -> String { "e/\(stored)" }

  /// The entries of an index, by its stored name.
  package static func indexDatabase(_ stored: String) -> String { "i/\(stored)" }

  /// The members of a to-many relationship, by its stored name.
  package static func relationshipDatabase(_ stored: String) -> String { "r/\(stored)" }

  /// The large binaries of a concrete entity that has an attribute with external storage, by its
  /// stored name.
  package static func blobDatabase(_ stored: String) -> String { "b/\(stored)" }

  /// The second database of an ordered relationship, by position.
  package static func orderDatabase(_ stored: String) -> String { "o/\(stored)" }
}

// MARK: - Flags of databases

extension StoreFormat {
  package static let arborFlags = DatabaseFlags(rawValue: 0)
  package static let blobFlags = DatabaseFlags(rawValue: 0)
  package static let recordFlags = DatabaseFlags.integerKey
  package static let historyFlags = DatabaseFlags.integerKey
  package static let logFlags = DatabaseFlags.integerKey
  package static let indexFlags = DatabaseFlags.numberSets
  package static let relationshipFlags = DatabaseFlags.integerKey.union(.numberSets)
  /// 16 bytes, two big-endian numbers, ordered byte by byte.
  package static let orderedFlags =
    DatabaseFlags.integerKey.union(.duplicates).union(.fixedDuplicates)
}

// MARK: - Keys of the unnamed and the `arbor` database

extension StoreFormat {
  /// In the unnamed database the header; in the `arbor` database the mark, by which tools recognize
  /// a store.
  package static let headerKey = "header"
  /// In the unnamed database, on the page of the header that every commit writes in any case.
  package static let digestsKey = "header-digests"
  package static let modelKey = "model"
  package static let modelDigestKey = "model-digest"
  package static let catalogKey = "catalog"
  package static let migrationKey = "migration"
  package static let formerKey = "former"
  package static let indexBuildsKey = "index-builds"
  package static let logKey = "log"
  package static let followsKey = "follows"
  package static let sharedKey = "shared"
  /// What says how far the file has a log, which a copy of it for others does not follow.
  static let keysOfFollowers = [followsKey, sharedKey]
  package static let scrubKey = "scrub"
  package static let uniqueIDCounter = "unique-id"

  /// A layout, by the catalogue number of its entity and its own number.
  package static func layoutKey(entity: UInt16, layout: UInt16) -> String {
    "layout/\(entity)/\(layout)"
  }

  package static func counterKey(_ name: String) -> String { "counter/\(name)" }

  /// The counter of an entity's object numbers.
  package static func objectCounter(_ entity: UInt16) -> String { "object/\(entity)" }

  package static func applicationKey(_ key: String) -> String { "app/\(key)" }
}
