import ArborExchange
import ArborJSON
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Identities of several components, one of which may be the parent object.
@Suite("Identities that include the parent") struct ParentIdentityTests {
  private static func number(_ name: String) -> AttributeDescription {
    AttributeDescription(name: name, type: .integer64, isOptional: true)
  }

  private static func text(_ name: String) -> AttributeDescription {
    AttributeDescription(name: name, type: .string, isOptional: true)
  }

  /// Returns entities of persons with fields, whose types are unique within their person.
  private static func people(
    identity: String = "person,type", policy: String = "MergeAndPrune",
    person: [String: String] = [:], unique: [[String]] = []
  ) -> [EntityDescription] {
    [
      EntityDescription(
        name: "Person", attributes: [number("personID"), text("name")],
        relationships: [
          RelationshipDescription(
            name: "fields", destination: "Field", inverse: "person", isToMany: true,
            userInfo: ["MergePolicy": policy]),
          RelationshipDescription(
            name: "address", destination: "Address", inverse: "resident",
            userInfo: ["MergePolicy": policy]),
        ]),
      EntityDescription(
        name: "Field", attributes: [text("type"), text("value"), number("rank")],
        relationships: [
          RelationshipDescription(
            name: "person", destination: "Person", inverse: "fields", userInfo: person)
        ],
        uniquenessConstraints: unique, userInfo: ["PrimaryAttribute": identity]),
      EntityDescription(
        name: "Address", attributes: [text("street"), text("city")],
        relationships: [
          RelationshipDescription(name: "resident", destination: "Person", inverse: "address")
        ],
        userInfo: ["PrimaryAttribute": "resident"]),
    ]
  }

  /// Commits, checks the store, and returns the fields with their persons and types.
  private func fields(_ workshop: ImportWorkshop) throws -> [String] {
    try workshop.finish()
    return try workshop.all("Field").map { field in
      let person = try field.object(forKey: "person")?["personID"] as Int64?
      let type = field["type"] as String? ?? "-"
      return "\(person.map(String.init) ?? "-") \(type) \(field["value"] as String? ?? "-")"
    }.sorted()
  }

  private static let twoPeople = #"""
    [{"personID": 1, "fields": [{"type": "name", "value": "Ann"}, {"type": "job", "value": "x"}]},
     {"personID": 2, "fields": [{"type": "name", "value": "Zoe"}]}]
    """#

  @Test("Two persons may each have a field of the same type")
  func theParentIsAPartOfTheIdentity() throws {
    let workshop = try ImportWorkshop(Self.people())
    try workshop.list(Self.twoPeople, as: "Person")
    #expect(try fields(workshop) == ["1 job x", "1 name Ann", "2 name Zoe"])
    // A second import changes nothing; a changed field is updated, and a missing one is unlinked.
    let ids = try workshop.all("Field").map(\.objectID)
    try workshop.list(Self.twoPeople, as: "Person")
    #expect(!workshop.context.hasChanges)
    try workshop.list(
      #"[{"personID": 1, "fields": [{"type": "name", "value": "Anna"}]}]"#, as: "Person")
    #expect(
      try fields(workshop)
        == ["- job x", "1 name Anna", "2 name Zoe"])
    #expect(try workshop.all("Field").map(\.objectID) == ids)
  }

  @Test(
    "A noted attribute identifies in the whole store, like one with the default name",
    arguments: ["Merge", "MergeAndPrune"], ["fieldID", nil])
  func aNoteThatSaysWhatHoldsAnyway(policy: String, note: String?) throws {
    var entities = Self.people(identity: "fieldID", policy: policy)
    entities[1].attributes.append(Self.number("fieldID"))
    entities[1].userInfo["PrimaryAttribute"] = note
    let workshop = try ImportWorkshop(entities)
    try workshop.list(
      #"""
      [{"personID": 1, "fields": [{"fieldID": 2, "type": "a"}]},
       {"personID": 2, "fields": [{"fieldID": 2, "value": "b"}, {"fieldID": 3, "type": "c"}]}]
      """#, as: "Person")
    #expect(try fields(workshop) == ["2 a b", "2 c -"])
    try workshop.list(
      #"[{"personID": 3, "fields": [{"fieldID": 3, "value": "d"}]}]"#, as: "Person")
    #expect(try fields(workshop) == ["2 a b", "3 c d"])
    try workshop.one(#"{"fieldID": 2, "type": "e"}"#, as: "Field")
    #expect(try fields(workshop) == ["2 e b", "3 c d"])
  }

  @Test("An attribute that isn't unique identifies in the whole store, too")
  func anAttributeThatIsNotUniqueIdentifiesInTheWholeStore() throws {
    let workshop = try ImportWorkshop(Self.people(identity: "type"))
    try workshop.list(Self.twoPeople, as: "Person")
    #expect(try fields(workshop) == ["1 job x", "2 name Zoe"])
  }

  @Test(
    "A uniqueness constraint with the parent identifies within the parent",
    arguments: ["Replace", "Merge", "MergeAndPrune"], ["type", "type,person"])
  func uniquenessWithinTheParent(policy: String, note: String) throws {
    let workshop = try ImportWorkshop(
      Self.people(identity: note, policy: policy, unique: [["type", "person"]]))
    try workshop.list(Self.twoPeople, as: "Person")
    #expect(try fields(workshop) == ["1 job x", "1 name Ann", "2 name Zoe"])
    let ids = try workshop.all("Field").map(\.objectID)
    // This also applies to a later import. With Replace, a person's own fields are recreated.
    try workshop.list(
      #"""
      [{"personID": 2, "fields": [{"type": "name", "value": "Zora"}]},
       {"personID": 3, "fields": [{"type": "name", "value": "Xi"}]}]
      """#, as: "Person")
    #expect(
      try fields(workshop) == ["1 job x", "1 name Ann", "2 name Zora", "3 name Xi"])
    #expect(try workshop.all("Field").map(\.objectID).prefix(2) == ids.prefix(2))
    let error = try workshop.failure { try workshop.one(#"{"type": "car"}"#, as: "Field") }
    #expect(error.code == .missingIdentity && error.message.contains("lacks type, person"))
    try workshop.finish()
  }

  @Test("A field whose type is unique in the model moves to the person that lists it")
  func aUniqueAttributeIdentifiesInTheWholeStore() throws {
    for unique in [[["type"]], [["type"], ["type", "person"]]] {
      let workshop = try ImportWorkshop(Self.people(identity: "type", unique: unique))
      try workshop.list(Self.twoPeople, as: "Person")
      #expect(try fields(workshop) == ["1 job x", "2 name Zoe"])
    }
  }

  @Test("Of equal fields in a list, the last one wins")
  func equalItemsOfOneParent() throws {
    let workshop = try ImportWorkshop(Self.people())
    try workshop.list(
      #"""
      [{"personID": 1, "fields": [{"type": "name", "value": "A"}, {"type": "name", "value": "B"}]},
       {"personID": 2, "fields": [{"type": "name", "value": "C"}]}]
      """#, as: "Person")
    #expect(try fields(workshop) == ["1 name B", "2 name C"])
  }

  @Test("With Replace, the fields of a person are recreated and those of others stay")
  func replaceStaysWithinTheParent() throws {
    let workshop = try ImportWorkshop(Self.people(policy: "Replace"))
    try workshop.list(Self.twoPeople, as: "Person")
    let before = try workshop.all("Field").map(\.objectID)
    #expect(try fields(workshop) == ["1 job x", "1 name Ann", "2 name Zoe"])
    try workshop.list(
      #"[{"personID": 2, "fields": [{"type": "name", "value": "Zora"}]}]"#, as: "Person")
    #expect(try fields(workshop) == ["1 job x", "1 name Ann", "2 name Zora"])
    #expect(try workshop.all("Field").map(\.objectID).prefix(2) == before.prefix(2))
  }

  @Test("An item may contain its parent", arguments: [true, false])
  func itemsThatDescribeTheirParents(isKnown: Bool) throws {
    let workshop = try ImportWorkshop(Self.people())
    if isKnown { try workshop.list(Self.twoPeople, as: "Person") }
    let text = #"""
      [{"type": "name", "value": "A", "person": {"personID": 1}},
       {"type": "name", "value": "B", "person": {"personID": 2, "name": "Bob"}},
       {"type": "name", "value": "C", "person": {"personID": 2}}]
      """#
    let objects = try workshop.list(text, as: "Field")
    #expect(objects.count == 2)
    #expect(
      try fields(workshop)
        == (isKnown ? ["1 job x"] : []) + ["1 name A", "2 name C"])
    #expect(try workshop.all("Person").count == 2)
    try workshop.list(text, as: "Field")
    #expect(!workshop.context.hasChanges)
  }

  @Test("An item may refer to its parent by a key")
  func itemsThatNameTheirParents() throws {
    let workshop = try ImportWorkshop(Self.people(person: ["ImportReference": "{owner}"]))
    try workshop.list(Self.twoPeople, as: "Person")
    try workshop.list(
      #"""
      [{"type": "name", "value": "A", "owner": 1}, {"type": "name", "value": "B", "owner": 2},
       {"type": "car", "value": "C", "owner": 2}]
      """#, as: "Field")
    #expect(
      try fields(workshop) == ["1 job x", "1 name A", "2 car C", "2 name B"])
  }

  @Test("An object can be identified by its parent alone", arguments: ["Merge", "Replace"])
  func theParentAlone(policy: String) throws {
    let workshop = try ImportWorkshop(Self.people(policy: policy))
    let text = #"[{"personID": 1, "address": {"street": "s"}}, {"personID": 2, "address": {}}]"#
    try workshop.list(text, as: "Person")
    try workshop.finish()
    try workshop.list(
      #"[{"personID": 1, "address": {"city": "c"}}]"#, as: "Person")
    try workshop.finish()
    #expect(try workshop.all("Address").count == 2)
    let address = try #require(try workshop.all("Person")[0].object(forKey: "address"))
    #expect(try address.value(forKey: "city") == "c")
    #expect(try address.value(forKey: "street") == (policy == "Merge" ? "s" : nil))
  }

  @Test("Several attributes together can be an identity")
  func severalAttributes() throws {
    let workshop = try ImportWorkshop(Self.people(identity: "type, rank"))
    let text = #"""
      [{"type": "a", "rank": 1, "value": "x"}, {"type": "a", "rank": 2, "value": "y"},
       {"type": "b", "rank": 1, "value": "z"}]
      """#
    try workshop.list(text, as: "Field")
    try workshop.list(text, as: "Field")
    try workshop.list(#"[{"type": "a", "rank": 2, "value": "w"}]"#, as: "Field")
    #expect(try workshop.values("Field", "value") == ["x", "w", "z"])
    let error = try workshop.failure {
      try workshop.list(#"[{"type": "a", "value": "x"}]"#, as: "Field")
    }
    #expect(error.code == .missingIdentity)
    #expect(
      error.message == "An item of Field lacks type, rank, which identifies the item. Add type, "
        + "rank.")
    try workshop.finish()
  }

  @Test(
    "An item without its parent or type lacks its identity",
    arguments: [
      #"[{"type": "name"}]"#, #"[{"type": "name", "person": null}]"#,
      #"[{"person": {"personID": 1}}]"#,
    ])
  func missingParts(text: String) throws {
    let workshop = try ImportWorkshop(Self.people())
    let error = try workshop.failure { try workshop.list(text, as: "Field") }
    #expect(error.code == .missingIdentity)
    #expect(error.message.contains("lacks type, person"))
  }

  @Test(
    "An identity of unknown attributes is rejected",
    arguments: [
      ("type,color", "which doesn't exist"), ("fields", "which doesn't exist"),
    ])
  func unknownParts(note: String, message: String) throws {
    let workshop = try ImportWorkshop(Self.people(identity: note))
    let error = try workshop.failure { try workshop.list("[]", as: "Field") }
    #expect(error.code == .invalidModel && error.message.contains(message))
  }

  @Test("A single item without its identity is rejected, as in a list")
  func singleItemsNeedTheirIdentity() throws {
    let workshop = try ImportWorkshop()
    for text in [#"{"name": "x"}"#, #"{"employeeID": null}"#] {
      let error = try workshop.failure { try workshop.one(text) }
      #expect(error.code == .missingIdentity && error.keyPath == "employeeID")
    }
    let nested = try workshop.failure {
      try workshop.one(#"{"employeeID": 1, "department": {"title": "x"}}"#)
    }
    #expect(nested.code == .missingIdentity && nested.location?.path == "$.department")
    // An item for an existing object needs no identity.
    let employee = try workshop.context.insert("Employee")
    #expect(try workshop.context.importObject(from: ["name": "x"], into: employee))
    try workshop.finish()
  }

  @Test("A number doesn't match an identity that is a string")
  func numbersAreNoTexts() throws {
    let workshop = try ImportWorkshop()
    try workshop.one(#"{"departmentID": "7"}"#, as: "Department")
    let error = try workshop.failure {
      try workshop.one(#"{"departmentID": 7}"#, as: "Department")
    }
    #expect(error.code == .invalidDocument && error.keyPath == "departmentID")
    var options = ImportOptions()
    options.conversions = .textsFromNumbers
    try workshop.one(#"{"departmentID": 7, "title": "x"}"#, as: "Department", options)
    #expect(try workshop.values("Department", "title") == ["x"])
    try workshop.finish()
  }

  // MARK: Syncs

  private struct FieldSerializer: SyncSerializer {
    typealias Object = ManagedObject
    let entityName: String? = "Field"
    let identifiers = ["person", "type"]
    let deleteMissing = true
    var mapping: SyncMapping { ["type": .string("type"), "value": .string("value")] }
  }

  private struct PersonSerializer: SyncSerializer {
    typealias Object = ManagedObject
    let entityName: String? = "Person"
    let identifiers = ["personID"]
    let deleteMissing = false
    var mapping: SyncMapping {
      [
        "personID": .int("personID"),
        "fields": .toMany("fields") { _, _ in FieldSerializer() },
      ]
    }
  }

  @Test("A sync identifies members within their parent")
  func syncsWithinParents() throws {
    let workshop = try ImportWorkshop(Self.people())
    let json = try JSONValue.parse(Self.twoPeople)
    #expect(try workshop.context.sync(from: .value(json), using: PersonSerializer()).inserted == 5)
    #expect(try fields(workshop) == ["1 job x", "1 name Ann", "2 name Zoe"])
    let again = try workshop.context.sync(from: .value(json), using: PersonSerializer())
    #expect(again.unchanged == 5 && !workshop.context.hasChanges)
    let less: JSONValue = [["personID": 1, "fields": [["type": "name", "value": "A"]]]]
    let report = try workshop.context.sync(from: .value(less), using: PersonSerializer())
    #expect(report.updated == 2 && report.deleted == 1)
    #expect(try fields(workshop) == ["1 name A", "2 name Zoe"])
  }
}
