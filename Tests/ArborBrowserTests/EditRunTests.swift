import ArborData
import ArborJSON
import ArborModel
import Foundation
import Testing

/// Everything that is wrong with a list of edits, each at its property.
@Suite struct EditRunTests {
  static func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      CompositeDescription("Place") {
        AttributeDescription("city", .string, .bounds(1...20))
        AttributeDescription("number", .integer32, .optional)
        AttributeDescription("plan", .binary, .optional)
      }
      EntityDescription("Shop") {
        AttributeDescription("name", .string, .unique, .bounds(2...8))
        AttributeDescription("code", .string, .optional, .pattern("[A-Z]{2}"))
        AttributeDescription("floor", .integer16, .optional, .bounds(-1...9))
        AttributeDescription("settings", .json, .optional)
        AttributeDescription("place", .composite("Place"), .optional)
        RelationshipDescription("goods", to: "Good", inverse: "shop", .toMany, .optional)
      }
      EntityDescription("Good") {
        AttributeDescription("title", .string)
        RelationshipDescription("shop", to: "Shop", inverse: "goods", .optional)
      }
    }
  }

  static func fill(_ context: ManagedObjectContext) throws {
    for name in ["North", "South"] {
      let shop = try context.insert("Shop")
      shop["name"] = PropertyValue.string(name)
      shop["settings"] = PropertyValue.composite(["open": true])
      shop["place"] = PropertyValue.composite([
        "city": .string("Riga"), "number": .integer(7), "plan": .binary(Data([1, 2])),
      ])
    }
    for title in ["Tea", "Salt"] {
      let good = try context.insert("Good")
      good["title"] = PropertyValue.string(title)
      good["shop"] = try context.objects("Shop").order(by: "name").first()
    }
  }

  private func violations(_ served: ServedStore, _ edits: JSONValue) throws -> [String] {
    let answer = try served.client.post("/api/validate", ["edits": edits])
    #expect(answer.status == 200)
    return try #require(answer.json["violations"]?.array).map {
      "\($0["edit"]?.int64 ?? -1) \($0["property"]?.string ?? "–")"
    }
  }

  @Test("Every violation is reported at its property")
  func everyViolationIsReportedAtItsProperty() throws {
    try ServedStore.use(Self.makeModel(), writing: true, fill: Self.fill) { served in
      let edits: JSONValue = [
        [
          "op": "update", "id": "Shop/1",
          "values": [
            "name": "South", "code": "abc", "floor": "12", "settings": ["json": "{\"open\": }"],
            "place": ["parts": ["city": "", "number": "many"]],
          ],
        ],
        ["op": "insert", "entity": "Good", "ref": "new", "values": ["shop": "Shop/9"]],
        ["op": "delete", "id": "Shop/7"],
      ]
      #expect(
        Set(try violations(served, edits)) == [
          "0 name", "0 code", "0 floor", "0 settings", "0 place.number", "1 shop", "1 title", "2 –",
        ])
      // The preview refuses the same edits with the same violations.
      let shown = try served.client.post("/api/edit", ["edits": edits])
      #expect(shown.json["violations"]?.array?.count == 8)
      #expect(shown.message == "The changes violate 8 rules. Correct or remove the changes.")
      let part: JSONValue = [
        ["op": "update", "id": "Shop/1", "values": ["place": ["parts": ["city": ""]]]]
      ]
      #expect(try violations(served, part) == ["0 place.city"])
      #expect(served.store.sequence == 1)
    }
  }

  @Test("Parts that are not sent keep their values, and JSON is replaced")
  func partsAndDocumentsAreChanged() throws {
    try ServedStore.use(Self.makeModel(), writing: true, fill: Self.fill) { served in
      let edits: JSONValue = [
        [
          "op": "update", "id": "Shop/1",
          "values": [
            "settings": ["json": "{ \"open\": false }"],
            "place": ["parts": ["city": "Oslo", "number": nil]],
          ],
        ]
      ]
      #expect(try violations(served, edits) == [])
      let shown = try served.client.post("/api/edit", ["edits": edits])
      let done = try served.client.post(
        "/api/edit", ["edits": edits, "digest": try #require(shown.json["digest"])])
      #expect(done.status == 200)
      let context = served.store.makeContext()
      let shop = try context.existingObject(with: served.store.objectID("Shop", number: 1))
      guard case .composite(let parts) = try shop.value(forKey: "place") else {
        Issue.record("The composite is lost.")
        return
      }
      #expect(parts["city"] == .string("Oslo") && parts["plan"] == .binary(Data([1, 2])))
      #expect(parts["number"]?.isNull != false)
      #expect(
        try shop.value(forKey: "settings") == .composite(["open": false]))
    }
  }

  @Test("Members of relationships are added and removed")
  func membersAreAddedAndRemoved() throws {
    try ServedStore.use(Self.makeModel(), writing: true, fill: Self.fill) { served in
      let edits: JSONValue = [
        ["op": "insert", "entity": "Good", "ref": "g", "values": ["title": "Rice"]],
        [
          "op": "update", "id": "Shop/1",
          "values": ["goods": ["add": ["g"], "remove": ["Good/1"]]],
        ],
      ]
      let shown = try served.client.post("/api/edit", ["edits": edits])
      let done = try served.client.post(
        "/api/edit", ["edits": edits, "digest": try #require(shown.json["digest"])])
      #expect(done.status == 200)
      let titles = try served.store.makeContext().objects("Good").filter("shop.name == 'North'")
        .order(by: "title").fetch().map { try $0.value(forKey: "title") }
      #expect(titles == [.string("Rice"), .string("Salt")])
    }
  }

  @Test("A read-only store refuses to validate edits")
  func validationNeedsWriting() throws {
    try ServedStore.use(Self.makeModel(), fill: Self.fill) { served in
      let answer = try served.client.post("/api/validate", ["edits": [["op": "delete"]]])
      #expect(answer.status == 403)
    }
  }
}
