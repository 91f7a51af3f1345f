import ArborExchange
import ArborJSON
import ArborModel
import ArborObjects
import Foundation
import Testing

/// JSON attributes in imports, seeds, value models and exports: JSON as it is, in both directions.
@Suite("JSON attributes in documents") struct JSONAttributeExchangeTests {
  private static let model = ManagedObjectModel(entities: [
    EntityDescription(
      name: "Place",
      attributes: [
        AttributeDescription("placeID", .integer64), AttributeDescription("data", .json, .optional),
        AttributeDescription("tags", .json, .default([])),
      ], uniquenessConstraints: [["placeID"]])
  ])
  private let store: PersistentStore
  private let context: ManagedObjectContext

  init() throws {
    store = try PersistentStore(model: Self.model, at: .inMemory)
    context = store.makeContext()
  }

  private struct Model: ValueModel, Equatable {
    struct Part: Codable, Equatable { var city = "", marks: Set<Int> = [] }
    static let entityName = "Place"
    static let uniquingKeys: Set<String> = ["placeID"]
    var placeID = 0
    var data: Part?
    var tags: [String] = []
  }

  @Test(
    "Any JSON is imported, and exported in canonical form",
    arguments: [
      (#"{"b":[1,2.50,null,{"c":true}],"a":"é"}"#, #"{"a":"é","b":[1,2.5,null,{"c":true}]}"#),
      ("[]", "[]"), ("{}", "{}"), (#""text""#, #""text""#), ("1e3", "1000"), ("null", "null"),
      ("12345678901234567890.5", "12345678901234567890.5"), (#"{"$value":1}"#, #"{"$value":1}"#),
    ])
  func anyJSON(text: String, exported: String) throws {
    let document = JSONSource.data(Data(#"{"placeID":1,"data":\#(text),"tags":["a","b"]}"#.utf8))
    let place = try #require(try context.importObject(from: document, as: "Place"))
    try context.commit()
    let data = try context.export([place])
    let item = try #require(try JSONValue.parse(data)["seeds"]?[0]?["Place"]?[0])
    #expect((item["data"] ?? .null).text() == exported, "\(item)")
    // Importing the same again changes nothing, and seeding what was exported yields the same.
    _ = try context.importObject(from: document, as: "Place")
    #expect(!context.hasChanges)
    let copy = try PersistentStore(model: Self.model, at: .inMemory).makeContext()
    try copy.seed(from: .data(data))
    let seeded = try #require(try copy.objects("Place").first())
    #expect(try seeded.value(forKey: "data") == place.value(forKey: "data"))
    #expect(try seeded.value(forKey: "tags") == ["a", "b"])
    try store.check()
  }

  @Test("Value models read and write JSON attributes")
  func valueModels() throws {
    let model = Model(placeID: 3, data: .init(city: "Oslo", marks: [3, 1, 2]), tags: ["x"])
    let place = try context.upsert(model)
    try context.commit()
    #expect(try place.value(forKey: "data") == ["city": "Oslo", "marks": [1, 2, 3]])
    #expect(try Model(place) == model)
    try context.upsert(model)
    #expect(!context.hasChanges)
    try place.setValue(["city": 7], forKey: "data")
    let error = try #require(throws: ArborError.self) { try Model(place) }
    #expect(
      error.message.hasPrefix(
        "The attribute's JSON doesn't have the form of Part. Correct the property's type, or use a "
          + "transformer."), "\(error.message)")
    try store.check()
  }

  @Test("Names that a value cannot tell apart are refused, and nothing is written")
  func equivalentNames() throws {
    let error = try #require(throws: ArborError.self) {
      try context.importObject(
        from: "{\"placeID\":1,\"data\":{\"é\":1,\"e\u{301}\":2}}", as: "Place")
    }
    #expect(
      error.message == "An object has the key “é” twice. Remove one of the two members.")
    #expect(!context.hasChanges)
  }

  @Test("JSON that doesn't fit its structure is refused with the place of the part")
  func misfits() throws {
    var model = Self.model
    model.entities[0].attributes[1].shape = [
      "city": .string, "marks": .optional(.list(["name": .string])),
      "level": .optional(.scalar(.integer(bits: 8, isSigned: true))),
      "mood": .optional(.cases(["calm", "wild"])),
    ]
    let store = try PersistentStore(model: model, at: .inMemory)
    let context = store.makeContext()
    let misfits = [
      (#"{"city": 7}"#, "Expected a string for Place.data.city, but found the number 7.", 3),
      (#"{"level": 1}"#, "Expected a string for Place.data.city, but it is missing.", 3),
      (
        "{\"city\": \"a\",\n\"marks\": [{\"name\": \"x\"},\n{\"name\": null}]}",
        "Expected a string for Place.data.marks[1].name, but found null.", 5
      ),
      (
        #"{"city": "a", "level": 128}"#,
        "Expected a whole number of 8 bits for Place.data.level, but found the number 128.", 3
      ),
      (
        #"{"city": "a", "mood": "sad"}"#,
        "Expected one of calm, wild for Place.data.mood, but found the string \"sad\".", 3
      ),
      ("[]", "Expected an object for Place.data, but found a list.", 3),
    ]
    for (text, message, line) in misfits {
      let document = "{\"placeID\": 1,\n\n\"data\": \(text)}"
      let error = try #require(throws: ArborError.self) {
        try context.importObject(from: JSONSource.data(Data(document.utf8)), as: "Place")
      }
      #expect(error.message == message)
      #expect(error.location?.line == line, "\(message)")
      #expect(!context.hasChanges)
    }
    // Members that the structure doesn't name are accepted and kept.
    let document = #"{"placeID": 1, "data": {"city": "a", "other": [1]}}"#
    let place = try #require(
      try context.importObject(from: JSONSource.data(Data(document.utf8)), as: "Place"))
    try context.commit()
    #expect(try place.value(forKey: "data") == ["city": "a", "other": [1]])
    try store.check()
  }
}
