import ArborModel
import Foundation
import Testing

@testable import ArborObjects

private struct Address: Codable, Hashable, AttributeValue {
  var street: String
  var lines: [String] = []
  var distance: Double = 0
}

private enum Level: Int32, Codable, AttributeValue { case low = 3, high = 4 }

private final class Place: ManagedObject {
  override class var entityDescription: EntityDescription {
    EntityDescription(
      name: "Place", className: "Place",
      attributes: [
        AttributeDescription("address", Address.self),
        AttributeDescription("other", Address?.self),
        AttributeDescription("home", Address.self, default: Address(street: "Main")),
        AttributeDescription("level", Level.self, default: .high),
        AttributeDescription("anything", Value.self, .type(.string)),
      ])
  }
  var address: Address {
    get { attribute(0) }
    set { setAttribute(0, newValue) }
  }
  var other: Address? {
    get { attribute(1) }
    set { setAttribute(1, newValue) }
  }
  var home: Address {
    get { attribute(2) }
    set { setAttribute(2, newValue) }
  }
  var level: Level {
    get { attribute(3) }
    set { setAttribute(3, newValue) }
  }
  var anything: Value {
    get { attribute(4) }
    set { setAttribute(4, newValue) }
  }
}

@Suite struct AttributeValueCodableTests {
  @Test func aCodableValueIsAttributeOfJSON() {
    let attributes = Place.entityDescription.attributes
    #expect(attributes.map(\.type) == [.binary, .binary, .binary, .integer32, .string])
    #expect(attributes.map(\.isOptional) == [false, true, false, false, false])
    #expect(
      attributes[2].defaultValue
        == .binary(Data(#"{"distance":0,"lines":[],"street":"Main"}"#.utf8)))
    #expect(attributes[3].defaultValue == 4)
  }

  @Test func valuesComeBackFromTheStore() throws {
    let store = try PersistentStore(for: [Place.self], at: .inMemory)
    let context = store.makeContext()
    let place = context.insert(Place.self)
    #expect(place.address == Address(street: ""))
    #expect(place.other == nil)
    #expect(place.home == Address(street: "Main"))
    #expect(place.level == .high)
    #expect(place.anything == .null)
    place.address = Address(street: "Elm", lines: ["a/b", "c"], distance: 1.5)
    place.other = place.address
    place.level = .low
    place.anything = "text"
    try context.commit()

    let other = store.makeContext()
    let read = try #require(try other.objects(Place.self).first)
    #expect(read.address == Address(street: "Elm", lines: ["a/b", "c"], distance: 1.5))
    #expect(read.other == read.address && read.home == Address(street: "Main"))
    #expect(read.level == .low && read["level"] == 3)
    #expect(read.anything == "text")
    read.other = nil
    #expect(read.other == nil)
  }

  @Test func equalValuesAreNoChange() throws {
    let store = try PersistentStore(for: [Place.self], at: .inMemory)
    let context = store.makeContext()
    let place = context.insert(Place.self)
    place.address = Address(street: "Elm", distance: 2)
    place.anything = ""
    try context.commit()
    place.address = Address(street: "Elm", distance: 2)
    #expect(place.changedValues() == [:])
    let elm = Address(street: "Elm", distance: 2)
    #expect(try context.objects(Place.self).filter("address == \(elm)").count == 1)
    #expect(try context.objects(Place.self).filter("address == \(Address(street: ""))").count == 0)
  }

  @Test func whatCannotBeReadIsTheDefault() throws {
    let store = try PersistentStore(for: [Place.self], at: .inMemory)
    let context = store.makeContext()
    let place = context.insert(Place.self)
    for key in ["address", "home"] { place[key] = Value.binary(Data("[]".utf8)) }
    place["level"] = 77
    #expect(place.address == Address(street: ""))
    #expect(place.home == Address(street: "Main"))
    #expect(place.level == .high)
  }

  @Test func whatDoesNotEncodeIsNil() throws {
    let store = try PersistentStore(for: [Place.self], at: .inMemory)
    let context = store.makeContext()
    let place = context.insert(Place.self)
    place.other = Address(street: "Elm")
    place.other?.distance = .nan
    #expect(place.other == nil)
  }
}
