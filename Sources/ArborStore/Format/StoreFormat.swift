package import LMDB

/// All names and constants of the store's file format.
///
/// A store is one LMDB environment with these databases. The article *Store Format* explains each
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
/// b/<Entity>                   object ‖ property ‖ version ‖ chunk → bytes of a large binary value
/// history                      sequence       → the history entry of the commit
/// log                          sequence       → the commit itself, until all followers have it
/// ```
///
/// Renamed entities, relationships and indexes keep their original databases. The catalog maps
/// them.
///
/// Any change here requires a new format version and an entry in the article's version history.
package enum StoreFormat {
  /// The major format version. A reader rejects files of another major version.
  package static let majorVersion: UInt16 = 5
  /// The minor format version. A reader also reads files of a later minor version.
  package static let minorVersion: UInt16 = 0
  /// The major and minor version as text.
  package static var version: String { "\(majorVersion).\(minorVersion)" }

  /// The maximum number of changed objects to list in the history. Larger commits are recorded
  /// without a list.
  package static let maximumListedChanges = 10_000
  /// The minimum number of commits to keep in the history. There are up to
  /// ``maximumHistoryLength``, because older ones are removed only when commits move from the
  /// header to the history.
  package static let historyLength: UInt64 = 1000
  /// The space for the newest commits after the header, in bytes: one or two dozen commits that
  /// change one object each. It leaves most of the header's page to the rest of its database.
  package static let latestCommitsSize = 512
  /// The minimum size of a history entry: format, flags, date, no changes, checksum.
  package static let leastEntrySize = 15
  /// The maximum number of commits in the history.
  package static let maximumHistoryLength =
    historyLength + UInt64(latestCommitsSize / (leastEntrySize + 1))
  /// The initial distance between the positions of adjacent members of an ordered relationship.
  package static let positionGap: UInt64 = 1 << 32
  /// The minimum size of a binary value that is stored outside its record if the model allows it.
  ///
  /// Measured with 4,096 binary values of this size: a count that examines every record takes 0.06
  /// ms if they are stored outside and 13.7 ms if they are stored inside, because each record is
  /// read in full to verify its checksum. Reading all of them takes the same time, and the file is
  /// a fifth smaller.
  package static let leastBlobSize = 16 << 10
  /// The number of bytes of a large binary value under one key. Together with LMDB's page header,
  /// they fill 64 KiB.
  package static let blobChunkSize = (64 << 10) - 16
}

// MARK: - Databases

extension StoreFormat {
  package static let arborDatabase = "arbor"
  package static let historyDatabase = "history"
  package static let logDatabase = "log"

  /// Returns the name of the database that holds a concrete entity's records.
  package static func recordDatabase(_ stored: String) -> String { "e/\(stored)" }

  /// Returns the name of an index's database.
  package static func indexDatabase(_ stored: String) -> String { "i/\(stored)" }

  /// Returns the name of the database that holds a to-many relationship's members.
  package static func relationshipDatabase(_ stored: String) -> String { "r/\(stored)" }

  /// Returns the name of the database that holds a concrete entity's large binaries. Only entities
  /// with external storage have one.
  package static func blobDatabase(_ stored: String) -> String { "b/\(stored)" }

  /// Returns the name of an ordered relationship's second database, which is ordered by position.
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
  /// The flags of both databases of a relationship, whether values are object numbers or, if it is
  /// ordered, 16 bytes with a position.
  package static let relationshipFlags = DatabaseFlags.integerKey.union(.numberSets)
}

// MARK: - Keys of the unnamed and the `arbor` database

extension StoreFormat {
  /// The key of the header in the unnamed database, and of the mark in the `arbor` database by
  /// which tools recognize a store.
  package static let headerKey = "header"
  /// The key of the digests in the unnamed database, on the header's page, which every commit
  /// writes anyway.
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
  /// The keys of the file's own sharing state, which copies of the file don't inherit.
  static let keysOfFollowers = [followsKey, sharedKey]
  package static let scrubKey = "scrub"
  package static let uniqueIDCounter = "unique-id"

  /// Returns the key of a layout, by the catalog number of its entity and its own number.
  package static func layoutKey(entity: UInt16, layout: UInt16) -> String {
    "layout/\(entity)/\(layout)"
  }

  package static func counterKey(_ name: String) -> String { "counter/\(name)" }

  /// Returns the name of the counter of an entity's object numbers.
  package static func objectCounter(_ entity: UInt16) -> String { "object/\(entity)" }

  package static func applicationKey(_ key: String) -> String { "app/\(key)" }
}
