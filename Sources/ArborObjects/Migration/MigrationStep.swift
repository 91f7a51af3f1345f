/// Code that migrates a store from one version of its model to another.
///
/// ```swift
/// var options = StoreOptions()
/// options.migrationSteps = [
///   MigrationStep(from: v7, to: v8) { migration in
///     try migration.migrate("Book") { old, new in
///       new["isbn"] = (old["isbn13"] as String?) ?? ""
///       new["author"] = try migration.insertOrFetch(
///         "Author", where: "name", equals: old["authorText"])
///     }
///   }
/// ]
/// ```
///
/// A version is specified by its model, its fingerprint or its version identifier. In the latter
/// two cases, the model must be among ``StoreOptions/modelVersions``. When the code runs, the new
/// objects already have their defaults, and the values and links of properties that keep their
/// names or have renaming identifiers. The code provides the rest.
///
/// The code works in a copy: the store doesn't change until the whole migration is done, and
/// programs can read it in the meantime. After an interruption the code may run a second time. Work
/// written by calls of ``MigrationManager`` isn't repeated; everything else in the closure is.
public struct MigrationStep: Sendable {
  /// The amount of work that a step commits at once.
  public enum Batches: Sendable, Hashable {
    /// This number of objects of the older model, at least 1. An interrupted migration continues
    /// after the last commit.
    case of(Int)
    /// The entire step, which starts over after an interruption and keeps its changes in memory
    /// until the commit. Other readers see the migration as a whole in either case.
    case atomic
  }

  /// The source version.
  public let from: MigrationVersion
  /// The target version.
  public let to: MigrationVersion
  /// The amount of work in one commit.
  public let batches: Batches
  let code: @Sendable (MigrationManager) throws -> Void
  private let identity = Identity()

  private final class Identity: Sendable {}

  /// Creates a step.
  ///
  /// - Parameters:
  ///   - from: The source version.
  ///   - to: The target version.
  ///   - batches: The amount of work in one commit, 1,000 objects by default.
  ///   - code: A closure that migrates the data. An error that it throws ends the migration and
  ///     leaves the store unchanged.
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
  /// Returns whether two values are copies of the same step. Code cannot be compared.
  public static func == (left: Self, right: Self) -> Bool { left.identity === right.identity }

  /// Hashes the step's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}
