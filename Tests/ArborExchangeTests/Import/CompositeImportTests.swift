import ArborExchange
import ArborJSON
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Importing objects into composite attributes.
@Suite struct CompositeImportTests {
  private let store: PersistentStore
  private let context: ManagedObjectContext

  init() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("name", .string)
        AttributeDescription("home", .composite("Address"), .optional)
      }
      CompositeDescription("Address") {
        AttributeDescription("city", .string)
        AttributeDescription("number", .integer16, .optional)
        AttributeDescription("place", .composite("Place"), .optional)
      }
      CompositeDescription("Place") {
        AttributeDescription("latitude", .double)
        AttributeDescription("longitude", .double)
      }
    }
    store = try PersistentStore(model: model, at: .inMemory)
    context = store.makeContext()
  }

  @Test("The parts of a composite attribute are imported, at any depth")
  func partsAreImported() throws {
    let person = try #require(
      try context.importObject(
        from: [
          "name": "Ada",
          "home": [
            "city": "London", "number": 12, "place": ["latitude": 51.5, "longitude": -0.1],
          ],
        ], as: "Person"))
    #expect(try person.value(forKeyPath: "home.city") == "London")
    #expect(try person.value(forKeyPath: "home.number") == 12)
    #expect(try person.value(forKeyPath: "home.place.latitude") == 51.5)
    try context.commit()
    #expect(try context.count("Person", matching: "home.place.longitude < 0") == 1)
    try store.check()
  }

  @Test(
    "The error for an invalid composite value names the part",
    arguments: [
      (
        #"{"home": 3}"#, "$.home",
        "Expected an object with the parts of Person.home, but found a number."
      ),
      (
        #"{"home": {"citi": "London"}}"#, "$.home.citi",
        "Address has no part “citi”. Remove or correct it. Did you mean city?"
      ),
      (
        #"{"home": {"city": "London", "number": "first"}}"#, "$.home.number",
        "Expected an integer from -32768 to 32767 for Person.home.number, but found a string."
      ),
      (
        #"{"home": {"city": "London", "place": {"lat": 1}}}"#, "$.home.place.lat",
        "Place has no part “lat”. Remove or correct it."
      ),
    ])
  func invalidParts(json: String, path: String, message: String) throws {
    let error = try #require(throws: ArborError.self) {
      try context.importObject(from: .data(Data(json.utf8)), as: "Person")
    }
    #expect(error.code == .invalidDocument)
    #expect(error.message == message)
    #expect(error.location?.path == path)
    #expect(!context.hasChanges)
  }
}
