import ArborExchange
import ArborJSON
import ArborModel
import ArborObjects
import Foundation
import TestLength
import Testing

/// A list of lists, or a single element.
private struct Tree: Codable {
  var children: [Tree] = []

  /// Creates a tree with one child on each level.
  static func chain(_ levels: Int) -> Tree {
    (0..<levels).reduce(into: Tree()) { tree, _ in tree = Tree(children: [tree]) }
  }
}

/// JSON attributes with values of extreme depth, size and precision: each is stored exactly or
/// refused, and nothing is written then.
@Suite("JSON attributes with extreme values") struct HostileJSONAttributeTests {
  private static let model = ManagedObjectModel(entities: [
    EntityDescription(
      name: "Place",
      attributes: [
        AttributeDescription("placeID", .integer64), AttributeDescription("free", .json, .optional),
        AttributeDescription(
          "data", .json,
          .json([
            "double": .optional(.double), "float": .optional(.float),
            "decimal": .optional(.decimal), "date": .optional(.date),
            "small": .optional(.scalar(.integer(bits: 8, isSigned: true))),
            "unsigned": .optional(.scalar(.integer(bits: 64, isSigned: false))),
            "list": .optional(.list(.integer)), "tree": .optional(.any),
          ]), .optional), AttributeDescription("tree", Tree?.self),
      ], uniquenessConstraints: [["placeID"]])
  ])
  private let store: PersistentStore
  private let context: ManagedObjectContext

  init() throws {
    store = try PersistentStore(model: Self.model, at: .inMemory)
    context = store.makeContext()
  }

  private func importing(_ members: String) throws -> ManagedObject {
    let document = "{\"placeID\": 1,\n\(members)}"
    let place = try context.importObject(from: .data(Data(document.utf8)), as: "Place")
    return try #require(place)
  }

  /// Expects that nothing was imported, and that the store is sound.
  private func expectNothing(_ what: String) throws {
    #expect(!context.hasChanges, "\(what)")
    try context.commit()
    #expect(try store.makeContext().count("Place") == 0, "\(what)")
    try store.check()
  }

  private static func nested(_ levels: Int) -> String {
    String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
  }

  @Test(
    "Extreme JSON in a document is refused with its line and path",
    arguments: [
      ("\"free\":\n \(nested(10_000))", "free", 3, "more than 128 levels"),
      ("\"data\": {\n\"tree\": \(nested(10_000))}", "data", 3, "more than 128 levels"),
      ("\"data\": {\n\"double\":\n1e400}", "data.double", 4, "1e400"),
      ("\"data\": {\n\"double\": -1e400}", "data.double", 3, "-1e400"),
      ("\"data\": {\"float\":\n1e39}", "data.float", 3, "1e+39"),
      ("\"data\": {\"date\":\n1e309}", "data.date", 3, "1e309"),
      ("\"data\": {\"decimal\":\n1e200}", "data.decimal", 3, "1e+200"),
      ("\"data\": {\"small\":\n128}", "data.small", 3, "a whole number of 8 bits"),
      ("\"data\": {\"unsigned\":\n-1}", "data.unsigned", 3, "a whole number of 64 bits"),
      (
        "\"data\": {\"unsigned\":\n18446744073709551616}", "data.unsigned", 3,
        "18446744073709551616"
      ),
      ("\"data\": {\"small\": 1,\n\"small\": 2}", "data", 3, "small"),
      ("\"free\": {\"a\": {\"b\": 1,\n\"b\": 1}}", "free", 3, "“b” twice"),
      ("\"free\": [1e400]", "free", 2, "1e400"),
    ])
  func documents(members: String, path: String, line: Int, says: String) throws {
    let error = try #require(throws: ArborError.self, "\(members.prefix(60))") {
      try importing(members)
    }
    #expect(error.message.contains(says), "\(error)")
    #expect(error.location?.line == line, "\(error) at \(String(describing: error.location))")
    let place = error.keyPath ?? error.location?.path.map { String($0.dropFirst(2)) } ?? ""
    #expect(place.hasPrefix(path), "\(error)")
    try expectNothing(path)
  }

  @Test("A list of many elements is stored, or refused with the position of its misfit")
  func manyElements() throws {
    let count = TestLength.of(20_000, long: 1_000_000)
    let numbers = (0..<count).map { String($0) }.joined(separator: ",")
    let error = try #require(throws: ArborError.self) {
      try importing("\"data\": {\"list\": [\(numbers),\n\"x\"]}")
    }
    #expect(
      error.message
        == "Expected a whole number for Place.data.list[\(count)], but found the string \"x\".")
    #expect(error.location?.line == 3)
    try expectNothing("too many elements")
    _ = try importing("\"data\": {\"list\": [\(numbers)]}, \"free\": [\(numbers)]")
    try context.commit()
    let query = store.makeContext().objects("Place")
    #expect(
      try query.filter("data.list CONTAINS \(count - 1) AND free.@count == \(count)").count() == 1)
    #expect(try query.filter("data.list CONTAINS \(count)").count() == 0)
    try store.check()
  }

  @Test("Values that are set by name are refused with their path")
  func setByName() throws {
    let deep = (0..<10_000).reduce(PropertyValue.null) { value, _ in .list([value]) }
    let place = try context.insert("Place")
    try place.setValue(1, forKey: "placeID")
    try context.commit()
    let values: [(String, PropertyValue, String)] = [
      ("free", deep, "free"), ("data", ["tree": deep], "data"),
      ("data", ["small": 128], "data.small"),
      ("data", ["small": .double(1e300)], "data.small"), ("free", [.double(.nan)], "free"),
      ("data", ["float": .double(1e39)], "data.float"),
      (
        "data", ["list": .list(Array(repeating: 1, count: 1_000_000) + ["x"])], "data.list[1000000]"
      ),
    ]
    for (name, value, path) in values {
      let error = try #require(throws: ArborError.self, "\(path)") {
        try place.setValue(value, forKey: name)
      }
      #expect(error.keyPath == path || error.message.contains(path), "\(error)")
      #expect(!context.hasChanges && !place.hasChanges, "\(path)")
    }
    try store.check()
  }

  @Test("A value of a Codable type that is nested too deeply is never committed")
  func deepValues() throws {
    let slot = 3
    let place = try context.insert("Place")
    try place.setValue(1, forKey: "placeID")
    place._setAttribute(slot, Optional(Tree.chain(60)))
    try context.commit()
    place._setAttribute(slot, Optional(Tree.chain(10_000)))
    let error = try #require(throws: ArborError.self) { try context.commit() }
    #expect(error.code == .validation && error.keyPath == "tree", "\(error)")
    context.rollback()
    let tree: Tree? = place._attribute(slot)
    #expect(tree?.children.first?.children.count == 1)
    try store.check()
  }
}
