/// Code that brings a store from one version of its model to another.
///
/// ```swift
/// var options = StoreOptions()
/// options.migrationSteps = [
///   MigrationStep(from: v7, to: v8) { migration in
///     try migration.migrate("Book") { old, new in
///       new["isbn"] = (old["isbn13"] as String?) ?? ""
///       new["author"] = try migration.insertedOrExisting("Author", "name", old["authorText"])
///     }
///   }
/// ]
/// ```
///
/// Versions are named by their models, by their fingerprints or by their version identifiers, of
/// which the latter two have to be among ``StoreOptions/modelVersions``. What stays under its name,
/// or has a renaming identifier, is in the new objects already when the code runs; so are defaults.
/// The code says what becomes of the rest.
///
/// The code works in a copy, so that the store is as it was until the whole migration is done, and
/// for programs that read it meanwhile. It may run a second time after an interruption: what calls
/// of ``MigrationManager`` have written is not done again, everything else in the closure is.
public struct MigrationStep: Sendable {
  /// How much of a step is written at a time.
  public enum Batches: Sendable, Hashable {
    /// So many objects of the older model, at least 1, in one commit. An interrupted migration goes
    /// on behind the last one.
    case of(Int)
    /// Everything in one commit, so that an interrupted step begins anew. Its changes are kept in
    /// memory until then. Others see the migration whole in either case.
    case atomic
  }

  /// The version that the code begins with.
  public let from: MigrationVersion
  /// The version that it leads to.
  public let to: MigrationVersion
  /// How much is written at a time.
  public let batches: Batches
  let code: @Sendable (MigrationManager) throws -> Void
  private let identity = Identity()

  private final class Identity: Sendable {}

  /// Makes a step.
  ///
  /// - Parameters:
  ///   - from: The version that the code begins with.
  ///   - to: The version that it leads to.
  ///   - batches: How much is written at a time; a thousand objects if nothing is said.
  ///   - code: What to do. An error ends the migration, and the store is as it was.
  public init(
    from: some MigrationVersionName, to: some MigrationVersionName,
    batches: Batches = .of(1000), _ code: @escaping @Sendable (MigrationManager) throws -> Void
  ) {
    self.from = from.migrationVersion
    self.to = to.migrationVersion
    self.batches = batches
    self.code = code
  }
}

extension MigrationStep: Hashable {
  /// Whether two values are copies of one step: code cannot be compared.
  public static func == (left: Self, right: Self) -> Bool { left.identity === right.identity }

  /// Feeds the step's identity into a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}
