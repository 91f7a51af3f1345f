internal import ArborModel
internal import ArborStore

/// What the code of a ``MigrationStep`` works with: the store as it was, read-only and by its old
/// names, and the store as it becomes.
///
/// Objects of both sides are plain ``ManagedObject``s, whatever classes the program has, with their
/// values, relationships and fetches by name; ``oldContext`` and ``newContext`` fetch more. The new
/// side has no rule yet that old objects may break: mandatory attributes without a default may be
/// nil; new uniqueness, and that of values which passes convert, is checked at the end. What keeps
/// its name or is marked as renamed, and what passes of the library convert, is in the new objects
/// already.
///
/// Each call of ``migrate(_:_:)``, ``forEach(_:_:)`` and ``deleteAll(_:)`` writes its changes in
/// batches. After an interruption the closure runs again: calls that were done are passed over, and
/// the one that was not goes on behind its last batch. So the calls have to come in the same order
/// each time, and what the closure does outside of them is done again and, where it was written,
/// thrown away again.
///
/// A value of this class is used where the closure is, and is of no use behind it.
///
/// ## Topics
/// ### Objects
/// - ``migrate(_:_:)``
/// - ``forEach(_:_:)``
/// - ``object(for:)``
/// - ``insert(_:)``
/// - ``insertedOrExisting(_:_:_:)``
/// - ``deleteAll(_:)``
/// - ``rename(entity:to:)``
/// ### Both sides
/// - ``oldContext``
/// - ``newContext``
/// ### The way
/// - ``progress``
/// - ``checkCancellation()``
public final class MigrationManager {
  /// The store as it was, which can only be read.
  public let oldContext: ManagedObjectContext
  /// The store as it becomes. The migration commits it; code does not.
  public let newContext: ManagedObjectContext
  /// How far the migration has come.
  public internal(set) var progress: MigrationProgress
  let models: StagedModels
  let batches: MigrationStep.Batches
  let report: (MigrationProgress) -> Void
  /// What the copy says of the work at its last commit.
  var journal: MigrationJournal
  var calls = 0
  /// A rename that code asked for, for which the copy has to be made anew.
  var wantedRename: (former: String, new: String)?
  var existing: [ExistingKey: ObjectID] = [:]

  struct ExistingKey: Hashable {
    let entity: String
    let property: String
    let value: Value
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
