import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// JSON attributes in programs without a class, compared with plain Swift values.
@Suite("JSON attributes without a class") struct JSONAttributeTests {
  /// The plain form of an object's values.
  private struct Plain {
    var tags: [String]?
    var city: String?
    var floor: Int?
    var size: Double?

    init(_ random: inout SeededRandom) {
      let words = ["a", "b", "é", "e\u{301}", ""]
      if Int.random(in: 0..<4, using: &random) > 0 {
        tags = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
          words.randomElement(using: &random) ?? ""
        }
      }
      if Bool.random(using: &random) { city = words.randomElement(using: &random) }
      if Bool.random(using: &random) { floor = .random(in: -2...3, using: &random) }
      if Bool.random(using: &random) {
        size = [0, -0.0, 0.1, 1e300, -1e-9].randomElement(using: &random)
      }
    }

    var tagsValue: PropertyValue { tags.map { .list($0.map(PropertyValue.string)) } ?? .null }
    var placeValue: PropertyValue {
      var parts: [String: PropertyValue] = ["inner": .composite([:])]
      parts["city"] = city.map(PropertyValue.string)
      if let floor { parts["inner"] = ["floor": .integer(Int64(floor))] }
      // A whole number is an integer, whatever the type of the value that was set.
      parts["size"] = size.map { $0 == 0 ? .integer(0) : .double($0) }
      return .composite(parts)
    }

    func has(_ tag: String) -> Bool {
      tags?.contains { $0.unicodeScalars.elementsEqual(tag.unicodeScalars) } ?? false
    }
  }

  private static let model = ManagedObjectModel(entities: [
    EntityDescription(
      name: "Thing",
      attributes: [
        AttributeDescription("number", .integer64, .default(0)),
        AttributeDescription("tags", .json, .optional),
        AttributeDescription("place", .json, .optional),
      ])
  ])

  @Test(
    "Queries of parts and elements agree with plain values", arguments: 1...5 as ClosedRange<UInt64>
  )
  func queriesAgree(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let all = (0..<40).map { _ in Plain(&random) }
    try ObjectStore.use(Self.model) { store in
      let context = store.makeContext()
      for (number, plain) in all.enumerated() {
        // Some objects are pending.
        if number == 30 { try context.commit() }
        let object = try context.insert("Thing")
        try object.setValue(.integer(Int64(number)), forKey: "number")
        try object.setValue(plain.tagsValue, forKey: "tags")
        try object.setValue(plain.placeValue, forKey: "place")
        #expect(try object.value(forKey: "tags") == plain.tagsValue)
        #expect(try object.value(forKey: "place") == plain.placeValue)
      }
      let conditions: [(String, (Plain) -> Bool)] = [
        ("tags CONTAINS 'a'", { $0.has("a") }), ("'é' IN tags", { $0.has("é") }),
        ("tags CONTAINS 'e\u{301}'", { $0.has("e\u{301}") }),
        ("tags == nil", { $0.tags == nil }), ("tags.@count == 2", { $0.tags?.count == 2 }),
        ("ANY tags == 'b'", { $0.has("b") }),
        ("place.city == 'a'", { $0.city == "a" }), ("place.city == nil", { $0.city == nil }),
        ("place.city BEGINSWITH 'e'", { $0.city?.utf8.count == 3 }),
        ("place.inner.floor > 0", { $0.floor ?? 0 > 0 }),
        ("place.inner.floor IN {1, 2}", { [1, 2].contains($0.floor) }),
        ("place.size == 0", { $0.size == 0 }), ("place.size > 1e299", { $0.size == 1e300 }),
        ("place.unknown != nil", { _ in false }),
      ]
      for (text, holds) in conditions {
        let found = try context.objects("Thing").filter(FetchPredicate(format: text))
          .order(by: "number").fetch().map { ($0["number"] as PropertyValue).int ?? -1 }
        #expect(found == all.indices.filter { holds(all[$0]) }, "\(text), seed \(seed)")
      }
      for (number, plain) in all.enumerated() {
        for (name, value) in [("tags", plain.tagsValue), ("place", plain.placeValue)] {
          let found = try context.objects("Thing")
            .filter(FetchPredicate(format: "%K == %@", name, value)).order(by: "number").fetch()
            .map { ($0["number"] as PropertyValue).int ?? -1 }
          let expected = all.indices.filter { other in
            name == "tags" ? all[other].tagsValue == value : all[other].placeValue == value
          }
          #expect(found == expected, "\(name) of \(number), seed \(seed)")
        }
      }
      let cities = try context.objects("Thing").order(by: "place.city", "number").fetch().map {
        ($0["number"] as PropertyValue).int ?? -1
      }
      let sorted = all.indices.sorted { one, other in
        switch (all[one].city, all[other].city) {
        case (let left?, let right?) where !left.utf8.elementsEqual(right.utf8):
          left.utf8.lexicographicallyPrecedes(right.utf8)
        case (nil, .some): true
        case (.some, nil): false
        default: one < other
        }
      }
      #expect(cities == sorted, "seed \(seed)")
      #expect(
        try context.objects("Thing").value(of: .sum("place.inner.floor"))
          == .integer(Int64(all.compactMap(\.floor).reduce(0, +))))
      try context.commit()
    }
  }

  @Test("Whole values are compared with options, aggregated and checked")
  func wholeValues() throws {
    try ObjectStore.use(Self.model) { store in
      let context = store.makeContext()
      for value in ["Open", 9, 10, ["a"]] as [PropertyValue] {
        try context.insert("Thing").setValue(value, forKey: "tags")
      }
      try context.commit()
      func count(_ text: String) throws -> Int {
        try context.count("Thing", matching: FetchPredicate(format: text))
      }
      #expect(try count("tags ==[c] 'OPEN'") == 1 && count("tags == 'OPEN'") == 0)
      #expect(try count("tags IN[c] {'OPEN', 'x'}") == 1 && count("tags IN {9, 'Open'}") == 2)
      #expect(try count("tags > 9") == 1 && count("tags == place") == 0)
      #expect(try count("ANY tags == 10") == 1 && count("ANY tags == 'a'") == 1)
      #expect(try context.objects("Thing").value(of: .sum("tags")) == 19)
      let thing = try context.insert("Thing")
      thing["tags"] = PropertyValue.list([.double(.nan)])
      let error = try failure { try context.commit() }
      #expect(error.code == .validation && error.keyPath == "tags")
      thing["tags"] = PropertyValue.null
      try context.commit()
    }
  }

  @Test("What JSON cannot represent is refused")
  func valuesThatDoNotFit() throws {
    try ObjectStore.use(Self.model) { store in
      let context = store.makeContext()
      let thing = try context.insert("Thing")
      let deep = (0..<200).reduce(PropertyValue.null) { value, _ in .list([value]) }
      for value in [.objectID(thing.objectID), .double(.nan), [.double(.nan)], deep] {
        #expect(throws: ArborError.self, "\(value)") { try thing.setValue(value, forKey: "tags") }
      }
      #expect(try thing.value(forKey: "tags") == .null)
      // Dates and bytes are what `JSONEncoder` makes of them.
      try thing.setValue(
        ["on": .date(Date(timeIntervalSinceReferenceDate: 1.5)), "data": .binary(Data([1]))],
        forKey: "tags")
      #expect(try thing.value(forKey: "tags") == ["on": 1.5, "data": "AQ=="])
    }
  }

  @Test("JSON attributes can be neither indexed, unique, sorted by nor stored outside the record")
  func rules() throws {
    var model = Self.model
    model.entities[0].attributes[1].allowsExternalStorage = true
    model.entities[0].uniquenessConstraints = [["place"]]
    let error = try failure { _ = try model.validated() }
    #expect(
      error.violations.map(\.message) == [
        "Attribute Thing.tags is JSON, which is always stored in the record. Don't allow external "
          + "storage.",
        "The uniqueness constraint (place) of Thing lists place, which is of a type that has no order "
          + "and cannot be unique. Remove it from the constraint.",
      ])
    try ObjectStore.use(Self.model) { store in
      let sorted = try failure {
        _ = try store.makeContext().objects("Thing").order(by: "tags").fetch()
      }
      #expect(
        sorted.message
          == "Objects cannot be sorted by tags, which holds JSON. Sort by a part of it, "
          + "or by another attribute.")
    }
  }
}
