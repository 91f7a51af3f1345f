public import ArborModel
internal import ArborStore

/// What somebody who has a store open is told of a migration to another version of its model. See
/// ``CommittedChanges/migration``.
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
  /// How far the migration is.
  public enum Phase: Sendable, Hashable {
    /// The store is being migrated in a copy: commits to it throw `migrationUnderWay`.
    case began
    /// The migration was given up: commits go on.
    case abandoned
    /// The store has the other model: commits throw `modelChanged`. Open it again, with that model.
    case completed
  }

  /// What the store, as it is open here, can still read.
  public enum Reading: Sendable, Hashable {
    /// Everything that its model knows, as of now.
    case current
    /// The state before the migration; what is committed later is not seen.
    case former
    /// Nothing: fetches throw `modelChanged`.
    case refused
  }

  /// How far the migration is.
  public let phase: Phase
  /// The model that the store was opened with here.
  public let source: ModelFingerprint
  /// The model that the store has now, or is being brought to.
  public let target: ModelFingerprint
  /// What can still be read here.
  public let reading: Reading

  /// - Parameter state: nil where the migration that `former` is of has been given up.
  init(_ state: ModelState?, after former: ModelState?, of file: StoreEngine) {
    source = file.modelFingerprint
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
  /// What happens, what goes on here, and what to do.
  public var description: String {
    let models = "from model \(source) to \(target)"
    switch (phase, reading) {
    case (.began, _):
      return "The store is being migrated in a copy, \(models). It can be read meanwhile, and not "
        + "be written to."
    case (.abandoned, _):
      return "The migration of the store \(models) was given up. It can be written to again."
    case (.completed, .current):
      return "The store was migrated \(models). It can be read on; open it again to write to it."
    case (.completed, .former):
      return "The store was migrated in a copy, \(models). What is open here is the state before; "
        + "open it again."
    case (.completed, .refused):
      return "The store was migrated \(models). Open it again to read it and to write to it."
    }
  }
}
