import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct CompositeRulesTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Place") {
        AttributeDescription("address", .composite("Address"), .optional)
        AttributeDescription("former", .composite("Address"))
      }
      CompositeDescription("Address") {
        AttributeDescription("city", .string, .bounds(2...10))
        AttributeDescription("code", .string, .optional, .pattern("[0-9]{5}"))
        AttributeDescription("point", .composite("Point"), .optional)
      }
      CompositeDescription("Point") {
        AttributeDescription("latitude", .double, .bounds(-90...90))
        AttributeDescription("floor", .integer16, .optional)
      }
    }
  }

  static let good = PropertyValue.composite(["city": "Rome"])

  @Test(
    "The parts of a composite are validated",
    arguments: [
      (good, []),
      (.composite(["city": "Rome", "code": "01234", "point": .composite(["latitude": 41.9])]), []),
      (.composite(["city": "Rome", "point": .composite(["latitude": 41, "floor": .null])]), []),
      (.composite([:]), ["city"]),
      (.composite(["city": "R", "code": "x"]), ["city", "code"]),
      (.composite(["city": 5, "cod": "01234"]), ["city", "cod"]),
      (
        .composite(["city": "Rome", "point": .composite(["latitude": 91, "floor": 1_000_000])]),
        ["point.floor", "point.latitude"]
      ),
      (.composite(["city": "Rome", "point": .composite([:])]), ["point.latitude"]),
      (.composite(["city": "Rome", "point": 3]), ["point"]),
    ] as [(PropertyValue, [String])])
  func partsFollowTheirRules(address: PropertyValue, broken: [String]) throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let venue = try context.insert("Place")
      venue["former"] = Self.good
      venue["address"] = address
      guard !broken.isEmpty else {
        try context.commit()
        return
      }
      let error = try failure { try context.commit() }
      #expect(error.code == .validation)
      #expect(Set(error.violations.compactMap(\.keyPath)) == Set(broken.map { "address.\($0)" }))
    }
  }

  @Test("A mandatory composite must be a composite with known parts")
  func aCompositeIsMandatoryAndNothingElse() throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let venue = try context.insert("Place")
      #expect(try failure { try context.commit() }.keyPath == "former")
      venue["former"] = 7
      #expect(try failure { try context.commit() }.keyPath == "former")
      venue["former"] = .composite(["city": "Rome", "cty": "Rome"])
      #expect(try failure { try context.commit() }.message.contains("Did you mean city?"))
      venue["former"] = .composite(["city": 5])
      #expect(
        try failure { try context.commit() }.message
          == "Place.former.city is of another type or out of range. Set a string.")
    }
  }
}
