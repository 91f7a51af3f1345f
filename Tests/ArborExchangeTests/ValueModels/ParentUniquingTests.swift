import ArborExchange
import ArborJSON
import ArborModel
import ArborObjects
import Testing

@Suite("Value models that are unique within their parent") struct ParentUniquingTests {
  private struct Person: ValueModel {
    var personID: Int
    var fields: [Field]?
    var address: Address?
    static let uniquingKeys: Set<String> = ["personID"]
  }

  private struct Field: ValueModel, Hashable {
    var type: String?
    var value: String?
    static let uniquingKeys: Set<String> = ["person", "type"]
  }

  private struct Address: ValueModel {
    var city: String?
    static let uniquingKeys: Set<String> = ["resident"]
  }

  private let store: PersistentStore
  private let context: ManagedObjectContext

  init() throws {
    let number = AttributeDescription(name: "personID", type: .integer64, isOptional: true)
    func text(_ name: String) -> AttributeDescription {
      AttributeDescription(name: name, type: .string, isOptional: true)
    }
    store = try PersistentStore(
      model: ManagedObjectModel(entities: [
        EntityDescription(
          name: "Person", attributes: [number],
          relationships: [
            RelationshipDescription(
              name: "fields", destination: "Field", inverse: "person", isToMany: true),
            RelationshipDescription(name: "address", destination: "Address", inverse: "resident"),
          ]),
        EntityDescription(
          name: "Field", attributes: [text("type"), text("value")],
          relationships: [
            RelationshipDescription(name: "person", destination: "Person", inverse: "fields")
          ]),
        EntityDescription(
          name: "Address", attributes: [text("city")],
          relationships: [
            RelationshipDescription(name: "resident", destination: "Person", inverse: "address")
          ]),
      ]), at: .inMemory)
    context = store.makeContext()
  }

  /// Commits, checks the store, and returns the fields with their persons.
  private func fields() throws -> [String] {
    try context.commit()
    try store.check()
    return try context.fetch("Field").map { field in
      let person = try field.object(forKey: "person")?["personID"] as Int64?
      let type = field["type"] as String? ?? "-"
      return "\(person.map(String.init) ?? "-") \(type) \(field["value"] as String? ?? "-")"
    }.sorted()
  }

  private func ids(_ entity: String) throws -> Set<ObjectID> {
    Set(try context.fetch(entity).map(\.objectID))
  }

  @Test("Two persons may each have a field of the same type")
  func theParentIsAPartOfTheIdentity() throws {
    let people = [
      Person(
        personID: 1, fields: [Field(type: "name", value: "Ann"), Field(type: "job", value: "x")]),
      Person(personID: 2, fields: [Field(type: "name", value: "Zoe")]),
    ]
    try context.upsert(people)
    #expect(try fields() == ["1 job x", "1 name Ann", "2 name Zoe"])
    let ids = try ids("Field")
    context.reset()
    try context.upsert(people)
    #expect(!context.hasChanges)
    try context.upsert([
      Person(personID: 2, fields: [Field(type: "name", value: "Zora")]),
      Person(personID: 3, fields: [Field(type: "name", value: "Xi")]),
    ])
    #expect(try fields() == ["1 job x", "1 name Ann", "2 name Zora", "3 name Xi"])
    #expect(try ids.isSubset(of: self.ids("Field")))
  }

  @Test("Equal models of one parent are one object, and a nil key matches none")
  func equalModelsOfOneParent() throws {
    let fields = [
      Field(type: "name", value: "A"), Field(type: "name", value: "B"),
      Field(type: nil, value: "C"), Field(type: nil, value: "D"),
    ]
    try context.upsert(Person(personID: 1, fields: fields))
    #expect(try self.fields() == ["1 - C", "1 - D", "1 name B"])
    // A model without a parent is inserted as a new object.
    try context.upsert(Field(type: "name", value: "E"))
    #expect(try self.fields() == ["- name E", "1 - C", "1 - D", "1 name B"])
  }

  @Test("An object can be identified by its parent alone")
  func theParentAlone() throws {
    try context.upsert(Person(personID: 1, address: Address(city: "Bonn")))
    try context.commit()
    let ids = try ids("Address")
    try context.upsert(Person(personID: 1, address: Address(city: "Ulm")))
    try context.commit()
    #expect(try self.ids("Address") == ids)
    #expect(try context.fetch("Address").map { $0["city"] as String? } == ["Ulm"])
  }

  private final class Owner: ValueModel {
    var personID: Int
    init(_ personID: Int) { self.personID = personID }
    static let entityName = "Person"
    static let uniquingKeys: Set<String> = ["personID"]
  }

  private final class OwnedField: ValueModel {
    var type: String
    var value: String
    var person: Owner?
    init(_ type: String, _ value: String, of person: Owner?) {
      self.type = type
      self.value = value
      self.person = person
    }
    static let entityName = "Field"
    static let uniquingKeys: Set<String> = ["person", "type"]
  }

  @Test("A model may refer to its parent")
  func modelsThatHaveTheirParents() throws {
    let one = Owner(1)
    for value in ["A", "B"] {
      try context.upsert([
        OwnedField("name", value, of: one), OwnedField("name", value, of: Owner(2)),
      ])
      #expect(try fields() == ["1 name \(value)", "2 name \(value)"])
    }
  }

  @Test("A document needs no key for the parent")
  func jsonNeedsNoKeyForTheParent() throws {
    let people = try ValueAdapter.decode(
      [Person].self, from: [["personID": 1, "fields": [["type": "name", "value": "Ann"]]]])
    try context.upsert(people)
    #expect(try fields() == ["1 name Ann"])
    let person = try #require(try context.values(Person.self).first)
    #expect(person.fields == [Field(type: "name", value: "Ann")])
  }
}
