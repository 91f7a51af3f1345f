package import ArborModel
internal import LMDB

/// The options for opening a store.
package struct StoreOpening: Sendable {
  package enum Location: Sendable, Hashable {
    /// A file, by its path.
    case file(String)
    /// Memory. The store is removed with the last reference to it.
    case inMemory
  }

  /// The handling of a file with another model that can be migrated to the given one.
  package enum Migration: Sendable, Hashable {
    /// The file is not migrated.
    case refuse
    /// The file is migrated in one transaction. The associated value names the data that may be
    /// dropped, as `Entity` or `Entity.property`; `nil` permits everything.
    case lightweight(dropping: Set<String>?)
  }

  /// The time at which indexes that a migration left unfinished are built.
  package enum IndexBuilds: Sendable, Hashable {
    /// Before the opening returns.
    case beforeOpening
    /// On a background thread of the open store.
    case inBackground
    /// Not by this opening.
    case left
  }

  package var location: Location
  /// The model, which need not be validated, or `nil` to use the model in the file, which must
  /// exist.
  package var model: ManagedObjectModel?
  package var isReadOnly = false
  /// Whether the file is never written, so that it can be read without a lock file. Implies
  /// read-only.
  package var isImmutable = false {
    didSet { if isImmutable { isReadOnly = true } }
  }
  /// Whether commits survive power loss. Otherwise power loss may lose the last commits, but leaves
  /// the store consistent.
  package var isDurable = true
  /// Whether durable commits are written to a journal; see ``StoreJournal``.
  package var isJournaled = false
  package var journalLimits = JournalLimits()
  /// Whether a file may be opened without its journal after the machine has stopped.
  package var acceptsMissingJournal = false
  /// Whether commits that the file lacks after a power failure are applied from the log that it
  /// shares.
  package var continuesSharing = false
  /// Whether the file is opened to replay its journal.
  var isRecovering = false
  /// Whether to verify every page before the file is mapped, and then check the whole store: every
  /// record, index entry and link. Otherwise every page is verified at its first use.
  package var checksEveryPage = false
  /// Whether to verify every page if opening finds damage, and to scrub the file in the background
  /// if the last writer may have died with its machine or the last scrub was long ago.
  package var looksForDamage = true
  /// The interval between scrubs in the background, in seconds. `nil` to scrub only if the file has
  /// not been written since the machine booted.
  package var scrubInterval: Double? = 7 * 86_400
  package var migration = Migration.lightweight(dropping: [])
  /// Whether the file is opened by the migration of its ``MigrationMarker``, which may write to it.
  package var isMigrating = false
  /// The model versions between the file's and the given one, oldest first, so that data that was
  /// renamed along the way is kept.
  package var versionsBetween: [ManagedObjectModel] = []
  /// Whether the file is the private copy of a staged migration: dropped data is still in the
  /// original, and derived values are computed by the migrating code.
  package var isStaged = false
  package var indexBuilds = IndexBuilds.beforeOpening
  /// A closure that is called with the progress of indexes that are built before the opening
  /// returns.
  package var onIndexProgress: (@Sendable ([IndexBuildStatus]) -> Void)?
  /// The maximum number of objects of an index that is filled in the transaction of a migration.
  /// Indexes of more objects are filled in batches after it.
  package var maximumObjectsIndexedAtOnce = 10_000
  /// The maximum number of entries per batch.
  package var largestIndexBatch = 1 << 17
  /// Whether to recreate a file that was written with another model and is not migrated.
  package var replacesOtherModels = false
  /// Whether to rename a file that is damaged or not a store, and create a new one in its place.
  /// Files of a later format or version of LMDB, folders and links are left unchanged.
  package var setsDamagedAside = false
  /// The initial map size in bytes of address space, or `nil` for a size in proportion to the file
  /// and to the free address space, up to 1 TiB or eight times the file.
  package var initialMapSize: Int?
  /// The maximum map size in bytes of address space, or `nil` for LMDB's limit.
  package var maximumMapSize: Int?
  /// The time that a commit waits for the transaction of another process, in seconds, or `nil` for
  /// no limit.
  package var busyTimeout: Double? = 60

  package init(_ location: Location, model: ManagedObjectModel?) {
    self.location = location
    self.model = model
  }

  /// The journal of the store to open.
  var journal: StoreJournal {
    StoreJournal(
      isRecovering ? .recovers : isJournaled && isDurable ? .starts : .joins, journalLimits)
  }
}

extension EnvironmentOptions {
  /// Creates the environment options for a store.
  init(_ opening: StoreOpening) {
    self.init()
    isReadOnly = opening.isReadOnly
    isImmutable = opening.isImmutable
    verifiesPages = opening.checksEveryPage
    durability = opening.isDurable ? .full : .relaxed
    if let model = opening.model {
      // Other processes and the log add few to those of the model.
      additionalDatabases = 128 + model.maximumDatabaseCount
    }
    initialMapSize = opening.initialMapSize
    if let size = opening.maximumMapSize { maximumMapSize = size }
    busyTimeout = opening.busyTimeout
  }

  /// The options for creating a store, with a small map. The requested map size is used when the
  /// store is opened under its final name.
  var forCreation: EnvironmentOptions {
    var options = self
    options.create = true
    options.durability = .full
    options.initialMapSize = min(initialMapSize ?? .max, 1 << 26)
    return options
  }

  /// The options for a file that is only used once it is complete and has been synced.
  static var unfinished: EnvironmentOptions {
    var options = EnvironmentOptions()
    options.create = true
    options.durability = .none
    return options
  }
}

extension ManagedObjectModel {
  /// The maximum number of databases for the entities, properties, and indexes of this model.
  fileprivate var maximumDatabaseCount: Int {
    var most = 0
    for entity in entities {
      // Records and large binaries; an ordered relationship and a hidden inverse of it.
      most += 2 + entity.attributes.count + 3 * entity.relationships.count
      most += entity.fetchIndexes.count + entity.uniquenessConstraints.count
    }
    return most
  }
}
