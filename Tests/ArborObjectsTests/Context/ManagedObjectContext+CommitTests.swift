import ArborModel
import ArborObjects
import Foundation
import Testing

private struct Refusal: Error, Equatable { let key: String }

/// A class without declared properties, which are accessed by name.
private class Booking: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Booking", className: "Booking",
    attributes: [
      .init(name: "begins", type: .integer32, minimum: 0),
      .init(name: "ends", type: .integer32, maximum: 24),
      .init(name: "note", type: .string, isOptional: true),
    ],
    relationships: [
      .init(name: "room", destination: "Room", inverse: "bookings", isOptional: false)
    ])

  var seen: [String: PropertyValue] = [:]
  var asksForCalls = 0

  override func willCommit() {
    if self["note"] == nil { self["note"] = "none" }
    asksForCalls += 1
  }
  override func validateForInsert() throws {
    try super.validateForInsert()
    guard let begins = self["begins"] as Int?, let ends = self["ends"] as Int? else { return }
    if begins > ends { throw Refusal(key: "times") }
  }
  override func validateForDelete() throws {
    try super.validateForDelete()
    if self["note"] == "keep" { throw Refusal(key: "note") }
  }
  override func validate(_ value: PropertyValue, forKey key: String) throws {
    seen[key] = value
    if value == 13 { throw Refusal(key: key) }
  }
}

private final class Room: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Room", className: "Room",
    relationships: [
      .init(
        name: "bookings", destination: "Booking", inverse: "room", isToMany: true,
        maximumCount: 1, deleteRule: .deny)
    ])
}

@Suite struct ManagedObjectContextCommitTests {
  private func use(_ body: (ManagedObjectContext) throws -> Void) throws {
    let classes: [ManagedObject.Type] = [Booking.self, Room.self]
    try ObjectStore.use(ManagedObjectModel(for: classes), classes: classes) { store in
      try body(store.makeContext())
    }
  }

  private func booking(_ context: ManagedObjectContext) throws -> Booking {
    let booking = context.insert(Booking.self)
    booking["room"] = context.insert(Room.self)
    booking["begins"] = 9
    booking["ends"] = 10
    return booking
  }

  @Test("Validating an object applies the rules of a commit")
  func objectsAreCheckedBeforeTheCommitByTheSameRules() throws {
    try use { context in
      let booking = try booking(context)
      let room: ManagedObject? = booking["room"]
      try booking.validateForInsert()
      #expect(booking.seen["begins"] == 9)
      #expect(booking.seen["room"] == .objectID(try #require(room).objectID))
      booking["begins"] = -1
      booking["ends"] = 25
      booking["room"] = nil as ManagedObject?
      let error = try failure { try booking.validateForInsert() }
      #expect(Set(error.violations.compactMap(\.keyPath)) == ["begins", "ends", "room"])
      #expect(try failure { try booking.validateForUpdate() }.violations.count == 3)
      booking["begins"] = 13
      #expect(try failure { try booking.validateForInsert() }.violations.count == 3)
    }
  }

  @Test("Overridden validations add to the model's rules without repeating them")
  func overridesAddToTheRulesAndNothingIsToldTwice() throws {
    try use { context in
      let booking = try booking(context)
      booking["begins"] = 30
      booking["ends"] = 26
      let error = try failure { try context.commit() }
      #expect(error.violations.map(\.keyPath) == ["ends", nil])
      #expect(error.violations.last?.underlying as? Refusal == Refusal(key: "times"))
      booking["ends"] = 13
      booking["begins"] = 1
      #expect(try failure { try context.commit() }.keyPath == "ends")
    }
  }

  @Test("Deletions are validated")
  func deletionsAreChecked() throws {
    try use { context in
      let booking = try booking(context)
      booking["note"] = "keep"
      try context.commit()
      let room = try #require(booking["room"] as ManagedObject?)
      #expect(try failure { try room.validateForDelete() }.keyPath == "bookings")
      #expect(throws: Refusal(key: "note")) { try booking.validateForDelete() }
      context.delete(booking)
      #expect(try failure { try context.commit() }.underlying as? Refusal == Refusal(key: "note"))
      context.rollback()
      booking["note"] = nil
      try room.objects(forKey: "bookings").replaceAll(with: [booking, try self.booking(context)])
      #expect(try failure { try room.validateForUpdate() }.keyPath == "bookings")
    }
  }

  @Test("A context can be validated without a commit")
  func aContextIsCheckedWithoutACommit() throws {
    try use { context in
      try context.validate()
      let booking = try booking(context)
      try context.validate()
      #expect(booking["note"] == nil && booking.isInserted)
      booking["ends"] = 25
      let missing = context.insert(Booking.self)
      let error = try failure { try context.validate() }
      #expect(Set(error.violations.compactMap(\.keyPath)) == ["ends", "begins", "room"])
      #expect(try failure { try context.commit() }.violations.count == error.violations.count)
      context.delete(missing)
      booking["ends"] = 24
      try context.validate()
      try context.commit()
      #expect(booking["note"] == "none")
    }
  }

  @Test("After a failed commit, the next one validates changed relationships again")
  func aSecondCommitAnnouncesAgain() throws {
    try use { context in
      let booking = try booking(context)
      booking["note"] = "here"
      booking["ends"] = 25
      #expect(try failure { try context.commit() }.keyPath == "ends")
      let calls = booking.asksForCalls
      let room = try #require(booking["room"] as ManagedObject?)
      try room.objects(forKey: "bookings").replaceAll(with: [booking, try self.booking(context)])
      _ = try failure { try context.commit() }
      #expect(booking.asksForCalls > calls)
    }
  }
}
