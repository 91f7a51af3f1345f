public import ArborModel
internal import ArborStore

/// A notice about the migration of a store to another version of the model, for processes and
/// contexts that have the store open. See ``CommittedChanges/migration``.
///
/// ```swift
/// for await changes in store.changes {
///   if let migration = changes.migration {
///     print(migration)
///     if migration.phase == .completed { return reopen(with: migration.target) }
///   }
/// }
/// ```
public struct MigrationNotice: Sendable, Hashable {
  /// The state of the migration.
  public enum Phase: Sendable, Hashable {
    /// The store is being migrated in a copy: commits to it throw `migrationUnderWay`.
    case began
    /// The migration was abandoned: commits are accepted again.
    case abandoned
    /// The store has the new model: commits throw `modelChanged`. Reopen the store with that model.
    case completed
  }

  /// The data that an open store can still read.
  public enum Reading: Sendable, Hashable {
    /// The current state, restricted to the model with which the store was opened.
    case current
    /// The state before the migration, without later commits.
    case former
    /// No data: fetches throw `modelChanged`.
    case refused
  }

  /// The state of the migration.
  public let phase: Phase
  /// The model with which this process opened the store.
  public let source: ModelFingerprint
  /// The current model of the store, or the target of the migration in progress.
  public let target: ModelFingerprint
  /// The data that this store can still read.
  public let reading: Reading

  /// - Parameter state: The store's model state, or `nil` if the migration in `former` was
  ///   abandoned.
  init(_ state: ModelState?, after former: ModelState?, of engine: StoreEngine) {
    source = engine.modelFingerprint
    target = state?.fingerprint ?? former?.fingerprint ?? source
    switch state?.phase {
    case nil: (phase, reading) = (.abandoned, .current)
    case .isBeingMigrated: (phase, reading) = (.began, .current)
    case .isChanged:
      (phase, reading) = (.completed, state?.isReadable == true ? .current : .refused)
    case .isReplaced: (phase, reading) = (.completed, .former)
    }
  }
}

extension MigrationNotice: CustomStringConvertible {
  /// A description of the event, the operations that are still possible and the remedy.
  public var description: String {
    let models = "from model \(source) to \(target)"
    switch (phase, reading) {
    case (.began, _):
      return "The store is being migrated in a copy, \(models). Until the migration is complete, "
        + "the store can be read but not written."
    case (.abandoned, _):
      return "The migration of the store \(models) was abandoned. The store can be written again."
    case (.completed, .current):
      return "The store was migrated \(models). The store can still be read. Reopen it to write."
    case (.completed, .former):
      return "The store was migrated in a copy, \(models). The open store shows the earlier state. "
        + "Reopen it to see the migrated store."
    case (.completed, .refused):
      return "The store was migrated \(models). Reopen it to read and write."
    }
  }
}
