import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

private struct Place: Codable, Hashable {
  var city: String
  var floor = 1
  var marks: [Mark] = []
  var nick: String?

  struct Mark: Codable, Hashable { var name: String }
}

private enum Post: String, Codable, AttributeValue { case low, high }
/// Doesn't conform to `AttributeValue`.
private enum Grade: Int, Codable, CaseIterable { case first = 1, second }

private final class Firm: ManagedObject {
  override class var entityDescription: EntityDescription {
    EntityDescription(
      name: "Firm", className: "Firm",
      attributes: [
        AttributeDescription("home", Place.self, .json(.any)),
        AttributeDescription("other", Place?.self, .json(.any)),
        AttributeDescription(
          "filled", Place.self, default: Place(city: "Riga", floor: 7, nick: "hub"), .json(.any)),
        AttributeDescription("rank", Post.self, default: .low),
        AttributeDescription("bare", Post.self), AttributeDescription("maybe", Post?.self),
        AttributeDescription("grade", Grade.self), AttributeDescription("grades", Grade?.self),
        AttributeDescription("name", String.self, default: ""),
      ])
  }
  var home: Place {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var other: Place? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var filled: Place {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var rank: Post {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  var bare: Post {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
  var maybe: Post? {
    get { _attribute(5) }
    set { _setAttribute(5, newValue) }
  }
  var grade: Grade {
    get { _attribute(6) }
    set { _setAttribute(6, newValue) }
  }
  var grades: Grade? {
    get { _attribute(7) }
    set { _setAttribute(7, newValue) }
  }
}

/// Stored values that the Swift type of a property cannot represent are never invented and never
/// replaced by mistake.
@Suite("Values that a type cannot represent") struct UnreadableValueTests {
  /// Runs `body` with a store in which a program without the class has written an object.
  private func useStore(
    _ values: [String: PropertyValue], _ body: (PersistentStore) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.url.appending(path: "firm.arbor"))
    let model = try ManagedObjectModel(for: [Firm.self])
    var plain = model
    plain.entities[0].attributes = model.entities[0].attributes.map {
      AttributeDescription(
        name: $0.name, type: $0.type, isOptional: $0.isOptional, defaultValue: $0.defaultValue)
    }
    do {
      let store = try PersistentStore(model: plain, at: location)
      defer { store.close() }
      let writer = store.makeContext()
      let firm = try writer.insert("Firm")
      let usual: [String: PropertyValue] = [
        "home": ["city": "Oslo", "floor": 2, "marks": []], "bare": "low", "grade": 1,
      ]
      for (name, value) in usual.merging(values, uniquingKeysWith: { $1 }) {
        try firm.setValue(value, forKey: name)
      }
      try writer.commit()
    }
    let store = try PersistentStore(model: model, at: location, classes: [Firm.self])
    defer { store.close() }
    try body(store)
    try store.check()
  }

  /// Runs `body` with an object that another program has written, and expects its values to remain.
  private func use(
    _ values: [String: PropertyValue], _ body: (ManagedObjectContext, Firm) throws -> Void
  ) throws {
    try useStore(values) { store in
      let context = store.makeContext()
      try body(context, try #require(try context.objects(Firm.self).first()))
      context.rollback()
      let after = try #require(try store.makeContext().objects("Firm").first())
      for (name, value) in values {
        #expect(try after.value(forKey: name) == value, "the stored \(name) is replaced")
      }
    }
  }

  /// Returns the error of the next operation, after checking that commits fail with it, too.
  private func error(in context: ManagedObjectContext) throws -> ArborError {
    let error = try #require(throws: ArborError.self) { try context.count("Firm") }
    #expect(error.code == .unreadableValue)
    let refused = try #require(throws: ArborError.self) { try context.commit() }
    #expect(refused.code == .unreadableValue)
    return error
  }

  @Test(
    "A part that is missing or of another type is reported with its path",
    arguments: [
      (
        "home", ["floor": 2],
        "The value of Firm.home cannot be read as Place: there is no \"city\". Roll back, and give "
          + "new properties a default or make them optional, or set the value. It is {\"floor\":2}.",
        "home"
      ),
      (
        "home", ["city": "A", "floor": 1, "marks": [["name": "x"], ["name": 5]]],
        "The value of Firm.home cannot be read as Place at marks[1].name: it is not a String. Roll "
          + "back, and give new properties a default or make them optional, or set the value. It is "
          + #"{"city":"A","floor":1,"marks":[{"name":"x"},{"name":5}]}."#,
        "home.marks[1].name"
      ),
      (
        "other", "text",
        "The value of Firm.other cannot be read as Place: it is not a Dictionary<String, Any>. Roll "
          + "back, and give new properties a default or make them optional, or set the value. It is "
          + "\"text\".",
        "other"
      ),
    ] as [(String, PropertyValue, String, String)])
  func partsAreReported(
    name: String, value: PropertyValue, message: String, path: String
  ) throws {
    try use([name: value]) { (context, firm) throws in
      if name == "home" {
        #expect(firm.home.city == "")
        // The blank is changed, but never stored.
        firm.home.floor = 3
      } else {
        #expect(firm.other == nil)
        firm["name"] = "changed"
      }
      let error = try error(in: context)
      #expect(error.message == message)
      #expect(error.keyPath == path && error.objectID == firm.objectID)
    }
  }

  @Test("Missing members are taken from the attribute's default, at every level")
  func defaultsAreMerged() throws {
    try useStore(["filled": ["city": "Oslo"]]) { store in
      let context = store.makeContext()
      let read = try #require(try context.objects(Firm.self).first())
      // What is optional stays nil.
      #expect(read.filled == Place(city: "Oslo", floor: 7))
      read.filled.city = "Bergen"
      try context.commit()
      #expect(
        try read.value(forKey: "filled") == ["city": "Bergen", "floor": 7, "marks": []])
    }
  }

  @Test("An unknown case of an optional enumeration is nil, and stays stored")
  func unknownCasesOfOptionalsAreNil() throws {
    try use(["maybe": "higher", "grades": 9]) { (context, firm) throws in
      #expect(firm.maybe == nil && firm.grades == nil)
      firm["name"] = "changed"
      try context.commit()
    }
  }

  @Test("An unknown case is reported and never becomes the default")
  func unknownCasesAreReported() throws {
    try use(["rank": "higher"]) { (context, firm) throws in
      #expect(firm.rank == .low)
      firm["name"] = "changed"
      let error = try error(in: context)
      #expect(
        error.message
          == "The value of Firm.rank cannot be read as Post: no case has this value. Roll back, and "
          + "give new properties a default or make them optional, or set the value. It is higher.")
      #expect(error.keyPath == "rank")
    }
    try use(["bare": "higher", "grade": 9]) { (context, firm) throws in
      #expect(firm.bare == .low)
      var error = try error(in: context)
      #expect(error.keyPath == "bare")
      context.rollback()
      #expect(firm.grade == .first)
      error = try self.error(in: context)
      #expect(error.keyPath == "grade")
    }
  }

  @Test("A value that is set without being read replaces the stored one")
  func valuesAreReplacedIfSet() throws {
    try useStore(["home": "text", "bare": "higher", "grade": 9]) { store in
      let context = store.makeContext()
      let read = try #require(try context.objects(Firm.self).first())
      read.home = Place(city: "Oslo")
      read.bare = .high
      read.grade = .second
      try context.commit()
      #expect(try read.value(forKey: "home") == ["city": "Oslo", "floor": 1, "marks": []])
      #expect(read.bare == .high && read.grade == .second)
    }
  }

  @Test("A raw value that no case has is refused by name")
  func unknownCasesAreRefused() throws {
    try ObjectStore.use(ManagedObjectModel(for: [Firm.self]), classes: [Firm.self]) { store in
      let context = store.makeContext()
      let firm = try context.insert("Firm")
      let refused =
        [
          ("rank", "hihg", "Expected a case of Post for Firm.rank, but found hihg."),
          ("maybe", "x", "Expected a case of Post for Firm.maybe, but found x."),
          ("grades", 9, "Expected a case of Grade (1, 2) for Firm.grades, but found 9."),
        ] as [(String, PropertyValue, String)]
      for (name, value, message) in refused {
        let error = try failure { try firm.setValue(value, forKey: name) }
        #expect(error.code == .typeMismatch && error.message == message)
      }
      try firm.setValue("high", forKey: "maybe")
      try firm.setValue(.null, forKey: "grades")
      #expect(try firm.value(forKey: "maybe") == "high")
    }
  }
}
