package import ArborModel
internal import LMDB

/// What a store is opened with.
package struct StoreOpening: Sendable {
  /// Where the store lies.
  package enum Location: Sendable, Hashable {
    /// A file, by its path.
    case file(String)
    /// Memory: the store goes with the last reference to it.
    case inMemory
  }

  /// What to do with a file of another model that can be brought to the given one.
  package enum Migration: Sendable, Hashable {
    /// It is left as it is.
    case refuse
    /// It is brought along, in one transaction. What may be dropped, as `Entity` or
    /// `Entity.property`; nil for everything.
    case lightweight(dropping: Set<String>?)
  }

  /// Who fills the indexes that a migration left unfinished.
  package enum IndexBuilds: Sendable, Hashable {
    /// The opening, before it returns.
    case beforeOpening
    /// A thread behind the open store.
    case inBackground
    /// Nobody.
    case left
  }

  package var location: Location
  /// nil: the model inside the file, which then has to exist. It need not have been checked.
  package var model: ManagedObjectModel?
  package var isReadOnly = false
  /// Whether nobody writes to the file: it is read without a lock file. Implies reading only.
  package var isImmutable = false {
    didSet { if isImmutable { isReadOnly = true } }
  }
  /// Whether a commit survives a loss of power; else that may take the last commits, never
  /// consistency.
  package var isDurable = true
  /// Whether every page is verified before the file is mapped, and then the store checked: every
  /// record, index entry and link. Else every page is verified where it is first used.
  package var checksEveryPage = false
  /// Whether every page is looked at where opening met damage, and the file scrubbed behind the
  /// open store where the last writer may have died with its machine or the last scrub is long ago.
  package var looksForDamage = true
  /// How long after the last complete scrub of the file the next one begins behind the open store,
  /// in seconds; nil for never.
  package var scrubInterval: Double? = 7 * 86_400
  package var migration = Migration.lightweight(dropping: [])
  /// Whether the one who opens the file is the migration that its ``MigrationMarker`` names, which
  /// may write to it.
  package var isMigrating = false
  /// The versions between the file's model and the given one, the oldest first: what was renamed on
  /// the way keeps its data.
  package var versionsBetween: [ManagedObjectModel] = []
  /// Whether the file is the private copy of a staged migration: what is dropped lies in the
  /// original still, and derived values are computed by the code that migrates.
  package var isStaged = false
  package var indexBuilds = IndexBuilds.beforeOpening
  /// Told how far the indexes are that are filled before the opening returns.
  package var onIndexProgress: (@Sendable ([IndexBuildStatus]) -> Void)?
  /// The indexes of entities with more objects are not filled in the transaction of a migration,
  /// but in batches behind it.
  package var mostObjectsIndexedAtOnce = 10_000
  /// So many entries a batch has at most.
  package var largestIndexBatch = 1 << 17
  /// Whether a file that was written with another model, and is not migrated, is made anew.
  package var replacesOtherModels = false
  /// Whether a file that is damaged or no store is kept under another name beside a new one. Files
  /// of a later format or engine, folders and links are left alone.
  package var setsDamagedAside = false
  /// Bytes of address space to map at first; nil: as much as the system grants, up to 1 TiB.
  package var initialMapSize: Int?
  /// Bytes of address space the map may grow to; nil: no bound but the engine's.
  package var maximumMapSize: Int?

  package init(_ location: Location, model: ManagedObjectModel?) {
    self.location = location
    self.model = model
  }
}

extension EnvironmentOptions {
  /// What the options of a store ask for.
  init(_ opening: StoreOpening) {
    self.init()
    isReadOnly = opening.isReadOnly
    isImmutable = opening.isImmutable
    verifiesPages = opening.checksEveryPage
    durability = opening.isDurable ? .full : .relaxed
    if let model = opening.model { additionalDatabases += model.mostDatabases }
    if let size = opening.initialMapSize { initialMapSize = size }
    if let size = opening.maximumMapSize { maximumMapSize = size }
  }

  /// The same for making a store, which is small: the lasting name gets the map that was asked for.
  var forCreation: EnvironmentOptions {
    var options = self
    options.create = true
    options.durability = .full
    options.initialMapSize = min(initialMapSize, 1 << 26)
    return options
  }

  /// For a file that counts only once it is complete, and is synchronized then.
  static var unfinished: EnvironmentOptions {
    var options = EnvironmentOptions()
    options.create = true
    options.durability = .none
    return options
  }
}

extension ManagedObjectModel {
  /// No store has more databases for the entities, properties, and indexes of this model.
  fileprivate var mostDatabases: Int {
    var most = 0
    for entity in entities {
      most += 1 + entity.attributes.count + entity.relationships.count
      most += entity.fetchIndexes.count + entity.uniquenessConstraints.count
    }
    return most
  }
}
