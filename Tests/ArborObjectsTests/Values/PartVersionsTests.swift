import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

private enum First {
  struct Place: Codable, Equatable { var city = "Oslo" }
  struct Zip: Codable, Equatable { var code = 1 }
  struct Tree: Codable, Equatable {
    var name = ""
    var parts: [Tree] = []
  }
  struct Home: Codable, Equatable {
    var place = Place()
    var zip: Zip?
  }
}

private enum Second {
  struct Place: Codable, Equatable {
    var city = ""
    var floor: Int?
  }
  struct Zip: Codable, Equatable {
    var code = 1
    var area = 2
  }
  struct Tree: Codable, Equatable {
    var name = ""
    var color: String?
    var parts: [Tree] = []
  }
  struct Home: Codable, Equatable {
    var place = Place()
    var zip: Zip?
  }
  struct Nulled: Codable, Equatable { var city = "" }
}

/// Has members of any name.
private struct Open: Codable, Equatable {
  var name = "n"
  var extra: [String: String] = [:]

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(name: String, extra: [String: String]) { (self.name, self.extra) = (name, extra) }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    name = try container.decode(String.self, forKey: Key(stringValue: "name"))
    for key in container.allKeys where key.stringValue != "name" {
      extra[key.stringValue] = try container.decode(String.self, forKey: key)
    }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: Key(stringValue: "name"))
    for (key, value) in extra { try container.encode(value, forKey: Key(stringValue: key)) }
  }
}

/// Two programs with different versions of a type use one file in turn.
@Suite("Versions of Codable types") struct PartVersionsTests {
  private let folder: TemporaryFolder
  private let location: StoreLocation

  init() throws {
    folder = try TemporaryFolder()
    location = .file(folder.url.appending(path: "things.arbor"))
  }

  private static func model<T: Codable>(
    _ type: T.Type, default standard: T? = nil, _ indexes: [FetchIndexDescription] = []
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDescription(
        name: "Thing", attributes: [AttributeDescription("value", type, default: standard)],
        fetchIndexes: indexes)
    ]).validated()
  }

  /// Runs `body` with the single object of the file, and commits.
  private func use<R>(
    _ model: ManagedObjectModel, _ body: (ManagedObject) throws -> R
  ) throws -> R {
    let store = try PersistentStore(model: model, at: location)
    defer { store.close() }
    let context = store.makeContext()
    let result = try body(try context.objects("Thing").first() ?? context.insert("Thing"))
    try context.commit()
    try store.check()
    return result
  }

  private func value<T: Codable>(_ object: ManagedObject, _ type: T.Type) -> T {
    object._attribute(0)
  }

  @Test("Each program keeps the parts of the other")
  func inTurn() throws {
    let former = try Self.model(First.Place.self)
    let newer = try Self.model(Second.Place.self)
    #expect(former.fingerprint == newer.fingerprint)
    for round in 0..<3 {
      try use(former) { $0._setAttribute(0, First.Place(city: "city \(round)")) }
      try use(newer) { object in
        var place = value(object, Second.Place.self)
        #expect(place == Second.Place(city: "city \(round)", floor: round == 0 ? nil : round - 1))
        place.floor = round
        object._setAttribute(0, place)
      }
      try use(former) { #expect(value($0, First.Place.self).city == "city \(round)") }
    }
    // A program without the type knows the parts of both.
    let store = try PersistentStore(at: location)
    defer { store.close() }
    #expect(
      store.model.entities[0].attributes[0].shape == [
        "city": .string, "floor": .optional(.integer),
      ])
    #expect(try store.makeContext().objects("Thing").filter("value.floor == 2").count() == 1)
  }

  @Test("Unknown parts below a recursive type are kept")
  func recursion() throws {
    let newer = try Self.model(Second.Tree.self)
    try use(newer) {
      $0._setAttribute(
        0, Second.Tree(name: "a", color: "red", parts: [Second.Tree(name: "b", color: "blue")]))
    }
    try use(try Self.model(First.Tree.self)) { object in
      var tree = value(object, First.Tree.self)
      tree.name = "c"
      object._setAttribute(0, tree)
    }
    try use(newer) { object in
      let tree = value(object, Second.Tree.self)
      #expect(tree.name == "c" && tree.color == "red" && tree.parts.first?.color == "blue")
    }
  }

  @Test("A member of any name can be removed")
  func openTypes() throws {
    let model = try Self.model(Open.self)
    try use(model) { $0._setAttribute(0, Open(name: "n", extra: ["a": "1", "b": "2"])) }
    try use(model) { object in
      var open = value(object, Open.self)
      open.extra["a"] = nil
      object._setAttribute(0, open)
      #expect(value(object, Open.self) == Open(name: "n", extra: ["b": "2"]))
    }
  }

  @Test("An index over a part that the type no longer has is dropped, and the store opens")
  func indexOfRemovedPart() throws {
    let index = [FetchIndexDescription("floor", on: "value.floor")]
    let newer = try Self.model(Second.Place.self, default: nil, index)
    try use(newer) { $0._setAttribute(0, Second.Place(city: "a", floor: 3)) }
    for _ in 0..<2 {
      try use(try Self.model(First.Place.self, default: nil, index)) {
        #expect(value($0, First.Place.self).city == "a")
      }
    }
    try use(newer) { #expect(value($0, Second.Place.self).floor == 3) }
  }

  @Test("A part that a value in a missing one requires needs a version of its own")
  func requiredBelowOptional() throws {
    try use(try Self.model(First.Home.self)) {
      $0._setAttribute(0, First.Home(zip: First.Zip()))
    }
    let newer = try Self.model(Second.Home.self)
    let error = try #require(throws: ArborError.self) {
      try PersistentStore(model: newer, at: location)
    }
    #expect(
      error.violations.map(\.message) == [
        "Thing.value: zip.area is added, a whole number. What is part of a value that may be missing "
          + "doesn't distinguish versions of the model, so programs of both could use the store. Give "
          + "the attribute a version hash modifier in the newer model, or the part another name."
      ])
    guard case .file(let url) = location else { return }
    #expect(try PersistentStore.migrationPlan(for: url, to: newer).obstacles.count == 1)
    var version = newer
    version.entities[0].attributes[0].versionHashModifier = "2"
    let refused = try #require(throws: ArborError.self) {
      try PersistentStore(model: version, at: location)
    }
    #expect(
      refused.violations.map(\.message) == [
        "Thing.value: its structure changes, but there is 1 object with other values (Thing 1). In the "
          + "first one, zip.area: expected a whole number, but it is missing. Give what is new a "
          + "default or make it optional, change the objects with the former model, or use a "
          + "MigrationStep to do so."
      ])
  }

  @Test("A default replaces null as well as a missing part")
  func nulls() throws {
    var model = try Self.model(Second.Nulled.self, default: Second.Nulled(city: "Riga"))
    let known = model
    model.entities[0].attributes[0].shape = ["city": .optional(.string)]
    try use(model) { try $0.setValue(["city": .null], forKey: "value") }
    try use(known) { #expect(value($0, Second.Nulled.self).city == "Riga") }
  }
}
