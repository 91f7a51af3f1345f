import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Documents of every shape, imported with every layout.
@Suite struct ImportDocumentTests {
  private func workshop() throws -> ImportWorkshop {
    try ImportWorkshop([
      EntityDescription(
        name: "State",
        attributes: [
          AttributeDescription(name: "code", type: .string, isOptional: true, isIndexed: true),
          AttributeDescription(name: "name", type: .string, isOptional: true),
          AttributeDescription(
            name: "number", type: .integer64, isOptional: true,
            userInfo: ["ImportName": "no"]),
        ],
        relationships: [
          RelationshipDescription(
            name: "parts", destination: "State", inverse: "whole", isToMany: true,
            userInfo: ["MergePolicy": "Merge"]),
          RelationshipDescription(name: "whole", destination: "State", inverse: "parts"),
        ],
        userInfo: ["PrimaryAttribute": "code"])
    ])
  }

  private func options(_ layout: ImportLayout) -> ImportOptions {
    var options = ImportOptions()
    options.layout = layout
    return options
  }

  /// A document, the layout with which it is read, and the complete message.
  private static let shapes: [(text: String, layout: ImportLayout, message: String)] = [
    (
      #"{"AK": {"name": "Alaska"}, "AL": {}}"#, ImportLayout.list,
      "The document is an object, but its items are read from a list. Use the layout .values()."
    ),
    (
      #"{"states": {"AK": {}, "AL": {}}}"#, .list,
      "The document is an object, but its items are read from a list. Use the layout "
        + #".values(of: "states")."#
    ),
    (
      #"{"note": 1, "states": [{}]}"#, .list,
      "The document is an object, but its items are read from a list. Use the layout "
        + #".member("states")."#
    ),
    (
      "{\"code\": \"AK\"}\n{\"code\": \"AL\"}\n", .list,
      "The document consists of several values, but its items are read from a list. Use the layout "
        + ".lines."
    ),
    (
      #"{"code": "AK"}"#, .list,
      "The document is an object, but its items are read from a list. Use importObject for a "
        + "single item, or put it in a list."
    ),
    (
      "{}", .list,
      "The document is an object, but its items are read from a list. Use a list of objects."
    ),
    (
      "5", .list,
      "The document is a number, but its items are read from a list. Use a list of objects."
    ),
    (
      #"[{"code": "AK"}]"#, .lines,
      "The first line of the document is a list, but its items are read from lines. Use the layout "
        + ".list."
    ),
    (
      #"[{"code": "AK"}]"#, .values(key: "code"),
      "The document is a list, but its items are read from an object. Use the layout .list."
    ),
    (
      #"{"states": {"AK": {}}}"#, .member("states"),
      "The member “states” is an object, but its items are read from a list under “states”. Use "
        + #"the layout .values(of: "states")."#
    ),
    (
      #"{"states": [{}]}"#, .values(of: "states"),
      "The member “states” is a list, but its items are read from an object under “states”. Use "
        + #"the layout .member("states")."#
    ),
    (
      #"{"stats": [{}]}"#, .member("states"),
      "The document has no member “states” with its items. Correct the layout. Did you mean stats?"
    ),
    (
      #"{"a": {}}"#, .values(of: "states"),
      "The document has no member “states” with its items. Correct the layout."
    ),
    (
      "[]", .member("states"),
      "The document is not an object. Expected an object whose key “states” contains the list."
    ),
  ]

  @Test("A document that doesn't have the layout is rejected with a suggestion", arguments: shapes)
  func anotherShapeIsAnErrorThatNamesTheLayout(
    text: String, layout: ImportLayout, message: String
  ) throws {
    let workshop = try workshop()
    let error = try workshop.failure {
      try workshop.context.importObjects(
        from: .data(Data(text.utf8)), as: "State", options: options(layout))
    }
    #expect(error.message == message)
    #expect(error.code == .invalidDocument && error.location?.line == 1)
    // A lenient import imports nothing.
    var lenient = options(layout)
    lenient.lenient = true
    let objects = try? workshop.context.importObjects(
      from: .data(Data(text.utf8)), as: "State", options: lenient)
    #expect(objects?.isEmpty != false)
  }

  private static let nothings: [(String, ImportLayout)] = [
    ("[]", ImportLayout.list), ("null", .list), ("", .lines), ("{}", .values(key: "code")),
    (#"{"states": []}"#, .member("states")), (#"{"states": null}"#, .member("states")),
    (#"{"states": {}}"#, .values(of: "states")), (#"{"states": null}"#, .values(of: "states")),
  ]

  @Test("Empty documents import nothing", arguments: nothings)
  func whatHoldsNothingImportsNothing(text: String, layout: ImportLayout) throws {
    let workshop = try workshop()
    let data = Data(text.utf8)
    #expect(
      try workshop.context.importObjects(from: .data(data), as: "State", options: options(layout))
        == [])
  }

  @Test("For a document too large for one item, the error suggests another layout")
  func aDocumentThatIsTooLargeForOneItemSaysThatItIsNoList() throws {
    let workshop = try workshop()
    var options = options(.list)
    options.limits.maximumSize = 20
    let text = #"{"AK": {"name": "Alaska"}, "AL": {"name": "Alabama"}}"#
    let error = try workshop.failure {
      try workshop.context.importObjects(
        from: .data(Data(text.utf8)), as: "State", options: options)
    }
    #expect(
      error.message
        == "The document is not a list. Use the layout that matches it, such as .values() or "
        + ".member(_:).")
  }

  @Test(
    "The values of an object are items, and their keys can be imported", arguments: [1, 2, 100],
    [nil, "states"])
  func theValuesOfAnObjectAreItemsAndTheirKeysMembers(size: Int, member: String?) throws {
    let workshop = try workshop()
    let values =
      #"{"AK": {"name": "Alaska", "parts": [{"code": "X"}]}, "A\u004c": {"no": 1}, "AZ": {}}"#
    let text = member.map { #"{"before": {"x": {}}, "\#($0)": \#(values), "after": 1}"# } ?? values
    var options = options(.values(of: member, key: "code"))
    options.batchSize = size
    let data = Data(text.utf8)
    let states = try workshop.context.importObjects(
      from: .data(data), as: "State", options: options)
    #expect(states.map { $0["code"] as String? } == ["AK", "AL", "AZ"])
    #expect(states[0]["name"] == "Alaska" && states[1]["number"] == 1)
    #expect(try states[0].objects(forKey: "parts").fetch().map { $0["code"] as String? } == ["X"])
    try workshop.finish()
    // The keys are the identity, so nothing new is inserted.
    #expect(
      try workshop.context.importObjects(from: .data(data), as: "State", options: options) == states
    )
    #expect(try workshop.all("State").count == 4 && !workshop.context.hasChanges)
  }

  @Test("Items may be nested deeper in the document", arguments: [1, 2, 100])
  func itemsMayStandDeeper(size: Int) throws {
    let workshop = try workshop()
    let text = #"""
      {"meta": {"items": [1], "page": 1}, "data": {"next": null, "items": [
        {"code": "AK"},
        {"code": "AL"},
        {"code": "AZ", "name": 5}
      ], "more": [2]}, "items": []}
      """#
    func states(_ layout: ImportLayout, _ text: String) throws -> [String?] {
      var options = options(layout)
      options.batchSize = size
      let data = Data(text.utf8)
      return try workshop.context.importObjects(from: .data(data), as: "State", options: options)
        .map { $0["code"] as String? }
    }
    let error = try workshop.failure { _ = try states(.member("data.items"), text) }
    #expect(error.location?.path == "$.data.items[2].name" && error.location?.line == 4)
    let sound = text.replacing(": 5", with: ": \"x\"")
    #expect(try states(.member("data.items"), sound) == ["AK", "AL", "AZ"])
    #expect(
      try states(.member("1.data.items"), "[{\"data\": 1}, \(sound)]") == ["AK", "AL", "AZ"])
    let values = #"{"a": {"b": {"AK": {}, "AL": {}}, "c": 1}, "a.c": {"AZ": {}}}"#
    #expect(try states(.values(of: "a.b", key: "code"), values) == ["AK", "AL"])
    // A key that equals the whole path takes precedence.
    #expect(
      try states(.values(of: "a.c", key: "code"), values.replacing("\"c\"", with: "\"d\"")) == [
        "AZ"
      ])
    try workshop.finish()
  }

  private static let deepShapes: [(text: String, layout: ImportLayout, message: String)] = [
    (
      #"{"data": {"items": [{}]}}"#, ImportLayout.list,
      "The document is an object, but its items are read from a list. Use the layout "
        + #".member("data.items")."#
    ),
    (
      #"{"data": {"item": [{}]}}"#, .member("data.items"),
      "The document has no member “data.items” with its items. Correct the layout. Did you mean "
        + "item?"
    ),
    (
      #"{"date": 5}"#, .member("data.items"),
      "The document has no member “data.items” with its items. Correct the layout. Did you mean "
        + "date?"
    ),
    (
      #"{"a": {"b": [{"code": "A"}]}, "a.b": [{"code": "B"}]}"#, .member("a.b"),
      "The document has items at the path “a.b” and under a key of that name. Write \\. for each "
        + "dot to read the items under the key."
    ),
  ]

  @Test("An unexpected shape below the top level is reported", arguments: deepShapes)
  func anotherShapeDeeperInTheDocument(
    text: String, layout: ImportLayout, message: String
  ) throws {
    let workshop = try workshop()
    let error = try workshop.failure {
      try workshop.context.importObjects(
        from: .data(Data(text.utf8)), as: "State", options: options(layout))
    }
    #expect(error.message == message)
    #expect(error.code == .invalidDocument)
  }

  @Test("A key can be imported as a number")
  func aKeyMayBeANumberByItsImportName() throws {
    let workshop = try ImportWorkshop([
      EntityDescription(
        name: "Room",
        attributes: [
          AttributeDescription(
            name: "roomID", type: .integer64, isOptional: true, userInfo: ["ImportName": "id"])
        ])
    ])
    let objects = try workshop.context.importObjects(
      from: #"{"7": {}, "8": {}}"#, as: "Room", options: options(.values(key: "id")))
    #expect(objects.map { $0["roomID"] as Int } == [7, 8])
    try workshop.finish()
  }

  @Test("Errors in the values of an object have a location", arguments: [1, 100])
  func errorsInValuesSayWhere(size: Int) throws {
    let workshop = try workshop()
    func failure(_ text: String, _ layout: ImportLayout = .values(key: "code")) throws -> ArborError
    {
      var options = options(layout)
      options.batchSize = size
      return try workshop.failure {
        try workshop.context.importObjects(
          from: .data(Data(text.utf8)), as: "State", options: options)
      }
    }
    let type = try failure("{\"AK\": {},\n \"AL\": {\"name\": 5}}")
    #expect(type.location?.path == "$.AL.name" && type.location?.line == 2)
    let item = try failure(#"{"AK": {}, "AL": 5}"#)
    #expect(item.location?.path == "$.AL")
    let twice = try failure(#"{"AK": {}, "AL": {}, "AK": {}}"#)
    #expect(twice.message == "An object has the key “AK” twice. Remove one of the two members.")
    #expect(twice.location?.path == "$.AK" && twice.location?.column == 22)
    let own = try failure(#"{"AK": {"code": "AL"}}"#)
    #expect(
      own.message
        == "The item has its own member “code”, which the layout uses for the item's key. Use "
        + "another name in the layout.")
    #expect(own.location?.path == "$.AK")
    let unknown = try failure("{}", .values(key: "cod"))
    #expect(unknown.code == .unknownName)
    #expect(
      unknown.message
        == "The layout puts the items' keys under “cod”, but no property of State is read from "
        + "“cod”. Use an attribute's name in the layout, or set “cod” as the ImportName of "
        + "an attribute. Did you mean code?")
    #expect(try failure(#"{"AK": {},}"#).message.contains("comma"))
    let key = try failure(
      #"{"states": {"AK": {}, 5}}"#, .values(of: "states", key: "code"))
    #expect(
      "\(key)"
        == "1:23 ($.states.AK): Expected a key in quotation marks.")
  }
}
