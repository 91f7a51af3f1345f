import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct UpsertRunTests {
  let workshop: ModelWorkshop
  var context: ManagedObjectContext { workshop.context }

  init() throws { workshop = try ModelWorkshop() }

  /// A node identified by its name, with a back reference to its parent.
  private final class Member: ValueModel {
    var name: String
    var group: Int?
    var parent: Member?
    var children: [Member]?
    static let entityName = "Node"
    static let uniquingKeys: Set<String> = ["name"]
    static var backReferences: [AnyKeyPath] { [\Member.parent] }

    init(_ name: String, group: Int? = nil, parent: Member? = nil, children: [Member]? = nil) {
      self.name = name
      self.group = group
      self.parent = parent
      self.children = children
    }
  }

  private func names(_ objects: [ManagedObject]) throws -> Set<String> {
    Set(objects.compactMap { $0["name"] as String? })
  }

  @Test(
    "A passed instance takes precedence over one reached by a back reference",
    arguments: [false, true])
  func whatWasPassedInWinsOverWhatBackReferencesReach(isStored: Bool) throws {
    let original = Member("root", group: 1)
    let children = ["1", "2", "3"].map { Member($0, parent: original) }
    original.children = children
    if isStored {
      try context.upsert(original)
      try context.commit()
    }
    let copy = Member("root", group: 2, children: [children[0], children[2]])
    let object = try context.upsert(copy)
    #expect(object["group"] == 2)
    #expect(try names(object.objects(forKey: "children").fetch()) == ["1", "3"])
    // An instance that only the original refers to is not written.
    #expect(try workshop.all("Node").count == (isStored ? 4 : 3))
    try workshop.finish()
  }

  @Test("A model reached through the root doesn't change the root's relationships")
  func aReachedModelChangesTheRootByNoInverseEither() throws {
    let root = Member("root", group: 1)
    let child = Member("child")
    let outsider = Member("outsider", parent: Member("root", group: 7))
    child.children = [outsider]
    root.children = [child]
    let object = try context.upsert(root)
    #expect(object["group"] == 1)
    #expect(try names(object.objects(forKey: "children").fetch()) == ["child"])
    #expect(try names(workshop.all("Node")) == ["root", "child", "outsider"])
    try workshop.finish()
  }

  @Test("All models that were passed take precedence over reached ones")
  func allModelsThatWerePassedInWin() throws {
    let first = Member("a", group: 1)
    let second = Member("b", group: 2)
    first.children = [Member("b", group: 9)]
    second.parent = Member("a", group: 9, children: [])
    let objects = try context.upsert([first, second])
    #expect(objects.map { $0["group"] as Int } == [1, 2])
    #expect(try objects[1].object(forKey: "parent") === objects[0])
    // If several of the passed instances have the same key, the later ones overwrite the earlier
    // ones.
    try context.upsert([Member("a", group: 3), Member("a", group: 4)])
    #expect(objects[0]["group"] == 4)
    try workshop.finish()
  }

  /// A structure that refers to its banner by the key only.
  private struct Part: ValueModel {
    var title: String
    var banner: Reference?
    static let entityName = "Item"
    static let uniquingKeys: Set<String> = ["title"]
  }
  private struct Reference: ValueModel {
    var id: Int
    var width: Int?
    static let entityName = "Banner"
    static let uniquingKeys: Set<String> = ["id"]
  }
  private struct Whole: ValueModel {
    var id: Int
    var width: Int?
    var children: [Part]
    static let entityName = "Banner"
    static let uniquingKeys: Set<String> = ["id"]
  }

  @Test("A reference of another type to the same object doesn't overwrite it")
  func aReferenceOfAnotherTypeChangesNothing() throws {
    let parts = ["b", "a"].map { Part(title: $0, banner: Reference(id: 1)) }
    let object = try context.upsert(Whole(id: 1, width: 5, children: parts))
    #expect(object["width"] == 5)
    #expect(
      try object.objects(forKey: "children").fetch().map { $0["title"] as String } == ["b", "a"])
    try context.commit()
    // Without the banner's own instance, the reference is written like any other model.
    try context.upsert(Part(title: "c", banner: Reference(id: 1, width: 6)))
    #expect(object["width"] == 6)
    #expect(try object.objects(forKey: "children").count() == 3)
    try workshop.finish()
  }

  @Test("A nil property keeps the default of a new object and clears an existing one")
  func aNewObjectKeepsItsDefaultsWhereAModelIsNil() throws {
    struct Setting: ValueModel {
      var name: String
      var level: Int?
      var note: String?
      static let uniquingKeys: Set<String> = ["name"]
      static let managedTransformers: [String: ManagedTransformer] = [
        "note": .text("a string") {
          $0
        } print: {
          $0
        }
      ]
    }
    let model = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Setting",
        attributes: [
          AttributeDescription(name: "name", type: .string),
          AttributeDescription(
            name: "level", type: .integer64, isOptional: true, defaultValue: .integer(7)),
          AttributeDescription(
            name: "note", type: .string, isOptional: true, defaultValue: .string("none")),
        ])
    ])
    let store = try PersistentStore(model: model, at: .inMemory)
    let context = store.makeContext()
    let object = try context.upsert(Setting(name: "a"))
    #expect(object["level"] == 7 && object["note"] == "none")
    try context.upsert(Setting(name: "b", level: 1, note: "x"))
    // In an existing object, `nil` clears the value.
    try context.upsert(Setting(name: "a"))
    #expect(object["level"] == .null && object["note"] == .null)
    try context.commit()
    try store.check()
  }
}
