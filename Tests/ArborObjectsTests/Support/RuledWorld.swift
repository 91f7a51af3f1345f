import ArborModel
import ArborObjects
import Foundation
import TestSupport

/// A model with every delete rule, mandatory relationships and limited numbers of members, and a
/// naive check of its rules.
///
/// ```
/// Box   ─ cards ▷ nullify   ◁ owner (mandatory) ─ Card
///       ─ pins  ▷ deny      ◁ holder            ─ Pin     pins ◁ deny, many-to-many ▷ tags ─ Tag
///       ─ tabs  ▷ cascade   ◁ owner (mandatory) ─ Tab
///       ─ notes ▷ no action ◁ owner             ─ Note
///       ─ items ▷ ordered, cascade, 1...3 ◁ box ─ Item
///       ─ parts ▷ cascade   ◁ whole             ─ Box
/// Desk  ─ person            ◁ desk (mandatory)  ─ Person
///       ─ lock (cascade)    ◁ desk              ─ Lock
/// Team  ─ players ▷ 1...2, many-to-many ◁ teams ─ Person
/// ```
enum RuledWorld {
  /// The relationships of the model.
  static let relationships: [(entity: String, description: RelationshipDescription)] = [
    ("Box", .init("cards", to: "Card", inverse: "owner", .toMany)),
    ("Card", .init("owner", to: "Box", inverse: "cards", .mandatory)),
    ("Box", .init("pins", to: "Pin", inverse: "holder", .toMany, deleteRule: .deny)),
    ("Pin", .init("holder", to: "Box", inverse: "pins")),
    ("Pin", .init("tags", to: "Tag", inverse: "pins", .toMany)),
    ("Tag", .init("pins", to: "Pin", inverse: "tags", .toMany, deleteRule: .deny)),
    ("Box", .init("tabs", to: "Tab", inverse: "owner", .toMany, deleteRule: .cascade)),
    ("Tab", .init("owner", to: "Box", inverse: "tabs", .mandatory)),
    ("Box", .init("notes", to: "Note", inverse: "owner", .toMany, deleteRule: .noAction)),
    ("Note", .init("owner", to: "Box", inverse: "notes")),
    (
      "Box",
      .init(
        "items", to: "Item", inverse: "box", .toMany, .ordered, .mandatory, .count(1...3),
        deleteRule: .cascade)
    ),
    ("Item", .init("box", to: "Box", inverse: "items")),
    ("Box", .init("parts", to: "Box", inverse: "whole", .toMany, deleteRule: .cascade)),
    ("Box", .init("whole", to: "Box", inverse: "parts")),
    ("Desk", .init("person", to: "Person", inverse: "desk")),
    ("Person", .init("desk", to: "Desk", inverse: "person", .mandatory)),
    ("Desk", .init("lock", to: "Lock", inverse: "desk", deleteRule: .cascade)),
    ("Lock", .init("desk", to: "Desk", inverse: "lock")),
    ("Team", .init("players", to: "Person", inverse: "teams", .toMany, .mandatory, .count(1...2))),
    ("Person", .init("teams", to: "Team", inverse: "players", .toMany)),
  ]

  static let entities = [
    "Box", "Card", "Pin", "Tag", "Tab", "Note", "Item", "Desk", "Person", "Lock", "Team",
  ]

  static func relationships(of entity: String) -> [RelationshipDescription] {
    relationships.filter { $0.entity == entity }.map(\.description)
  }

  /// - Parameter isLax: Whether the model has no rules, so that its stores may break those of the
  ///   other one.
  static func model(isLax: Bool = false) -> ManagedObjectModel {
    ManagedObjectModel(
      entities: entities.map { entity in
        EntityDescription(
          name: entity,
          attributes: [
            AttributeDescription(name: "n", type: .integer32, isOptional: true)
          ],
          relationships: relationships(of: entity).map { strict in
            var description = strict
            guard isLax else { return description }
            description.isOptional = true
            (description.minimumCount, description.maximumCount) = (0, 0)
            description.deleteRule = .nullify
            return description
          })
      })
  }

  // MARK: State

  /// The objects and links of a context.
  struct State: Equatable {
    /// The targets of each relationship of each object.
    var targets: [ObjectID: [String: [ObjectID]]] = [:]

    init(_ context: ManagedObjectContext) throws {
      for entity in entities {
        for object in try context.fetch(entity) {
          var targets: [String: [ObjectID]] = [:]
          for relationship in relationships(of: entity) {
            targets[relationship.name] = try RuledWorld.targets(of: object, relationship.name)
          }
          self.targets[object.objectID] = targets
        }
      }
    }

    /// Returns the first rule of the model that the state breaks, or `nil` if it keeps all of them.
    func brokenRule() -> String? {
      for (id, targets) in targets {
        for relationship in relationships(of: id.entityName) {
          let found = targets[relationship.name] ?? []
          let subject = "\(id.entityName) \(id.number).\(relationship.name)"
          if !relationship.isToMany, !relationship.isOptional, found.isEmpty {
            return "\(subject) is nil"
          }
          if relationship.isToMany {
            let isTooFew = found.count < relationship.minimumCount
            let isTooMany =
              relationship.maximumCount > 0 && found.count > relationship.maximumCount
            let isAllowed = found.isEmpty && relationship.isOptional
            if isTooFew && !isAllowed || isTooMany {
              return "\(subject) has \(found.count) members"
            }
          }
          for target in found {
            guard let others = self.targets[target] else { return "\(subject) dangles" }
            guard others[relationship.inverse ?? ""]?.contains(id) == true else {
              return "\(subject) and its inverse disagree"
            }
          }
        }
      }
      return nil
    }
  }

  static func targets(of object: ManagedObject, _ name: String) throws -> [ObjectID] {
    switch try object.value(forKey: name) {
    case .objectID(let id): [id]
    case .list(let values):
      values.compactMap { if case .objectID(let id) = $0 { id } else { nil } }
    default: []
    }
  }

  // MARK: Delete rules

  /// The objects that a commit is about to delete, with the members that their delete rules concern.
  struct Deletions {
    /// The members that must not exist after the commit if the deleted object doesn't: those that
    /// forbid the deletion or are deleted with it, unless the context has moved them elsewhere.
    private var bound: [(deleted: ObjectID, member: ObjectID, relationship: String)] = []

    /// - Parameter stored: The state in the store before the commit.
    init(of context: ManagedObjectContext, over stored: State) throws {
      let updated = Dictionary(
        uniqueKeysWithValues: context.updatedObjects.map { ($0.objectID, $0) })
      try self.init(of: Set(context.deletedObjects.map(\.objectID)), over: stored) {
        (deleted, member, inverse) in
        guard let object = updated[member] else { return false }
        return try !RuledWorld.targets(of: object, inverse).contains(deleted)
      }
    }

    /// - Parameter isMoved: A closure that returns whether a member's relationship of the given name
    ///   was changed before the deletion.
    init(
      of deleted: Set<ObjectID>, over stored: State,
      _ isMoved: (_ deleted: ObjectID, _ member: ObjectID, _ inverse: String) throws -> Bool
    ) throws {
      for object in deleted {
        for relationship in relationships(of: object.entityName)
        where [.deny, .cascade].contains(relationship.deleteRule) {
          let members = stored.targets[object]?[relationship.name] ?? []
          for member in members where !deleted.contains(member) {
            if try isMoved(object, member, relationship.inverse ?? "") { continue }
            bound.append((object, member, relationship.name))
          }
        }
      }
    }

    /// Returns the first delete rule that a committed state breaks, or `nil` if it keeps all of them.
    func brokenRule(in state: State) -> String? {
      for (deleted, member, relationship) in bound
      where state.targets[deleted] == nil && state.targets[member] != nil {
        return "\(deleted.entityName) \(deleted.number) is deleted in spite of its \(relationship)"
      }
      return nil
    }
  }
}
