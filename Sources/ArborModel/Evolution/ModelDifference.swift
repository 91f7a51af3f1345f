/// What differs between two models, change by change, and what it takes to bring a store from the
/// one to the other.
///
/// ```swift
/// let difference = store.model.difference(to: model)
/// print(difference)
/// // Employee.wage: renamed from Employee.salary (lightweight)
/// // Employee.wage: the type changes from integer32 to double (lightweight)
/// // Employee.nickname: removed, its values are dropped (lightweight)
/// for loss in difference.losses { print("lost: \(loss.name)") }
/// ```
///
/// Renamed entities and properties are recognised by their renaming identifiers: the identifier,
/// or the name where none exists, of the older model is looked up among those of the newer one,
/// and what has kept its name has not been renamed. What has another name and another identifier is
/// removed and added. A property that moves up or down the hierarchy of entities is moved, with
/// its values.
///
/// ## Topics
/// ### Changes
/// - ``changes``
/// - ``Change``
/// - ``storedChanges``
/// ### The sum
/// - ``classification``
/// - ``losses``
/// - ``isEmpty``
/// ### Chains
/// - ``composed(with:)``
public struct ModelDifference: Sendable {
  /// What all changes together ask of a store, from the least to the most.
  public enum Classification: Sendable, Hashable, Comparable, CaseIterable {
    /// Nothing that is stored changes.
    case nothingStored
    /// The store can be brought along without code.
    case lightweight
    /// The store can be brought along without code, unless present objects break a new rule.
    case lightweightUnlessRulesBreak
    /// Something cannot be brought along without code.
    case custom
  }

  /// What differs: the entities in the order of the newer model, each with its properties and
  /// indexes, then the entities that are removed, then what concerns the whole model.
  public let changes: [Change]
  package let old: ManagedObjectModel
  package let new: ManagedObjectModel
  package let pairing: ModelPairing

  init(_ old: ManagedObjectModel, _ new: ManagedObjectModel, _ pairing: ModelPairing) {
    self.old = old
    self.new = new
    self.pairing = pairing
    var comparison = ModelComparison(old: old, new: new, pairing: pairing)
    changes = comparison.changed()
  }

  /// Whether the models state the same.
  public var isEmpty: Bool { changes.isEmpty }

  /// The changes that stored bytes depend on: those for which fingerprints differ.
  public var storedChanges: [Change] { changes.filter { $0.effort != .none } }

  /// Everything that is dropped, each thing once, in the order of the changes.
  public var losses: [Loss] {
    var seen: Set<Loss> = []
    return changes.compactMap(\.loss).filter { seen.insert($0).inserted }
  }

  /// Whether a store can be brought from the one model to the other without code. Present objects
  /// may break its rules all the same; see ``classification``.
  public var isLightweight: Bool { changes.allSatisfy(\.isLightweight) }

  /// The sum of all changes.
  public var classification: Classification {
    if !isLightweight { return .custom }
    if changes.contains(where: { $0.rule != nil }) { return .lightweightUnlessRulesBreak }
    return changes.contains { $0.effort != .none } ? .lightweight : .nothingStored
  }
}

extension ModelDifference {
  /// The properties of the older model that each attribute and relationship of the newer one
  /// continues; empty for new ones.
  package var origins: [Subject: Set<Subject>] {
    var origins: [Subject: Set<Subject>] = [:]
    func add(_ parts: KeyPath<EntityDescription, [some RenamedPart]>, _ paired: PropertyPairing) {
      for (index, entity) in new.entities.enumerated() {
        for (slot, part) in entity[keyPath: parts].enumerated() {
          let sources = paired.sources(
            of: PropertySlot(entity: index, slot: slot), pairing.entities)
          origins[Subject(entity.name, part.name)] = Set(
            sources.map { source in
              let owner = old.entities[source.entity]
              return Subject(owner.name, owner[keyPath: parts][source.slot].name)
            })
        }
      }
    }
    add(\.attributes, pairing.attributes)
    add(\.relationships, pairing.relationships)
    return origins
  }
}

extension ModelDifference: Hashable {
  /// Whether two differences are between the same models and list the same changes.
  public static func == (left: Self, right: Self) -> Bool {
    left.changes == right.changes && left.old == right.old && left.new == right.new
  }

  /// Feeds the changes into a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(changes) }
}

extension ManagedObjectModel {
  /// What changes from this model to another, newer one.
  ///
  /// - Complexity: Linear in the size of both models; where the hierarchy of entities changes, in
  ///   the number of properties that their entities have, inherited ones included.
  public func difference(to other: ManagedObjectModel) -> ModelDifference {
    ModelDifference(self, other, ModelPairing(from: self, to: other))
  }
}

extension ManagedObjectModel {
  /// Returns what changes from this model to another one.
  ///
  /// - Parameter versions: Versions between the two, the oldest first. They only pair what the two
  ///   models themselves leave unpaired, such as an attribute that was renamed twice: what else
  ///   they contain is passed over.
  package func difference(
    to other: ManagedObjectModel, via versions: [ManagedObjectModel]
  ) -> ModelDifference {
    let direct = ModelPairing(from: self, to: other)
    guard let first = versions.first else { return ModelDifference(self, other, direct) }
    var (last, composed) = (first, ModelPairing(from: self, to: first))
    for model in versions.dropFirst() + [other] {
      composed = composed.composed(with: ModelPairing(from: last, to: model))
      last = model
    }
    return ModelDifference(self, other, direct.filled(from: composed))
  }
}

extension ModelDifference {
  /// The difference from this one's older model to another one's newer model, by way of the model
  /// between them.
  ///
  /// Renames and moves compose: what was renamed twice is renamed from its first name, although the
  /// models at the ends have no identifier in common. What was removed on the way and came back
  /// under the same name is removed and added, since its values are gone in between.
  ///
  /// ```swift
  /// let direct = try first.difference(to: second).composed(with: second.difference(to: third))
  /// ```
  ///
  /// - Parameter next: A difference that starts where this one ends.
  /// - Returns: One difference, of the models at the ends.
  /// - Throws: ``ArborError`` `invalidArgument` where the other one starts from another model.
  /// - Complexity: That of ``ManagedObjectModel/difference(to:)``.
  public func composed(with next: ModelDifference) throws(ArborError) -> ModelDifference {
    guard next.old == new else {
      throw ArborError(
        .invalidArgument,
        "The second difference doesn't start from the model that the first one leads to. Compose "
          + "differences in version order.")
    }
    return ModelDifference(old, next.new, pairing.composed(with: next.pairing))
  }
}
