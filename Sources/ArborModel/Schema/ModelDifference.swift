/// What differs between two models, and what it takes to bring a store from the one to the other.
///
/// ```swift
/// for change in store.model.difference(to: model).changes { print(change) }
/// // Employee.salary: its type changes from integer32 to double (lightweight)
/// ```
public struct ModelDifference: Sendable, Hashable {
  /// One thing that differs.
  public struct Change: Sendable, Hashable {
    /// How far a change reaches.
    public enum Effect: Sendable, Hashable, Comparable {
      /// Nothing stored depends on it.
      case none
      /// What is stored can be brought along without being told how.
      case lightweight
      /// What is stored cannot be brought along without code that says how.
      case custom
    }

    /// The entity that changes, by its new name where it has one.
    public let entity: String?
    /// The property that changes, by its new name where it has one.
    public let property: String?
    /// What changes, in words.
    public let summary: String
    /// How far the change reaches.
    public let effect: Effect

    /// Whether a store needs no code to be brought along.
    public var isLightweight: Bool { effect != .custom }
  }

  /// What differs, entity by entity.
  public let changes: [Change]

  /// Whether the models say the same.
  public var isEmpty: Bool { changes.isEmpty }

  /// The changes that stored bytes depend on: those for which fingerprints differ.
  public var storedChanges: [Change] { changes.filter { $0.effect != .none } }

  /// Whether a store can be brought from the one model to the other without code.
  public var isLightweight: Bool { changes.allSatisfy(\.isLightweight) }
}

extension ModelDifference: CustomStringConvertible {
  /// Each change on a line of its own.
  public var description: String { changes.map(\.description).joined(separator: "\n") }
}

extension ModelDifference.Change: CustomStringConvertible {
  /// `Entity.property: summary (effect)`.
  public var description: String {
    let subject = [entity, property].compactMap { $0 }.joined(separator: ".")
    let effect =
      switch effect {
      case .none: ""
      case .lightweight: " (lightweight)"
      case .custom: " (needs a migration in code)"
      }
    return (subject.isEmpty ? "" : "\(subject): ") + summary + effect
  }
}

extension ManagedObjectModel {
  /// What changes from this model to another, newer one.
  ///
  /// Renamed entities and properties are found by the newer model's renaming identifiers; what has
  /// another name and no such identifier is one thing less and one more.
  ///
  /// - Complexity: Linear in the size of both models.
  public func difference(to other: ManagedObjectModel) -> ModelDifference {
    var comparison = ModelComparison(old: self, new: other)
    comparison.compare()
    return ModelDifference(changes: comparison.changes)
  }
}
