public import ArborFoundation
public import ArborModel

/// The work required to migrate a store to another version of its model, and the obstacles to it.
///
/// ```swift
/// let plan = try PersistentStore.migrationPlan(for: url, to: model)
/// print(plan)
/// guard plan.obstacles.isEmpty else { return }
/// var options = StoreOptions()
/// options.migrationPlan = plan
/// let store = try PersistentStore(model: model, at: .file(url), options: options)
/// ```
///
/// Creating a plan does not change the store. A plan describes the objects at the time of its
/// creation, and only up to the first step with code. The results of code are checked after it has
/// run.
///
/// ## Topics
/// ### The migration path
/// - ``parts``
/// - ``isInPlace``
/// - ``bytes``
/// - ``objectCounts``
/// ### Losses and obstacles
/// - ``losses``
/// - ``obstacles``
/// - ``brokenRules``
public struct MigrationPlan: Sendable, Hashable {
  /// A part of the migration path: a step with code, or all versions between two such steps.
  public struct Part: Sendable, Hashable {
    /// The identifier or fingerprint of the source version.
    public let from: String
    /// The identifier or fingerprint of the target version.
    public let to: String
    /// A Boolean value that indicates whether the part runs a ``MigrationStep``.
    public let runsCode: Bool
    /// The steps in the order of execution.
    public let steps: [Step]
  }

  /// A step of a part.
  public struct Step: Sendable, Hashable {
    /// A title that names the work and its entity.
    public let title: String
    /// The new name of the entity, or `nil` for the whole store.
    public let entity: String?
    /// The number of objects that the step visits, or `nil` if it is unknown or the step visits no
    /// objects.
    public let objectCount: Int?
    /// The changes that require the step.
    public let changes: [ModelDifference.Change]
  }

  /// A reason why the store cannot be migrated.
  public struct Obstacle: Sendable, Hashable {
    /// The affected entity, or `nil` if the obstacle doesn't concern a single entity.
    public let entity: String?
    /// The affected property, or `nil` if the obstacle doesn't concern a single property.
    public let property: String?
    /// The IDs of the first affected objects.
    public let objectIDs: [ObjectID]
    /// A description of the obstacle, the affected objects and the remedies.
    public let message: String
  }

  /// The store's file.
  public let url: URL
  /// A Boolean value that indicates whether the store is migrated in one transaction when it is
  /// opened. Otherwise a copy is migrated and replaces the store.
  public let isInPlace: Bool
  /// The number of bytes copied for each part, or 0 for a migration in place.
  public let bytes: Int
  /// The parts of the migration path. Empty if the store already has the model.
  public let parts: [Part]
  /// The number of objects in the store, keyed by concrete entity of its current model.
  public let objectCounts: [String: Int]
  /// The data that is dropped, with its names in the version that drops it.
  public let losses: [ModelDifference.Loss]
  /// The obstacles. Opening with the same options throws if there are any.
  ///
  /// If a pass restores or computes values, a unique index of them that has folded columns, a
  /// condition, a relationship or a derived attribute is checked only in the copy. Objects that
  /// share its values are not among the obstacles, but opening throws.
  public let obstacles: [Obstacle]
  /// Bounds and patterns that existing values violate. They don't prevent the migration, but a
  /// commit that changes such an object must correct it.
  public let brokenRules: [Obstacle]
  /// A digest that identifies the migration path.
  let digest: UInt128
}

extension MigrationPlan: CustomStringConvertible {
  /// A description of the numbered steps of each part, the losses and the obstacles.
  public var description: String {
    guard let first = parts.first, let last = parts.last else {
      return "\(url.lastPathComponent) already has this model."
    }
    var lines = [
      "\(url.lastPathComponent), from version \(first.from) to \(last.to), "
        + (isInPlace ? "in place:" : "in a copy of \(bytes) bytes:")
    ]
    var number = 0
    for part in parts {
      if parts.count > 1 || part.runsCode {
        lines.append(
          "From \(part.from) to \(part.to)" + (part.runsCode ? " by a step with code:" : ":"))
      }
      for step in part.steps {
        number += 1
        let objects = step.objectCount.map { " (\($0) object\($0 == 1 ? "" : "s"))" } ?? ""
        lines.append("\(number). \(step.title)\(objects):")
        lines += step.changes.map { "   \($0.summary)" }
      }
    }
    if !losses.isEmpty {
      lines.append("Lost: \(losses.map(\.name).joined(separator: ", ")).")
    }
    if !brokenRules.isEmpty {
      lines.append("Rules that existing values violate, and that later commits check:")
    }
    lines += brokenRules.map { "- \($0.message)" }
    if !obstacles.isEmpty { lines.append("Blocked by:") }
    lines += obstacles.map { "- \($0.message)" }
    return lines.joined(separator: "\n")
  }
}
