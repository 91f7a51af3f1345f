public import ArborFoundation
public import ArborModel
package import ArborStore

/// Options for opening a store. Data is never erased unless an option explicitly requests it.
///
/// ```swift
/// var options = StoreOptions()
/// options.isReadOnly = true
/// let store = try PersistentStore(model: model, at: .file(url), options: options)
/// ```
public struct StoreOptions: Sendable, Hashable {
  /// The handling of a file that was written with another model and is not migrated.
  public enum MismatchRule: Sendable, Hashable {
    /// Opening throws `modelMismatch`.
    case fail
    /// The file is erased and replaced by an empty store.
    case eraseAndRecreate
  }

  /// The handling of a file that is damaged or not a store.
  public enum CorruptionRule: Sendable, Hashable {
    /// Opening throws `corrupted` or `notAStore`.
    case fail
    /// The file is renamed by appending `.damaged-` and the time, and replaced by an empty store.
    ///
    /// This applies to every regular file that is damaged or not a store, including files of other
    /// programs, and to a store that cannot be recovered because its journal is damaged. The journal
    /// is renamed with the file. Folders, dangling links, and files of a newer format or of LMDB 1.0
    /// are left unchanged, and so is everything if the store is opened read-only or without a model.
    case setAsideAndRecreate
  }

  /// The guarantee a commit waits for before it returns.
  public enum Durability: Sendable, Hashable {
    /// Commits wait for the disk and survive a power loss.
    ///
    /// A process that commits repeatedly waits for the disk only once per commit: after 16 commits in
    /// quick succession, the next ones are first written to a write-ahead journal, `NAME-journal` next
    /// to the file. Half a second after the last commit, or when the store is closed, the file is
    /// complete again, and the journal is removed. As long as it exists, it belongs to the store: move
    /// both files together, only while no process has the store open, and back up with
    /// ``PersistentStore/copy(to:compacting:)``. The first opening for writing after a power loss
    /// recovers the store from it. Meanwhile the store's file grows by up to about 60 MiB, because
    /// pages are reused only after a checkpoint, which runs in the background. In a store that shares a
    /// log, the log has the commits, and the journal only the checkpoint.
    ///
    /// While a commit waits, others can already read its objects. See
    /// ``PersistentStore/waitUntilDurable()``.
    case full
    /// Commits wait for the disk twice, and survive a power loss without a journal. For stores whose
    /// single file is copied by other programs while it is being written, and for those that must not
    /// grow by unused pages.
    ///
    /// A process with this option nevertheless writes to the journal that another process has begun.
    case fullClassic
    /// Commits wait for the operating system. A power loss may undo the last commits but never
    /// affects consistency.
    case relaxed
  }

  /// The extent to which an existing file is verified before it is used.
  public enum Verification: Sendable, Hashable {
    /// Verifies like ``quick``, at the same cost. If the machine was restarted since the last
    /// commit, or the last complete read of the file is older than ``StoreOptions/scrubInterval``,
    /// the file is scrubbed in the background at low priority. If a page is damaged or outdated,
    /// the next operation throws `corrupted`, commits are refused from then on, and
    /// ``PersistentStore/check()`` reports the same. Damage found while opening is located by a
    /// full verification.
    ///
    /// Every other page is verified at its first use in a process: before an index or a
    /// relationship on it is searched, and before it is changed. The lists of free pages are
    /// verified before the first commit; they must not contain a page of records or indexes. A
    /// damaged page causes an error of that operation. Intact but outdated pages and altered index
    /// entries are found only by a scrub or a check.
    case automatic
    /// Verifies every page with ordinary reads before the file is mapped, then every record, index
    /// entry and link, as ``PersistentStore/check()`` does. The time is proportional to the size of
    /// the file, about a second per few hundred megabytes for its pages. Recommended for files of
    /// unknown origin. Continues as ``automatic``.
    case full
    /// Verifies root pages, header and the list of databases, at a cost independent of the store's
    /// size. Every other page is verified at its first use.
    case quick
  }

  /// The time at which indexes over more than 10,000 objects are built after a migration has added
  /// or redefined them.
  ///
  /// They are built in batches that hold the writer lock for about 20 ms each, so that other
  /// processes can read and write in the meantime. See ``PersistentStore/indexBuilds()``. After a
  /// crash or cancellation, the next opening continues after the last batch.
  public enum IndexBuilds: Sendable, Hashable {
    /// While opening the store, which returns when every index is ready.
    ///
    /// Opening throws `notUnique` if objects share values that an index requires to be unique and
    /// that were committed while it was being built. With ``inBackground`` the store can be opened
    /// to change them. ``PersistentStore/revertMigration(_:dropping:)`` restores the old model.
    case beforeOpening
    /// On a low-priority thread while the store is in use. Closing the store stops it.
    ///
    /// Fetches don't use the indexes until they are ready. ``IndexBuild/problem`` names objects
    /// that share values which must be unique. After they have been changed, the next opening
    /// continues the build.
    case inBackground
  }

  /// A Boolean value that indicates whether the store is opened read-only.
  public var isReadOnly = false
  /// A Boolean value that indicates whether the file never changes while it is open. It is then
  /// read without a lock file, and the store is read-only. For read-only media, folders without
  /// write permission, and network file systems.
  ///
  /// Readers are not registered, so other processes cannot know about them. If another process
  /// commits to the file nevertheless, this process may see pages of different states or throw
  /// `corrupted`.
  public var isImmutable = false
  /// The handling of a file with another version of the model.
  public var migration = Migration.automatic
  /// Custom code for model versions whose data cannot be derived from the previous version.
  public var migrationSteps: [MigrationStep] = []
  /// The versions of the model, oldest first. If empty, the versions named by the steps are used.
  ///
  /// A store is migrated directly from its own version to the newest, with intermediate stops only
  /// at versions that a migration step starts or ends with. The list defines the position of a
  /// store's version in that order, and lets steps refer to versions by fingerprint or identifier.
  /// Correspondences that cannot be derived from the two models alone, such as an attribute that
  /// was renamed twice, are derived from the versions in between.
  ///
  /// If the model was changed back to an earlier version, list it again. A store of either version
  /// is treated as one of the later version, because they cannot be distinguished.
  public var modelVersions: [ManagedObjectModel] = []
  /// The versions in the model's file, in the order of their names, which may differ from their
  /// chronological order. Used if ``modelVersions`` is empty.
  package var siblingVersions: [ManagedObjectModel] = []
  /// The plan that a migration must follow, or `nil` for none. Opening throws `modelMismatch` if
  /// the store, the model or the steps differ from those the plan was created with.
  public var migrationPlan: MigrationPlan?
  /// The time at which indexes added by a migration are built.
  public var indexBuilds = IndexBuilds.beforeOpening
  /// The handling of a file that was written with another model and is not migrated.
  public var onMismatch = MismatchRule.fail
  /// The handling of a damaged file.
  public var onCorruption = CorruptionRule.fail
  /// The guarantee a commit waits for.
  public var durability = Durability.full
  /// A Boolean value that indicates whether a store is opened without its journal after the machine
  /// has stopped. Defaults to `false`: opening throws `corrupted`, because the last commits may have
  /// been only in the journal.
  ///
  /// With `true`, the store is opened in the state of its file if that is sound. Commits since the last
  /// checkpoint are lost unless they had reached the file. Applies only to stores that were opened
  /// with ``Durability/full``.
  public var acceptsMissingJournal = false
  /// The journal's size limits, or `nil` for the defaults.
  package var journalLimits: JournalLimits?
  /// The number of bytes of address space to map initially.
  ///
  /// `nil`, the default, maps 1 TiB for each of the first files that a process opens. The more
  /// address space is in use, the smaller the maps of further files are, down to 256 MiB, or less
  /// under a limit such as that of `ulimit -v`, but not below eight times the size of the file. A
  /// map that is full grows to twice its size when no thread of the process reads.
  public var initialMapSize: Int?
  /// The maximum size of the file in bytes, or `nil` for no limit except the engine's.
  ///
  /// A commit that would need more space throws `inputOutput` and changes nothing. The limit is
  /// rounded down to a multiple of 64 KiB. A larger existing file can be read, and committed to as
  /// long as it has free pages.
  public var maximumMapSize: Int?
  /// The maximum time a commit waits for the transactions of other processes, or `nil` for no
  /// limit. Defaults to one minute.
  ///
  /// Only one process at a time can write to a file. Transactions usually take milliseconds, but a
  /// process that is stopped in one, by a debugger or in a frozen container, keeps all others from
  /// writing. After this time, a commit throws `busy`, which names the process, and writes nothing.
  /// A commit whose deadline passes or whose task is cancelled stops waiting earlier. The system
  /// ends the transaction of a process that dies. If a file is opened several times in one process,
  /// the option of the first opening applies. On macOS, commits wait without a limit.
  public var busyTimeout: Duration? = .seconds(60)
  /// A Boolean value that indicates whether closing the store returns unused space to the file
  /// system. This is done if the unused space exceeds 1 MiB and an eighth of the file, the rest is at
  /// most 256 MiB, this process has committed to the file, and it isn't open elsewhere. Closing then
  /// takes up to a few hundred milliseconds. ``PersistentStore/compact()`` can be called at any time
  /// and for any size.
  public var compactsWhenClosed = true
  /// The extent to which an existing file is verified.
  public var verification = Verification.automatic
  /// The time after which a file that was read completely is scrubbed again in the background, at
  /// low priority. `nil` scrubs only if the machine was restarted since the last commit. Defaults
  /// to one week. See ``PersistentStore/scrub(_:)``.
  ///
  /// The scrub starts two seconds after opening, or immediately if the machine was restarted. It
  /// runs with a duty cycle of 50% and stops when the store is closed; the next opening resumes it.
  /// If several processes have the file open, one of them performs the scrub, and another one takes
  /// over if that one exits. A store that is opened read-only cannot record the time of a scrub, so
  /// it is scrubbed at every opening once the interval has passed. With
  /// ``Verification-swift.enum/quick`` there is no scrub. If damage is found, the next operation
  /// throws `corrupted`, commits are refused from then on, and the damage is logged with the label
  /// `ArborData.damage`.
  public var scrubInterval: Duration? = .seconds(7 * 86_400)
  /// Queries that take at least this long are logged. `nil` disables logging. Every lookup of
  /// objects by a request counts as a query: fetches, pages, batches of cursors, counts, existence
  /// checks, aggregates, rows, groups, and the lookups of a query's `update` and `delete`.
  ///
  /// The log label is `ArborData.query`, the level is notice. An entry contains the entity, the
  /// predicates without their values, the plan that was executed, the time spent in the store, the
  /// number of rows, and the index that would have helped; see ``QueryPlan/suggestedIndex``.
  public var slowQueryThreshold: Duration?
  /// Readers of an earlier state that pin more pages than this are logged, and reported by
  /// ``PersistentStore/spaceUsage()``. `nil` disables this. The default of 65,536 pages is 256 MiB
  /// with a page size of 4 KiB.
  ///
  /// Commits check for such readers, at most every ten seconds. The log label is
  /// `ArborData.readers`, the level is warning. A reader is logged again when it pins twice as many
  /// pages.
  public var pinnedPagesThreshold: Int? = 65_536
  /// The locale for `[l]` in predicates and the sort option `localized`, or `nil` for the process's
  /// `Locale.current`. A sort key may specify another one.
  ///
  /// On Linux, `Locale.current` doesn't depend on the environment. It is `en_001` regardless of
  /// `LANG`.
  public var locale: Locale?
  /// An instrument that is notified when commits and fetches begin and end, or `nil`, the default,
  /// for none.
  public var instrument: StoreInstrument?

  /// Creates options with default values.
  public init(
    isReadOnly: Bool = false, migration: Migration = .automatic, onMismatch: MismatchRule = .fail,
    onCorruption: CorruptionRule = .fail, durability: Durability = .full,
    initialMapSize: Int? = nil, maximumMapSize: Int? = nil,
    verification: Verification = .automatic, slowQueryThreshold: Duration? = nil
  ) {
    self.isReadOnly = isReadOnly
    self.migration = migration
    self.onMismatch = onMismatch
    self.onCorruption = onCorruption
    self.durability = durability
    self.initialMapSize = initialMapSize
    self.maximumMapSize = maximumMapSize
    self.verification = verification
    self.slowQueryThreshold = slowQueryThreshold
  }

  /// Returns the options, converted to the type of the store layer.
  func opening(
    _ location: StoreLocation, model: ManagedObjectModel?
  ) throws(ArborError) -> StoreOpening {
    var opening = StoreOpening(try location.stored, model: model)
    opening.isReadOnly = isReadOnly
    opening.isImmutable = isImmutable
    opening.migration = migration.stored
    opening.indexBuilds = indexBuilds == .inBackground ? .inBackground : .beforeOpening
    opening.replacesOtherModels = onMismatch == .eraseAndRecreate
    opening.setsDamagedAside = onCorruption == .setAsideAndRecreate
    opening.isDurable = durability != .relaxed
    opening.isJournaled = durability == .full
    opening.acceptsMissingJournal = acceptsMissingJournal
    if let journalLimits { opening.journalLimits = journalLimits }
    opening.initialMapSize = initialMapSize
    opening.maximumMapSize = maximumMapSize
    opening.busyTimeout = busyTimeout.map { $0 / .seconds(1) }
    opening.checksEveryPage = verification == .full
    opening.looksForDamage = verification != .quick
    opening.scrubInterval = scrubInterval.map { $0 / .seconds(1) }
    return opening
  }
}
