import ArborModel
import Foundation
import Testing

import ArborObjects

private struct Address: Codable, Hashable, AttributeValue {
  var street: String
  var lines: [String] = []
  var distance: Double = 0
}

private enum Level: Int32, Codable, AttributeValue { case low = 3, high = 4 }

private final class Venue: ManagedObject {
  override class var entityDescription: EntityDescription {
    EntityDescription(
      name: "Venue", className: "Venue",
      attributes: [
        AttributeDescription("address", Address.self),
        AttributeDescription("other", Address?.self),
        AttributeDescription("home", Address.self, default: Address(street: "Main")),
        AttributeDescription("level", Level.self, default: .high),
        AttributeDescription("anything", PropertyValue.self, .type(.string)),
      ])
  }
  var address: Address {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var other: Address? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var home: Address {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var level: Level {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var anything: PropertyValue {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
}

@Suite struct AttributeValueCodableTests {
  @Test("A codable value is stored as JSON and an enumeration as its raw value")
  func aCodableValueIsAttributeOfJSON() {
    let attributes = Venue.entityDescription.attributes
    #expect(attributes.map(\.type) == [.json, .json, .json, .integer32, .string])
    #expect(attributes.map(\.isOptional) == [false, true, false, false, false])
    #expect(
      attributes[2].defaultValue
        == .composite(["distance": 0, "lines": [], "street": "Main"]))
    #expect(attributes[3].defaultValue == 4)
  }

  @Test("Codable values survive a commit")
  func valuesComeBackFromTheStore() throws {
    let store = try PersistentStore(for: [Venue.self], at: .inMemory)
    let context = store.makeContext()
    let venue = context.insert(Venue.self)
    #expect(venue.address == Address(street: ""))
    #expect(venue.other == nil)
    #expect(venue.home == Address(street: "Main"))
    #expect(venue.level == .high)
    #expect(venue.anything == .null)
    venue.address = Address(street: "Elm", lines: ["a/b", "c"], distance: 1.5)
    venue.other = venue.address
    venue.level = .low
    venue.anything = "text"
    try context.commit()

    let other = store.makeContext()
    let read = try #require(try other.objects(Venue.self).first())
    #expect(read.address == Address(street: "Elm", lines: ["a/b", "c"], distance: 1.5))
    #expect(read.other == read.address && read.home == Address(street: "Main"))
    #expect(read.level == .low && read["level"] == 3)
    #expect(read.anything == "text")
    read.other = nil
    #expect(read.other == nil)
  }

  @Test("Setting an equal codable value is not a change")
  func equalValuesAreNoChange() throws {
    let store = try PersistentStore(for: [Venue.self], at: .inMemory)
    let context = store.makeContext()
    let venue = context.insert(Venue.self)
    venue.address = Address(street: "Elm", distance: 2)
    venue.anything = ""
    try context.commit()
    venue.address = Address(street: "Elm", distance: 2)
    #expect(venue.changedValues() == [:])
    let elm = Address(street: "Elm", distance: 2)
    #expect(try context.objects(Venue.self).filter("address == \(elm)").count() == 1)
    #expect(
      try context.objects(Venue.self).filter("address == \(Address(street: ""))").count() == 0)
  }

  @Test("A value that can't be encoded is rejected by the commit")
  func whatDoesNotEncodeIsRefusedByTheCommit() throws {
    let store = try PersistentStore(for: [Venue.self], at: .inMemory)
    let context = store.makeContext()
    let venue = context.insert(Venue.self)
    venue.address = Address(street: "Oak")
    venue.anything = "x"
    venue.other = Address(street: "Elm")
    venue.other?.distance = .nan
    let error = try #require(throws: ArborError.self) { try context.commit() }
    #expect(error.code == .validation && error.keyPath == "other")
    venue.other?.distance = .infinity
    try context.commit()
    #expect(venue.other?.distance == .infinity)
    #expect(try context.count(Venue.self, matching: "other.distance > 1e308") == 1)
    venue.home.distance = .nan
    #expect(try #require(throws: ArborError.self) { try context.commit() }.keyPath == "home")
  }
}
