import ArborData
import Foundation
import TestSupport
import Testing

@Suite("Migrations that change the entity hierarchy") struct HierarchyMigrationTests {
  private func attribute(
    _ name: String, _ type: AttributeType = .string, from former: String? = nil
  ) -> AttributeDescription {
    AttributeDescription(name: name, type: type, isOptional: true, renamingIdentifier: former)
  }

  private let id = AttributeDescription(name: "id", type: .integer64)

  /// Returns a model with an abstract item, its subentities note and task, and a list of items.
  private func items() -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Item", isAbstract: true, attributes: [id, attribute("name")],
        relationships: [
          RelationshipDescription(name: "list", destination: "List", inverse: "items")
        ]),
      EntityDescription(name: "Note", parent: "Item", attributes: [attribute("text")]),
      EntityDescription(
        name: "Task", parent: "Item",
        attributes: [attribute("text"), attribute("due", .date)]),
      EntityDescription(
        name: "List", attributes: [id],
        relationships: [
          RelationshipDescription(
            name: "items", destination: "Item", inverse: "list", isToMany: true)
        ]),
    ])
  }

  private func objects() -> PlainObjects {
    var plain = PlainObjects()
    plain.values["List"] = [1: ["id": 1], 2: ["id": 2]]
    plain.links["List"] = [1: ["items": []], 2: ["items": []]]
    for number in Int64(10)..<110 {
      let entity = number.isMultiple(of: 2) ? "Note" : "Task"
      var values: [String: PropertyValue] = [
        "id": .integer(number), "name": .string("name \(number)"),
        "text": .string("text \(number)"),
      ]
      if entity == "Task" {
        values["due"] = .date(Date(timeIntervalSinceReferenceDate: Double(number)))
      }
      plain.values[entity, default: [:]][number] = values
      let list = 1 + number / 2 % 2
      plain.links[entity, default: [:]][number] = ["list": [list]]
      plain.links["List"]?[list]?["items"]?.append(number)
    }
    return plain
  }

  @Test("Attributes move to a parent and to subentities")
  func attributesMoveUpAndDown() throws {
    let store = try EvolvingStore(items(), objects())
    var model = items()
    // One attribute moves up from both subentities and is renamed, another moves down to one of
    // them.
    model.entities[0].attributes = [id, attribute("body", from: "text")]
    model.entities[1].attributes = [attribute("name")]
    model.entities[2].attributes = [attribute("due", .date)]
    let refusal = try store.refusal(of: model)
    #expect(refusal.violations.count == 1)
    #expect(refusal.violations.first?.message.contains("Item.name") == true, "\(refusal)")
    try store.evolve(to: model, dropping: ["Item.name"]) { plain in
      plain.change("Note") { $0["body"] = $0.removeValue(forKey: "text") }
      plain.change("Task") {
        $0["body"] = $0.removeValue(forKey: "text")
        $0["name"] = nil
      }
    }
    // An attribute moves up to an entity whose other subentity lacks it.
    model.entities[0].attributes = [id, attribute("body"), attribute("due", .date)]
    model.entities[1].attributes = [attribute("name")]
    model.entities[2].attributes = []
    try store.evolve(to: model) { plain in plain.change("Note") { $0["due"] = .null } }
  }

  @Test("A lightweight migration cannot remove a subentity with objects that may be linked to")
  func aRemovedSubentityMustHaveNoObjectsThatOthersMayLinkTo() throws {
    let store = try EvolvingStore(items(), objects())
    var model = items()
    model.entities.remove(at: 2)
    let refusal = try store.refusal(
      of: model, StoreOptions(migration: .lightweightOnly(dropping: .everythingRemoved)))
    #expect(
      refusal.violations.map(\.message) == [
        """
        Task: it is removed, but there are 50 objects (Task 1, Task 2, Task 3 and more), to which \
        other objects may link through inherited relationships. Delete them with the former model, \
        or set options.migration to .automatic.
        """
      ])
    try store.change { context, plain in
      for task in try context.fetch(FetchRequest<ManagedObject>(entity: "Task")) {
        context.delete(task)
      }
      plain.values["Task"] = nil
      plain.links["Task"] = nil
      plain.changeLinks("List") { $0["items"]?.removeAll { !$0.isMultiple(of: 2) } }
    }
    try store.evolve(to: model, dropping: ["Task"])
  }

  @Test("An entity becomes concrete and gets a parent")
  func anEntityBecomesConcreteAndGetsAParent() throws {
    let store = try EvolvingStore(items(), objects())
    var model = items()
    model.entities[0].isAbstract = false
    model.entities.append(
      EntityDescription(name: "Thing", isAbstract: true, attributes: [attribute("label")]))
    model.entities[0].parent = "Thing"
    try store.evolve(to: model) { plain in
      plain.change("Note") { $0["label"] = .null }
      plain.change("Task") { $0["label"] = .null }
    }
    try store.change { context, plain in
      let item = try context.insert("Item")
      item["id"] = 5
      item["label"] = "an item"
      plain.values["Item"] = [5: ["id": 5, "label": "an item", "name": .null]]
    }
    let refusal = try store.refusal(
      of: items(), StoreOptions(migration: .automatic(dropping: .everythingRemoved)))
    #expect(
      refusal.violations.map(\.message) == [
        """
        Item becomes abstract, but there is 1 object (Item 1). Delete the objects with the former \
        model, or use a MigrationStep to turn them into objects of a subentity.
        """
      ])
  }

  @Test("Objects that a step left in an entity that becomes abstract later prevent the migration")
  func abstractionAfterAStep() throws {
    func model(_ version: Int) -> ManagedObjectModel {
      var note = EntityDescription(
        name: "Note", isAbstract: version == 3,
        attributes: [
          AttributeDescription(name: "id", type: .integer64),
          AttributeDescription(
            name: "code", type: version == 3 ? .integer16 : .integer64, isOptional: true),
        ])
      if version > 1 { note.attributes.append(attribute("text")) }
      return ManagedObjectModel(entities: [note, EntityDescription(name: "Memo", parent: "Note")])
    }
    var plain = PlainObjects()
    plain.values["Note"] = [1: ["id": 1, "code": 5]]
    let store = try EvolvingStore(model(1), plain)
    var options = StoreOptions()
    options.migrationSteps = [MigrationStep(from: model(1), to: model(2)) { _ in }]
    let refusal = try store.refusal(of: model(3), options, begins: true)
    #expect(
      refusal.violations.map(\.message) == [
        """
        Note becomes abstract, but there is 1 object (Note 1). Delete the objects with the former \
        model, or use a MigrationStep to turn them into objects of a subentity.
        """
      ])
  }

  @Test("Attributes that exchange their names keep their values")
  func attributesThatChangeNamesKeepTheirOwnValues() throws {
    let store = try EvolvingStore(items(), objects())
    var model = items()
    model.entities[0].attributes = [id, attribute("label", from: "name")]
    model.entities[1].attributes = [attribute("name", from: "text")]
    model.entities[1].fetchIndexes = [
      FetchIndexDescription(
        name: "part", elements: [.init("name")], partialIndexPredicate: "name != nil")
    ]
    try store.evolve(to: model) { plain in
      plain.change("Note") {
        ($0["label"], $0["name"]) = ($0["name"], $0["text"])
        $0["text"] = nil
      }
      plain.change("Task") { $0["label"] = $0.removeValue(forKey: "name") }
    }
    model.entities[0].attributes[1].renamingIdentifier = nil
    model.entities[1].attributes[0].renamingIdentifier = nil
    try store.evolve(to: model)
    // The same condition with another attribute.
    model.entities[1].attributes = [
      attribute("name", from: "label"), attribute("text", from: "name"),
    ]
    model.entities[0].attributes = [id]
    model.entities[2].attributes = [
      attribute("text"), attribute("due", .date), attribute("label"),
    ]
    try store.evolve(to: model, dropping: .everythingRemoved) { plain in
      plain.change("Note") {
        ($0["name"], $0["text"]) = ($0["label"], $0["name"])
        $0["label"] = nil
      }
    }
  }

  @Test("Entities can exchange their names")
  func entitiesSwapNames() throws {
    let store = try EvolvingStore(items(), objects())
    var model = items()
    model.entities[1].name = "Task"
    model.entities[1].renamingIdentifier = "Note"
    model.entities[2].name = "Note"
    model.entities[2].renamingIdentifier = "Task"
    try store.evolve(to: model) { plain in
      let (notes, links) = (plain.values["Note"], plain.links["Note"])
      (plain.values["Note"], plain.links["Note"]) = (plain.values["Task"], plain.links["Task"])
      (plain.values["Task"], plain.links["Task"]) = (notes, links)
    }
  }

  @Test("Large binaries follow their attribute")
  func largeBinariesGoWithTheirAttribute() throws {
    func model(_ names: [String]) -> ManagedObjectModel {
      ManagedObjectModel(entities: [
        EntityDescription(
          name: "Photo",
          attributes: [id]
            + names.map {
              AttributeDescription(
                name: $0, type: .binary, isOptional: true, allowsExternalStorage: true)
            })
      ])
    }
    var plain = PlainObjects()
    for number in Int64(1)..<6 {
      plain.values["Photo", default: [:]][number] = [
        "id": .integer(number), "image": .binary(Data(repeating: UInt8(number), count: 100_000)),
        "thumbnail": .binary(Data(repeating: UInt8(number), count: number == 2 ? 20_000 : 10)),
      ]
    }
    let store = try EvolvingStore(model(["image", "thumbnail"]), plain)
    var renamed = model(["picture", "thumbnail"])
    renamed.entities[0].name = "Picture"
    renamed.entities[0].renamingIdentifier = "Photo"
    renamed.entities[0].attributes[1].renamingIdentifier = "image"
    try store.evolve(to: renamed) { plain in
      plain.rename("Photo", to: "Picture")
      plain.change("Picture") { $0["picture"] = $0.removeValue(forKey: "image") }
    }
    var less = model(["thumbnail"])
    less.entities[0].name = "Picture"
    try store.evolve(to: less, dropping: ["Picture.picture"]) { plain in
      plain.change("Picture") { $0["picture"] = nil }
    }
    var none = model([])
    none.entities[0].name = "Picture"
    try store.evolve(to: none, dropping: ["Picture.thumbnail"]) { plain in
      plain.change("Picture") { $0["thumbnail"] = nil }
    }
  }

  @Test("A uniqueness constraint is checked against the migrated values")
  func uniquenessIsValidatedInTheSameTransaction() throws {
    let store = try EvolvingStore(items(), objects())
    var model = items()
    model.entities[0].attributes.append(
      AttributeDescription(name: "code", type: .string, defaultValue: "same"))
    model.entities[0].uniquenessConstraints = [["code"]]
    #expect(try store.refusal(of: model).violations.map(\.keyPath) == ["code"])
    model.entities[0].uniquenessConstraints = [["name"]]
    let fill = { (plain: inout PlainObjects) in
      plain.change("Note") { $0["code"] = "same" }
      plain.change("Task") { $0["code"] = "same" }
    }
    try store.evolve(to: model, fill)
    model.entities[0].attributes[1] = attribute("title", from: "name")
    model.entities[0].uniquenessConstraints = [["title"]]
    try store.evolve(to: model) { plain in
      for entity in ["Note", "Task"] {
        plain.change(entity) { $0["title"] = $0.removeValue(forKey: "name") }
      }
    }
  }

  @Test("A lightweight migration is refused if derived values would become stale")
  func derivedValuesAreNotLeftStale() throws {
    func model(_ type: AttributeType, _ derivation: String?) -> ManagedObjectModel {
      ManagedObjectModel(entities: [
        EntityDescription(
          name: "Line",
          attributes: [
            id, attribute("count", type),
            AttributeDescription(
              name: "double", type: .integer64, isOptional: true, derivation: derivation),
          ])
      ])
    }
    var plain = PlainObjects()
    plain.values["Line"] = [1: ["id": 1, "count": 2]]
    let store = try EvolvingStore(model(.integer16, "count * 2"), plain)
    let message = """
      Line.double: it is derived and stored, but there is 1 object (Line 1). Set options.migration \
      to .automatic, since .lightweightOnly doesn't compute derived attributes.
      """
    let refusal = try store.refusal(
      of: model(.integer64, "count * 2"), StoreOptions(migration: .lightweightOnly))
    #expect(refusal.violations.map(\.message) == [message])
    try store.evolve(to: model(.integer64, nil)) { plain in
      plain.change("Line") { $0["double"] = 4 }
    }
    var none = PlainObjects()
    none.values["Line"] = [:]
    let empty = try EvolvingStore(model(.integer16, "count * 2"), none)
    try empty.evolve(to: model(.integer64, "count * 2"))
  }
}
