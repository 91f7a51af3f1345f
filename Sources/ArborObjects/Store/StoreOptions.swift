public import ArborModel
internal import ArborStore
public import Foundation

/// How a store is opened. Nothing is ever erased unless an option says so by name.
///
/// ```swift
/// var options = StoreOptions()
/// options.isReadOnly = true
/// let store = try PersistentStore(model: model, at: .file(url), options: options)
/// ```
public struct StoreOptions: Sendable, Hashable {
  /// What happens with a file that was written with another model and is not migrated.
  public enum MismatchRule: Sendable, Hashable {
    /// Opening throws `modelMismatch`.
    case fail
    /// The file is erased, and an empty store takes its place.
    case eraseAndRecreate
  }

  /// What happens with a file that is damaged or no store.
  public enum CorruptionRule: Sendable, Hashable {
    /// Opening throws `corrupted` or `notAStore`.
    case fail
    /// The file is kept beside it under its name with `.damaged-` and the time, and an empty store
    /// takes its place. This goes for every plain file that is damaged or no store, among them
    /// those of other programs; a folder, a link that leads nowhere, and a file of a later format
    /// or of LMDB 1.0 are left alone, and so is everything where the store is opened for reading
    /// or without a model.
    case setAsideAndRecreate
  }

  /// What a commit waits for before it returns.
  public enum Durability: Sendable, Hashable {
    /// The disk: a commit survives power loss.
    case full
    /// The operating system: power loss may take the last commits, never consistency.
    case relaxed
  }

  /// How much of an existing file is looked at before it is used.
  public enum Verification: Sendable, Hashable {
    /// As ``quick``, and no slower. Where the machine was started anew since the last commit, or
    /// the file was last read as a whole longer ago than ``StoreOptions/scrubInterval``, it is
    /// scrubbed behind the open store, at low priority: if a page is damaged or of a former state,
    /// the next operation throws `corrupted`, commits are refused from then on, and
    /// ``PersistentStore/check()`` says the same. Damage met while opening is located by a full
    /// verification.
    ///
    /// Every other page is verified where it is first used, once in a process: before an index or
    /// a relationship is searched there, before a change, and the lists of free pages before the
    /// first commit, which may not name a page that records or indexes are in. A damaged one is an
    /// error of that operation. A page that is sound in itself but out of date, and a changed entry
    /// of an index, are left to the scrub.
    case automatic
    /// Every page by plain reads before anything maps the file, then every record, index entry and
    /// link: the store check. Time in proportion to the file, for its pages some hundred megabytes
    /// in a second; the choice for files of unknown origin. Then as ``automatic``.
    case full
    /// Root pages, header and the list of databases: cost independent of the store's size. Every
    /// other page is verified where it is first used.
    case quick
  }

  /// Who fills the indexes that a migration adds over more than 10,000 objects, or that it makes of
  /// something else.
  ///
  /// They are filled in batches that hold the writer for some ten milliseconds each, so that other
  /// processes read and write meanwhile; see ``PersistentStore/indexBuilds()``. After a crash, and
  /// after a cancellation, the next opening goes on where the last batch ended.
  public enum IndexBuilds: Sendable, Hashable {
    /// Opening the store does, and returns when every index is ready.
    ///
    /// Opening throws `notUnique` where objects share values that an index makes unique and that
    /// were committed while it was filled. With ``inBackground`` the store opens so that they can
    /// be changed; ``PersistentStore/revertMigration(_:dropping:)`` brings the former model back.
    case beforeOpening
    /// A thread of low priority does while the store is in use. Closing the store ends it.
    ///
    /// Fetches do without the indexes until they are ready. Objects that share values which an
    /// index makes unique are named by ``IndexBuild/problem``; when they have been changed, the
    /// next opening goes on.
    case inBackground
  }

  /// Whether the store may only be read.
  public var isReadOnly = false
  /// Whether the file never changes while it is open: it's read without a lock file then, and the
  /// store is read-only. For read-only media, folders that can't be written, and network file
  /// systems.
  ///
  /// Readers are recorded nowhere, so other processes can't know about them. If one commits to the
  /// file nevertheless, this process may see pages of several states, or `corrupted`.
  public var isImmutable = false
  /// What happens with a file of another version of the model.
  public var migration = Migration.automatic
  /// Code for versions of the model whose data does not follow from the former one.
  public var migrationSteps: [MigrationStep] = []
  /// The versions of the model, the oldest first. Empty: the versions that the steps name.
  ///
  /// A store is migrated straight from its own version to the newest, by way of those versions only
  /// that a migration step begins or ends with. The list says where in that order a store's version
  /// is, and lets steps name versions by fingerprint or identifier. What neither model pairs, such
  /// as an attribute that was renamed twice, is found by the versions between.
  ///
  /// If the model came back to what it was, list it again: a store of it is taken for one of the
  /// later version, since nothing tells them apart.
  public var modelVersions: [ManagedObjectModel] = []
  /// The versions in the model's file, in the order of their names, which need not be that of
  /// their age. Used if ``modelVersions`` is empty.
  package var siblingVersions: [ManagedObjectModel] = []
  /// The plan that a migration has to follow; opening throws `modelMismatch` where the store, the
  /// model or the steps are others than it was made with. nil: no plan.
  public var migrationPlan: MigrationPlan?
  /// Who fills the indexes that a migration adds.
  public var indexBuilds = IndexBuilds.beforeOpening
  /// What happens with a file of another model that is not migrated.
  public var onMismatch = MismatchRule.fail
  /// What happens with a damaged file.
  public var onCorruption = CorruptionRule.fail
  /// What a commit waits for.
  public var durability = Durability.full
  /// Bytes of address space that are mapped at first; nil: as much as the system grants, up to 1
  /// TiB.
  public var initialMapSize: Int?
  /// The number of bytes that the file may grow to; `nil` for no limit but the engine's.
  ///
  /// A commit that would need more throws `inputOutput` and changes nothing. The limit is rounded
  /// down to 64 KiB. A file that is larger already can be read, and committed to as long as it has
  /// free pages.
  public var maximumMapSize: Int?
  /// Whether closing the store gives space back that the file does not need, where that is more
  /// than 16 MiB and a quarter of the file, what is left is at most 256 MiB, this process has
  /// committed to the file, and nobody else has it open. It takes some hundred milliseconds then.
  /// ``PersistentStore/compact()`` does it at any time and size.
  public var compactsWhenClosed = true
  /// How much of an existing file is looked at.
  public var verification = Verification.automatic
  /// How long after the file was last read as a whole it is scrubbed again behind the open store,
  /// at low priority; nil for never, unless the machine was started anew since the last commit. A
  /// week by default. See ``PersistentStore/scrub(_:)``.
  ///
  /// The scrub begins two seconds after the opening, works half of the time and ends with the
  /// store; the next opening goes on with it. Of several processes that have the file open one does
  /// it, and another one if that one ends. A store that is opened for reading only is scrubbed
  /// at every opening while the time is over, since it keeps none. With
  /// ``Verification-swift.enum/quick`` it does not run. For what it finds the next operation throws
  /// `corrupted`, commits are refused from then on, and the program's log has it under the label
  /// `ArborData.damage`.
  public var scrubInterval: Duration? = .seconds(7 * 86_400)
  /// From how long on a query is written to the program's log; nil for never. Whatever looks for
  /// objects by a request counts: fetches, pages, batches of cursors, counts, existence,
  /// aggregates, rows, groups, and what `update` and `delete` of a query look for.
  ///
  /// The log's label is `ArborData.query`, its level notice. An entry has the entity, the form of
  /// the conditions without their values, the plan that ran, the time in the store and the number
  /// of rows, and the index that would have served the query; see ``QueryPlan/suggestedIndex``.
  public var slowQueryThreshold: Duration?
  /// More pages than this must not be pinned by a process that reads an earlier state, or the
  /// program's log names it, and so does ``PersistentStore/spaceUsage()``; nil for never. 65,536 pages, as
  /// by default, are 256 MiB where pages have 4 KiB.
  ///
  /// Commits look for such readers, at most every ten seconds. The log's label is
  /// `ArborData.readers`, its level warning; a reader is named again when it pins twice as many.
  public var pinnedPagesThreshold: Int? = 65_536
  /// Whose rules `[l]` in predicates and the sort option `localized` follow; nil for the process's
  /// `Locale.current`. A sort key may name another one.
  ///
  /// On Linux `Locale.current` doesn't depend on the environment: it is `en_001` whatever `LANG`
  /// is.
  public var locale: Locale?
  /// What is told of every commit and fetch as it begins and ends; nil, the default, for nothing.
  public var instrument: StoreInstrument?

  /// Makes the usual options.
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

  /// The options in the store's own words.
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
    opening.isDurable = durability == .full
    opening.initialMapSize = initialMapSize
    opening.maximumMapSize = maximumMapSize
    opening.checksEveryPage = verification == .full
    opening.looksForDamage = verification != .quick
    opening.scrubInterval = scrubInterval.map { $0 / .seconds(1) }
    return opening
  }
}
