internal import ArborStore

/// The progress of a migration.
///
/// ```swift
/// for try await progress in PersistentStore.migrate(url, to: model, options) {
///   bar.fraction = progress.fraction
/// }
/// ```
public struct MigrationProgress: Sendable, Hashable {
  /// A phase of a migration.
  public enum Phase: Sendable, Hashable {
    /// The store is being copied, and the copy's catalog is being changed.
    case preparing
    /// Objects are being converted, by the library or by a step's code.
    case objects
    /// Rules are being checked and indexes filled.
    case finishing
    /// The store has its new model.
    case done
  }

  /// The current phase.
  public internal(set) var phase: Phase = .preparing
  /// The number of the current part of the migration path, starting at 1. Each step with code is a
  /// part, and so is each sequence of versions between two steps.
  public internal(set) var hop: Int
  /// The number of parts of the migration path.
  public let hopCount: Int
  /// The name of the current entity: in the older model while its objects are being converted, and
  /// in the newer one while its indexes are being filled. Otherwise `nil`.
  public internal(set) var entity: String?
  /// The number of the entity's objects that have been processed.
  public internal(set) var objectsDone = 0
  /// The total number of the entity's objects.
  public internal(set) var objectCount = 0

  /// The completed fraction of the current phase, from 0 to 1.
  public var fraction: Double {
    if phase == .done { return 1 }
    return objectCount == 0 ? 0 : Double(objectsDone) / Double(objectCount)
  }
}

extension MigrationProgress {
  /// Creates the progress of filling indexes after a migration. Returns `nil` if there are no
  /// indexes to fill.
  init?(_ builds: [IndexBuildStatus]) {
    guard let build = builds.first(where: { $0.state == .building }) ?? builds.first else {
      return nil
    }
    self.init(
      phase: .finishing, hop: 1, hopCount: 1, entity: build.entity,
      objectsDone: build.objectsDone, objectCount: build.objectCount)
  }
}

extension MigrationProgress: CustomStringConvertible {
  /// A line of text for a log or a terminal.
  public var description: String {
    let part = "part \(hop) of \(hopCount)"
    return switch phase {
    case .preparing: "\(part): preparing the copy"
    case .objects: "\(part): \(entity ?? ""), \(objectsDone) of \(objectCount) objects"
    case .finishing:
      "\(part): checking rules and filling indexes"
        + (entity.map { " of \($0), \(objectsDone) of \(objectCount) objects" } ?? "")
    case .done: "done"
    }
  }
}
