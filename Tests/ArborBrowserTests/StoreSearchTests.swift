import ArborData
import ArborJSON
import ArborModel
import Foundation
import Testing

@testable import ArborBrowser

/// Searches of a whole store, and of the objects of one entity.
@Suite struct StoreSearchTests {
  static func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Document", isAbstract: true) {
        AttributeDescription("code", .string, .unique)
      }
      EntityDescription("Article", parent: "Document", userInfo: ["PrimaryAttribute": "title"]) {
        AttributeDescription("title", .string)
        AttributeDescription("body", .string, .optional)
        AttributeDescription("number", .integer32, .unique, .optional)
        RelationshipDescription("author", to: "Author", inverse: "articles", .optional)
        FetchIndexDescription(text: "title", "body", name: "words")
      }
      EntityDescription("Author") {
        AttributeDescription("name", .string)
        RelationshipDescription("articles", to: "Article", inverse: "author", .toMany, .optional)
      }
    }
  }

  static func fill(_ context: ManagedObjectContext) throws {
    let author = try context.insert("Author")
    author["name"] = "Zoë Bäcker"
    let texts = [
      (
        "A-1", "Animals",
        "The red fox is not a red panda. " + String(repeating: "filler ", count: 90)
      ),
      ("A-2", "Pandas", "Bamboo, mostly; once a fox walked by."),
      ("B-1", "<b>Stones</b>", "Granite"),
    ]
    for (index, text) in texts.enumerated() {
      let article = try context.insert("Article")
      article["code"] = PropertyValue.string(text.0)
      article["title"] = PropertyValue.string(text.1)
      article["body"] = PropertyValue.string(text.2)
      article["number"] = PropertyValue.integer(Int64(700 + index))
      article["author"] = author
    }
  }

  private func results(
    _ served: ServedStore, _ text: String, in entity: String = ""
  ) throws -> [JSONValue] {
    let answer = try served.client.get("/api/search", ["text": text, "entity": entity])
    #expect(answer.status == 200)
    #expect(answer.json["problems"] == [])
    return try #require(answer.json["results"]?.array)
  }

  @Test("Entities, objects and unique values are found")
  func findsEntitiesObjectsAndUniqueValues() throws {
    try ServedStore.use(Self.makeModel(), fill: Self.fill) { served in
      #expect(try results(served, "A").prefix(2).map { $0["entity"] } == ["Article", "Author"])
      let byID = try results(served, "article/2")
      #expect(byID.map { $0["object"] } == ["Article/2"])
      #expect(byID[0]["label"] == "Pandas")
      #expect(try results(served, "1").map { $0["object"] }.contains("Author/1"))
      let byCode = try results(served, "A-")
      #expect(byCode.map { $0["kind"] } == ["unique", "unique"])
      #expect(byCode.map { $0["value"] } == ["A-1", "A-2"])
      #expect(byCode[0]["property"] == "code")
      #expect(try results(served, "702").map { $0["object"] } == ["Article/3"])
      #expect(try results(served, "Article/99") == [])
      #expect(try results(served, "  ") == [])
    }
  }

  @Test("Hits are ranked, and matches are separate parts of the snippet")
  func findsRankedTextWithSnippets() throws {
    try ServedStore.use(Self.makeModel(), fill: Self.fill) { served in
      let hits = try results(served, "fox").filter { $0["kind"] == "text" }
      #expect(hits.map { $0["object"] } == ["Article/2", "Article/1"])
      let snippet = try #require(hits.first { $0["object"] == "Article/2" }?["snippet"]?.array)
      #expect(snippet.count == 3)
      #expect(snippet[1] == "fox")
      let long = try #require(hits.first { $0["object"] == "Article/1" }?["snippet"]?.array)
      #expect(long.last?.string?.hasSuffix("…") == true)
      #expect(try results(served, "\"red panda\"").map { $0["object"] } == ["Article/1"])
      #expect(try results(served, "fox -bamboo").map { $0["object"] } == ["Article/1"])
      // The best match is the first one, although its object is the newest.
      let context = served.store.makeContext()
      let article = try context.insert("Article")
      article["code"] = "C-1"
      article["title"] = "Fox"
      article["body"] = "fox, fox, and another fox"
      try context.commit()
      let ranked = try results(served, "fox").filter { $0["kind"] == "text" }
      #expect(ranked.map { $0["label"] } == ["Fox", "Pandas", "Animals"], "\(ranked)")
    }
  }

  /// In one entity, objects are also found by their labels, and other entities are not searched.
  @Test("In one entity, objects are also found by their labels")
  func findsCandidatesOfOneEntity() throws {
    try ServedStore.use(Self.makeModel(), fill: Self.fill) { served in
      #expect(try results(served, "backer", in: "Author").map { $0["object"] } == ["Author/1"])
      #expect(try results(served, "", in: "Article").count == 3)
      #expect(try results(served, "fox", in: "Author") == [])
      #expect(try results(served, "Article/1", in: "Author") == [])
      #expect(try results(served, "A-2", in: "Document").map { $0["object"] } == ["Article/2"])
      #expect(try results(served, "A-2", in: "Article").map { $0["object"] } == ["Article/2"])
      let unknown = try served.client.get("/api/search", ["text": "x", "entity": "Artcle"])
      #expect(unknown.status == 400)
      #expect(unknown.message?.contains("Did you mean Article?") == true)
    }
  }

  /// A search that takes too long returns what it has found, and says what is missing.
  @Test("A search that takes too long returns what it has found")
  func aDeadlineIsReported() throws {
    var limits = HTTPLimits()
    limits.workTime = .zero
    try ServedStore.use(Self.makeModel(), limits: limits, fill: Self.fill) { served in
      let answer = try served.client.get("/api/search", ["text": "Art"])
      #expect(answer.status == 200)
      #expect(answer.json["results"]?.array?.map { $0["entity"] } == ["Article"])
      #expect(answer.json["problems"]?.array?.isEmpty == false)
      #expect(try served.client.send(served.client.text("POST", "/api/search")).status == 405)
    }
  }
}
