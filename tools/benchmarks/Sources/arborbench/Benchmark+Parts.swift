import ArborData
import Foundation

/// A value of a `Codable` type, as which the attribute ``Guest/address`` stores JSON.
struct GuestAddress: Codable, Equatable {
  var street = ""
  var city = ""
  var zip: Int64 = 0
  var notes: [String] = []
}

/// A typed class with the same values as plain attributes and as parts of JSON.
final class Guest: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Guest.self) }
  private static let description = EntityDescription(
    name: "Guest", className: "Guest",
    attributes: [
      AttributeDescription("city", String.self, default: ""),
      AttributeDescription("zip", Int64.self, default: 0),
      AttributeDescription("address", GuestAddress.self, default: GuestAddress()),
    ],
    fetchIndexes: [
      FetchIndexDescription(name: "byZip", elements: [.init("zip")]),
      FetchIndexDescription(name: "byPart", elements: [.init("address.zip")]),
    ])

  var city: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var zip: Int64 {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var address: GuestAddress {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
}

/// The structure of `Guest` with plain attributes only.
final class PlainGuest: ManagedObject {
  override class var entityDescription: EntityDescription {
    EntityDescription(
      name: "PlainGuest", className: "PlainGuest",
      attributes: [
        AttributeDescription("city", String.self, default: ""),
        AttributeDescription("zip", Int64.self, default: 0),
      ])
  }
}

/// Values of `Codable` types beside plain attributes, with N objects in memory.
extension Benchmark {
  func measureParts(rounds: Int) throws {
    Meter.measure("parts_model_plain") { (PlainGuest.entityDescription.attributes.count, 0) }
    // The first description of a `Codable` type finds its structure.
    Meter.measure("parts_model_json") { (Guest.entityDescription.attributes.count, 0) }
    let store = try PersistentStore(for: [Guest.self], at: .inMemory)
    let context = store.makeContext()
    for number in 0..<count {
      let guest = context.insert(Guest.self)
      (guest.city, guest.zip) = ("City \(number % 1000)", Int64(number))
      guest.address = GuestAddress(
        street: "Street \(number)", city: guest.city, zip: guest.zip, notes: ["a", "b"])
    }
    try context.commit()
    for _ in 0..<max(1, rounds) {
      for (name, path) in [("plain", ""), ("json", "address.")] {
        let city = try FetchPredicate(format: "\(path)city == %@", "City 17")
        try Meter.measure("parts_scan_\(name)", repetitions: count) {
          (try store.makeContext().count(FetchRequest<Guest>(predicate: city)), 0)
        }
        try Meter.measure("parts_index_\(name)", repetitions: 20_000) {
          let context = store.makeContext()
          var found = 0
          for number in 0..<20_000 {
            let zip = try FetchPredicate(format: "\(path)zip == %@", number * 7919 % count)
            found += try context.count(FetchRequest<Guest>(predicate: zip))
          }
          return (found, 0)
        }
      }
      try measureValues(store)
    }
  }

  private func measureValues(_ store: PersistentStore) throws {
    let context = store.makeContext()
    let guests = try context.fetch(FetchRequest<Guest>()).prefix(10_000)
    func read(_ name: String, _ value: (Guest) -> Int64) {
      Meter.measure("parts_\(name)", repetitions: guests.count) {
        (guests.count, UInt64(bitPattern: guests.reduce(0) { $0 &+ value($1) }))
      }
    }
    read("read_plain") { $0.zip }
    read("read_json") { $0.address.zip }
    read("read_json_again") { $0.address.zip }
    Meter.measure("parts_set_plain", repetitions: guests.count) {
      for guest in guests { guest.city = "Elsewhere" }
      return (guests.count, 0)
    }
    Meter.measure("parts_set_json", repetitions: guests.count) {
      for guest in guests { guest.address = GuestAddress(city: "Elsewhere", zip: 1) }
      return (guests.count, 0)
    }
    context.rollback()
  }
}
