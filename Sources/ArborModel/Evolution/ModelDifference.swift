/// The changes between two models, and the effort of migrating a store from one to the other.
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
/// Renamed entities and properties are matched by renaming identifier. The identifier of a part in
/// the older model (or its name, if it doesn't have one) is looked up among the identifiers in the
/// newer model. A part that kept its name was not renamed. A part whose name and identifier both
/// differ counts as removed, and its replacement as added. A property that moves up or down the
/// entity hierarchy keeps its values.
///
/// ## Topics
/// ### Changes
/// - ``changes``
/// - ``Change``
/// - ``storedChanges``
/// ### Summary
/// - ``classification``
/// - ``losses``
/// - ``isEmpty``
/// ### Composition
/// - ``composed(with:)``
public struct ModelDifference: Sendable {
  /// The overall effort of all changes, in ascending order.
  public enum Classification: Sendable, Hashable, Comparable, CaseIterable {
    /// No stored data changes.
    case nothingStored
    /// The store can be migrated without code.
    case lightweight
    /// The store can be migrated without code, unless existing objects violate a new rule.
    case lightweightUnlessRulesBreak
    /// At least one change requires code.
    case custom
  }

  /// The changes: the entities in the order of the newer model, each with its properties and
  /// indexes; then removed entities; then changes of the model as a whole.
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

  /// A Boolean value that indicates whether the models are equal.
  public var isEmpty: Bool { changes.isEmpty }

  /// The changes that affect stored data, and therefore the fingerprint.
  public var storedChanges: [Change] { changes.filter { $0.effort != .none } }

  /// The distinct losses, in the order of the changes.
  public var losses: [Loss] {
    var seen: Set<Loss> = []
    return changes.compactMap(\.loss).filter { seen.insert($0).inserted }
  }

  /// A Boolean value that indicates whether a store can be migrated without code. Existing objects
  /// may still violate new rules; see ``classification``.
  public var isLightweight: Bool { changes.allSatisfy(\.isLightweight) }

  /// The overall effort of all changes.
  public var classification: Classification {
    if !isLightweight { return .custom }
    if changes.contains(where: { $0.rule != nil }) { return .lightweightUnlessRulesBreak }
    return changes.contains { $0.effort != .none } ? .lightweight : .nothingStored
  }
}

extension ModelDifference {
  /// For each attribute and relationship of the newer model, the properties of the older model
  /// whose data it continues. Empty for new properties.
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

extension ModelDifference {
  /// The attributes of the newer model whose values have to be converted because parts of their
  /// composite types change, with their names in the older model.
  package var convertedComposites: [Subject: String] {
    guard changes.contains(where: { if case .composite = $0.kind { true } else { false } }) else {
      return [:]
    }
    let origins = origins
    var converted: [Subject: String] = [:]
    for entity in new.entities {
      for attribute in entity.attributes where !attribute.isTransient {
        let subject = Subject(entity.name, attribute.name)
        guard case .composite(let name) = attribute.type else { continue }
        for origin in origins[subject] ?? [] {
          guard let former = old.attribute(origin), !former.isTransient,
            former.type == attribute.type,
            CompositeConversion(from: name, of: old, to: name, of: new)?.isIdentity == false
          else { continue }
          converted[subject] = former.name
        }
      }
    }
    return converted
  }
}

extension ManagedObjectModel {
  fileprivate func attribute(_ subject: ModelDifference.Subject) -> AttributeDescription? {
    entity(named: subject.entity)?.attributes.first { $0.name == subject.property }
  }

  /// Returns the stored attributes with values of a composite type, including those that contain it
  /// in other composite types.
  package func attributes(containing composite: String) -> [ModelDifference.Subject] {
    var types: Set<String> = [composite]
    var count = 0
    while count != types.count {
      count = types.count
      for type in composites where type.attributes.contains(where: { $0.isOf(types) }) {
        types.insert(type.name)
      }
    }
    return entities.flatMap { entity in
      entity.attributes.lazy.filter { !$0.isTransient && $0.isOf(types) }.map {
        ModelDifference.Subject(entity.name, $0.name)
      }
    }
  }
}

extension AttributeDescription {
  fileprivate func isOf(_ composites: Set<String>) -> Bool {
    if case .composite(let name) = type { composites.contains(name) } else { false }
  }
}

extension ModelDifference: Hashable {
  /// Returns whether two differences have the same models and the same changes.
  public static func == (left: Self, right: Self) -> Bool {
    left.changes == right.changes && left.old == right.old && left.new == right.new
  }

  /// Hashes the changes.
  public func hash(into hasher: inout Hasher) { hasher.combine(changes) }
}

extension ManagedObjectModel {
  /// Returns the changes from this model to a newer one.
  ///
  /// - Complexity: Linear in the size of both models. If the entity hierarchy changes, linear in
  ///   the number of properties, with inherited ones counted for each entity.
  public func difference(to other: ManagedObjectModel) -> ModelDifference {
    ModelDifference(self, other, ModelPairing(from: self, to: other))
  }
}

extension ManagedObjectModel {
  /// Returns the changes from this model to another one.
  ///
  /// - Parameter versions: Versions between the two, oldest first. They are used only to match
  ///   parts that cannot be matched directly, such as an attribute that was renamed twice.
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
  /// Returns the difference from this difference's older model to the newer model of `next`, by way
  /// of the model between them.
  ///
  /// Renames and moves are composed: a part that was renamed twice counts as renamed from its first
  /// name, even if the outer models have no identifier in common. A part that was removed and later
  /// added under the same name counts as removed and added, because its values were lost in
  /// between.
  ///
  /// ```swift
  /// let direct = try first.difference(to: second).composed(with: second.difference(to: third))
  /// ```
  ///
  /// - Parameter next: A difference that starts where this one ends.
  /// - Returns: The difference between the outer models.
  /// - Throws: ``ArborError`` `invalidArgument` if the other difference starts from another model.
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
