internal import ArborStore

/// How far a migration has come.
///
/// ```swift
/// for try await progress in PersistentStore.migrate(url, to: model, options) {
///   bar.fraction = progress.fraction
/// }
/// ```
public struct MigrationProgress: Sendable, Hashable {
  /// What a migration is busy with.
  public enum Phase: Sendable, Hashable {
    /// The store is copied, and the copy's catalogue changed.
    case preparing
    /// Objects are passed over, by the library or by a step's code.
    case objects
    /// Rules are checked and indexes filled.
    case finishing
    /// The store is of its new model.
    case done
  }

  /// What the migration is busy with.
  public internal(set) var phase: Phase = .preparing
  /// Which part of the way it is on, from 1: one for each step with code, and one for each run of
  /// versions between them.
  public internal(set) var hop: Int
  /// How many parts the way has.
  public let hopCount: Int
  /// The entity whose objects are passed over, by its name in the older model, or whose indexes are
  /// filled, by its name in the newer one; nil between.
  public internal(set) var entity: String?
  /// How many of its objects have been.
  public internal(set) var objectsDone = 0
  /// How many it has.
  public internal(set) var objectCount = 0

  /// The part of the present phase that is done, from 0 to 1.
  public var fraction: Double {
    if phase == .done { return 1 }
    return objectCount == 0 ? 0 : Double(objectsDone) / Double(objectCount)
  }
}

extension MigrationProgress {
  /// Progress of filling indexes behind a migration; nil where there is nothing to fill.
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
  /// One line.
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
