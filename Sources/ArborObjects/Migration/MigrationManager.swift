internal import ArborModel
internal import ArborStore

/// An object that gives the code of a ``MigrationStep`` access to both sides of a migration: the
/// store before the migration, read-only and with its old names, and the migrated store.
///
/// Objects on both sides are plain ``ManagedObject``s, regardless of the classes of the program.
/// Access their values and relationships by name, and fetch others with ``oldContext`` and
/// ``newContext``. Properties that keep their names, are marked as renamed or are converted without
/// code already have their values in the new objects. The new side doesn't enforce rules that old
/// objects may violate: mandatory attributes without a default may be `nil`, and new uniqueness
/// constraints, as well as those of converted values, are checked at the end.
///
/// Each call of ``migrate(_:_:)``, ``forEach(_:_:)`` and ``deleteAll(_:)`` writes its changes in
/// batches. After an interruption the closure runs again: completed calls are skipped, and the
/// interrupted one continues after its last batch. The closure must therefore make its calls in the
/// same order each time. Changes outside of these calls are repeated, and discarded if they were
/// already written.
///
/// Valid only while the closure runs.
///
/// ## Topics
/// ### Objects
/// - ``migrate(_:_:)``
/// - ``forEach(_:_:)``
/// - ``object(for:)``
/// - ``insert(_:)``
/// - ``insertOrFetch(_:where:equals:)``
/// - ``deleteAll(_:)``
/// - ``rename(entity:to:)``
/// ### Both sides
/// - ``oldContext``
/// - ``newContext``
/// ### Progress
/// - ``progress``
/// - ``checkCancellation()``
public final class MigrationManager {
  /// A context of the store before the migration, which is read-only.
  public let oldContext: ManagedObjectContext
  /// A context of the migrated store. The migration commits it; code must not.
  public let newContext: ManagedObjectContext
  /// The progress of the migration.
  public internal(set) var progress: MigrationProgress
  let models: StagedModels
  let batches: MigrationStep.Batches
  let report: (MigrationProgress) -> Void
  /// The progress that is stored with the next commit of the copy.
  var journal: MigrationJournal
  var calls = 0
  /// The rename requested by the code, for which the copy must be recreated, or `nil`.
  var wantedRename: (former: String, new: String)?
  var existing: [ExistingKey: ObjectID] = [:]

  struct ExistingKey: Hashable {
    let entity: String
    let property: String
    let value: PropertyValue
  }

  init(
    _ old: PersistentStore, _ new: PersistentStore, _ models: StagedModels,
    _ journal: MigrationJournal, _ batches: MigrationStep.Batches, _ progress: MigrationProgress,
    _ report: @escaping (MigrationProgress) -> Void
  ) {
    oldContext = old.makeContext()
    newContext = new.makeContext()
    self.models = models
    self.journal = journal
    self.batches = batches
    self.progress = progress
    self.report = report
  }
}
