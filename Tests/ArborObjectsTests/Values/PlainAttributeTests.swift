import ArborModel
import Foundation
import Testing

import ArborObjects

private enum Size: Int16, Codable { case small = 1, large = 2 }

private struct Label: Codable, Equatable {
  var text = ""
  var weight: Double = 0
}

private final class Parcel: ManagedObject {
  override class var entityDescription: EntityDescription {
    EntityDescription(
      name: "Parcel", className: "Parcel",
      attributes: [
        AttributeDescription("size", Size.self, default: .large),
        AttributeDescription("other", Size?.self),
        AttributeDescription("label", Label.self),
        AttributeDescription("back", Label?.self, default: Label(text: "back")),
        AttributeDescription("tags", [String].self, default: ["new"]),
      ])
  }
  var size: Size {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var other: Size? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var label: Label {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var back: Label? {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var tags: [String] {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
}

@Suite struct PlainAttributeTests {
  @Test("Raw values are stored as they are, and other values as JSON")
  func rawValuesAreKeptAsTheyAreAndTheRestAsJSON() {
    let attributes = Parcel.entityDescription.attributes
    #expect(attributes.map(\.type) == [.integer16, .integer16, .json, .json, .json])
    #expect(attributes.map(\.isOptional) == [false, true, false, true, false])
    #expect(attributes[0].defaultValue == 2 && attributes[1].defaultValue == .null)
    #expect(attributes[4].defaultValue == ["new"])
  }

  @Test("Attributes of plain types survive a commit")
  func valuesComeBackFromTheStore() throws {
    let store = try PersistentStore(for: [Parcel.self], at: .inMemory)
    let context = store.makeContext()
    let parcel = context.insert(Parcel.self)
    #expect(parcel.size == .large && parcel.other == nil && parcel.label == Label())
    #expect(parcel.back == Label(text: "back") && parcel.tags == ["new"])
    parcel.size = .small
    parcel.other = .large
    parcel.label = Label(text: "to", weight: 2.5)
    parcel.back = nil
    parcel.tags = []
    try context.commit()

    let other = store.makeContext()
    let read = try #require(try other.objects(Parcel.self).first())
    #expect(read.size == .small && read.other == .large && read["other"] == 2)
    #expect(read.label == Label(text: "to", weight: 2.5) && read.back == nil && read.tags == [])
  }

  @Test("Typed predicates compare plain attributes")
  func typedPredicatesCompareThem() throws {
    let context = try PersistentStore(for: [Parcel.self], at: .inMemory).makeContext()
    context.insert(Parcel.self).other = .small
    let small = Size.small
    let parcels = context.objects(Parcel.self)
    #expect(try parcels.filter(#Predicate { $0.other == small }).count() == 1)
    #expect(try parcels.filter(#Predicate { $0.size == small }).count() == 0)
    #expect(try parcels.filter(#Predicate { $0.other == nil }).count() == 0)
  }
}
