import ArborData
import Testing

/// A change of the model that existing objects prevent, and the remedies.
struct Obstructed: Sendable, CustomTestStringConvertible {
  typealias Fill = LossyChange.Fill

  let testDescription: String
  let former: @Sendable () throws -> ManagedObjectModel
  let newer: @Sendable () throws -> ManagedObjectModel
  let fill: Fill
  /// The property that the refusal names.
  let property: String?
  /// Corrects the objects with the former model; `nil` if that is not possible.
  var fix: Fill?
  /// Corrects an object in a migration step.
  var step: @Sendable (_ old: ManagedObject, _ new: ManagedObject) throws -> Void = { _, _ in }

  private static func notes(
    _ type: AttributeType, _ options: AttributeOption...
  ) -> @Sendable () throws -> ManagedObjectModel {
    {
      try ManagedObjectModel {
        EntityDescription("Note") { AttributeDescription("code", type, options: options) }
      }
    }
  }

  private static func note(_ value: PropertyValue) -> Fill {
    { try $0.insert("Note")["code"] = value }
  }

  private static func change(_ value: PropertyValue) -> Fill {
    { context in try context.fetch("Note")[0]["code"] = value }
  }

  private static func doors(_ door: RelationshipDescription, _ key: RelationshipDescription? = nil)
    -> @Sendable () throws -> ManagedObjectModel
  {
    {
      ManagedObjectModel(entities: [
        EntityDescription(name: "Key", relationships: [door]),
        EntityDescription(name: "Door", relationships: key.map { [$0] } ?? []),
      ])
    }
  }

  static let all: [Obstructed] = [
    Obstructed(
      testDescription: "a mandatory attribute is added",
      former: { ManagedObjectModel(entities: [EntityDescription(name: "Note")]) },
      newer: notes(.string), fill: { _ = try $0.insert("Note") }, property: "code",
      step: { $1["code"] = "x" }),
    Obstructed(
      testDescription: "an attribute becomes mandatory", former: notes(.string, .optional),
      newer: notes(.string), fill: note(.null), property: "code", fix: change("x"),
      step: { $1["code"] = "x" }),
    Obstructed(
      testDescription: "a number is too large", former: notes(.integer64, .optional),
      newer: notes(.integer16, .optional), fill: note(100_000), property: "code", fix: change(7),
      step: { $1["code"] = 7 }),
    Obstructed(
      testDescription: "an attribute becomes unique", former: notes(.string, .optional),
      newer: notes(.string, .optional, .unique),
      fill: { for _ in 0..<2 { try $0.insert("Note")["code"] = "same" } }, property: "code",
      fix: change("x"), step: { $1["code"] = "\($0.objectID.number)" }),
    Obstructed(
      testDescription: "a relationship becomes to-one",
      former: doors(RelationshipDescription(name: "doors", destination: "Door", isToMany: true)),
      newer: doors(RelationshipDescription(name: "doors", destination: "Door")),
      fill: { try $0.insert("Key")["doors"] = [try $0.insert("Door"), try $0.insert("Door")] },
      property: "doors", fix: { try $0.fetch("Key")[0]["doors"] = [try $0.fetch("Door")[0]] }),
    Obstructed(
      testDescription: "an inverse is to-one",
      former: doors(RelationshipDescription(name: "door", destination: "Door")),
      newer: doors(
        RelationshipDescription(name: "door", destination: "Door", inverse: "key"),
        RelationshipDescription(name: "key", destination: "Key", inverse: "door")),
      fill: { context in
        let door = try context.insert("Door")
        for _ in 0..<2 { try context.insert("Key")["door"] = door }
      }, property: "door", fix: { try $0.fetch("Key")[0]["door"] = nil as ManagedObject? }),
    Obstructed(
      testDescription: "an entity becomes abstract",
      former: {
        try ManagedObjectModel {
          EntityDescription("Note") { AttributeDescription("code", .string, .optional) }
          EntityDescription("Memo", parent: "Note") {}
        }
      },
      newer: {
        try ManagedObjectModel {
          EntityDescription("Note", isAbstract: true) {
            AttributeDescription("code", .string, .optional)
          }
          EntityDescription("Memo", parent: "Note") {}
        }
      }, fill: note("x"), property: nil, fix: { $0.delete(try $0.fetch("Note")[0]) }),
  ]
}
