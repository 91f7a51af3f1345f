public import ArborModel
public import Foundation

/// What it takes to bring a store to another version of its model, and what stands in the way.
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
/// A plan is made without a change of the store. What it says of objects is as of that moment, and
/// only of the way up to the first code: what code leaves is checked when it has run.
///
/// ## Topics
/// ### The way
/// - ``parts``
/// - ``isInPlace``
/// - ``bytes``
/// - ``objectCounts``
/// ### What is lost, and what is in the way
/// - ``losses``
/// - ``obstacles``
/// - ``brokenRules``
public struct MigrationPlan: Sendable, Hashable {
  /// One part of the way: a step with code, or the versions between two of them at once.
  public struct Part: Sendable, Hashable {
    /// The version that it begins with, by its identifier or fingerprint.
    public let from: String
    /// The version that it leads to.
    public let to: String
    /// Whether a ``MigrationStep`` runs.
    public let runsCode: Bool
    /// What is done, in this order.
    public let steps: [Step]
  }

  /// One thing that is done.
  public struct Step: Sendable, Hashable {
    /// What it is, and for which entity.
    public let title: String
    /// The entity it is done for, by its new name; nil for the whole store.
    public let entity: String?
    /// How many objects it looks at; nil where that is not known, or where it looks at none.
    public let objectCount: Int?
    /// What it is done for.
    public let changes: [ModelDifference.Change]
  }

  /// One thing that stands in the way.
  public struct Obstacle: Sendable, Hashable {
    /// The entity it concerns.
    public let entity: String?
    /// The property it concerns.
    public let property: String?
    /// The first of the objects that it concerns.
    public let objectIDs: [ObjectID]
    /// What it is, which objects it concerns, and each way on.
    public let message: String
  }

  /// The store's file.
  public let url: URL
  /// Whether the store is brought along as it is opened, in one transaction. Otherwise a copy of it
  /// is, which takes its place.
  public let isInPlace: Bool
  /// How many bytes are copied for each part; 0 in place.
  public let bytes: Int
  /// The parts of the way; none where the store is of the model already.
  public let parts: [Part]
  /// How many objects the store has, by entities of its own model.
  public let objectCounts: [String: Int]
  /// What the newer models have no room for, by its name in the version it goes with.
  public let losses: [ModelDifference.Loss]
  /// What stands in the way; opening with the same options throws where there is anything.
  public let obstacles: [Obstacle]
  /// Bounds and patterns that present values break. They stand in nobody's way: a commit that
  /// changes such an object has to mend it.
  public let brokenRules: [Obstacle]
  /// Tells the way from another one.
  let digest: UInt128
}

extension MigrationPlan: CustomStringConvertible {
  /// The numbered steps part by part, what is lost, and what stands in the way.
  public var description: String {
    guard let first = parts.first, let last = parts.last else {
      return "\(url.lastPathComponent) is of the model already."
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
    if !brokenRules.isEmpty { lines.append("Broken, and checked by later commits:") }
    lines += brokenRules.map { "- \($0.message)" }
    if !obstacles.isEmpty { lines.append("In the way:") }
    lines += obstacles.map { "- \($0.message)" }
    return lines.joined(separator: "\n")
  }
}
