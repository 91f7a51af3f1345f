import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Relationships whose members are given by their keys, as specified by the model's
/// `ImportReference`.
@Suite struct ReferenceTests {
  private func workshop(_ reference: String, isToMany: Bool = false) throws -> ImportWorkshop {
    try ImportWorkshop(Self.places(reference, isToMany: isToMany))
  }

  /// Returns an entity of places within other places.
  static func places(_ reference: String, isToMany: Bool = false) -> [EntityDescription] {
    [
      EntityDescription(
        name: "Place",
        attributes: [
          AttributeDescription(name: "code", type: .string, isOptional: true, isIndexed: true),
          AttributeDescription(name: "name", type: .string, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(
            name: "parent", destination: "Place", inverse: "children", isToMany: isToMany,
            userInfo: ["ImportReference": reference]),
          RelationshipDescription(
            name: "children", destination: "Place", inverse: "parent", isToMany: true),
        ],
        userInfo: ["PrimaryAttribute": "code"])
    ]
  }

  private func parents(_ workshop: ImportWorkshop) throws -> [String: String] {
    var parents: [String: String] = [:]
    for place in try workshop.all("Place") {
      guard case .string(let code) = try place.value(forKey: "code"),
        let parent = try place.object(forKey: "parent"),
        case .string(let parentCode) = try parent.value(forKey: "code")
      else { continue }
      parents[code] = parentCode
    }
    return parents
  }

  @Test("A reference can be to a stored object or to any item of the list")
  func aKeyNamesAnObjectOfTheStoreOrTheListAlsoALaterOne() throws {
    let workshop = try workshop("{parent}")
    try workshop.list(#"[{"code": "X"}]"#, as: "Place")
    try workshop.finish()
    try workshop.list(
      #"[{"code": "A", "parent": "B"}, {"code": "B", "parent": "X"}, {"code": "C"}]"#, as: "Place")
    #expect(try parents(workshop) == ["A": "B", "B": "X"])
    try workshop.finish()
    try workshop.list(#"[{"code": "A", "parent": null}, {"code": "B", "name": "b"}]"#, as: "Place")
    #expect(try parents(workshop) == ["B": "X"])
    try workshop.finish()
  }

  @Test("Of several key templates, the first that matches an object is used")
  func theFirstKeyThatAnObjectHasCounts() throws {
    let workshop = try workshop("{parent} | {code/^[A-Z]+/}-{parent}")
    try workshop.list(
      #"""
      [{"code": "AZ-BAB", "parent": "NX"}, {"code": "AZ-NX"},
       {"code": "GB-LND", "parent": "GB-ENG"}, {"code": "GB-ENG"}, {"code": "GB-GB-ENG"}]
      """#, as: "Place")
    #expect(try parents(workshop) == ["AZ-BAB": "AZ-NX", "GB-LND": "GB-ENG"])
    try workshop.finish()
  }

  @Test("A list of keys sets a to-many relationship")
  func aListOfKeysFillsAToMany() throws {
    let workshop = try workshop("{in}", isToMany: true)
    try workshop.list(
      #"[{"code": "A", "in": ["B", "C"]}, {"code": "B"}, {"code": "C"}]"#, as: "Place")
    #expect(try workshop.all("Place")[0].objects(forKey: "parent").count() == 2)
    try workshop.list(#"[{"code": "A", "in": ["C"]}]"#, as: "Place")
    #expect(
      try workshop.all("Place")[0].objects(forKey: "parent").fetch() == [workshop.all("Place")[2]])
    // References never delete objects, whatever the policy.
    #expect(try workshop.all("Place").count == 3)
    try workshop.finish()
  }

  /// A reference to a missing object is an error, or is skipped by a lenient import.
  @Test("A reference to a missing object is rejected unless the import is lenient")
  func aKeyThatNoObjectHasIsAnErrorAndNothingHasChanged() throws {
    let workshop = try workshop("{parent}")
    let error = try workshop.failure {
      try workshop.list(#"[{"code": "A"}, {"code": "B", "parent": "Z"}]"#, as: "Place")
    }
    #expect(error.code == .objectNotFound)
    #expect(error.location?.path == "$[1].parent")
    #expect(error.keyPath == "parent")
    var options = ImportOptions()
    options.lenient = true
    try workshop.list(#"[{"code": "B", "parent": "Z"}]"#, as: "Place", options)
    #expect(try parents(workshop).isEmpty)
    try workshop.finish()
  }

  @Test("A reference to a missing object can create it")
  func aKeyThatNoObjectHasMayMakeOne() throws {
    var places = Self.places("{parent}")
    places[0].relationships[0].userInfo["ImportMissingReference"] = "Create"
    let workshop = try ImportWorkshop(places)
    try workshop.list(
      #"[{"code": "A", "parent": "Z"}, {"code": "B", "parent": "Z"}, {"code": "Y", "parent": "A"}]"#,
      as: "Place")
    #expect(try parents(workshop) == ["A": "Z", "B": "Z", "Y": "A"])
    #expect(try workshop.values("Place", "code") == ["A", "B", "Y", "Z"])
    try workshop.finish()
    // A later import treats it like any other object.
    try workshop.list(#"[{"code": "Z", "name": "z"}, {"code": "C", "parent": "Z"}]"#, as: "Place")
    #expect(try workshop.all("Place").count == 5)
    try workshop.finish()
  }

  @Test("A number doesn't match a string key")
  func aNumberIsNoKeyOfObjectsThatTextsIdentify() throws {
    let workshop = try workshop("{parent}")
    let error = try workshop.failure {
      try workshop.list(#"[{"code": "7"}, {"code": "B", "parent": 7}]"#, as: "Place")
    }
    #expect(error.code == .objectNotFound)
    try workshop.list(#"[{"code": "7"}, {"code": "B", "parent": "7"}]"#, as: "Place")
    #expect(try parents(workshop) == ["B": "7"])
    try workshop.finish()
  }

  @Test(
    "An invalid reference template is rejected",
    arguments: ["", "parent", "{", "{parent", "{parent/(/}", "|{parent}", "{}"])
  func aTemplateThatIsNoneIsAnErrorOfTheModel(reference: String) throws {
    let workshop = try workshop(reference)
    let error = try workshop.failure { try workshop.list("[]", as: "Place") }
    #expect(error.code == .invalidModel)
    #expect(error.keyPath == "parent")
  }
}
