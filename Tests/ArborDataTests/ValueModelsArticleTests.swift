import ArborData
import Foundation
import Testing

struct Banner: ValueModel {
  var bannerID: Int
  var picURL: URL?
  var state: State
  var children: [BannerItem]
  var cached: Bool?

  enum State: String, Codable { case draft, live }

  static let entityName = "Banner"
  static let uniquingKeys: Set<String> = ["bannerID"]
  static let managedKeys: ValueModelMapping =
    .identity.renaming(["bannerID": "id"]).excluding("cached")
  static let jsonKeyPaths: JSONKeyPaths = ["bannerID": "id", "picURL": "images.small"]
}

struct BannerItem: ValueModel {
  var title: String
  var price: Decimal?
}

final class Chapter: ValueModel {
  var title: String
  var parent: Chapter?
  var children: [Chapter] = []
  init(title: String) { self.title = title }
  static var backReferences: [AnyKeyPath] { [\Chapter.parent] }
}

struct Ticket: ValueModel {
  enum Kind: Codable { case bug, wish, other }
  var kind: Kind
  var due: Date?
  static let jsonTransformers: [String: JSONTransformer] = [
    "kind": .mapping(["bug": Kind.bug, "wish": .wish], default: .other, reverseDefault: "other"),
    "due": .date(format: "dd.MM.yyyy"),
  ]
  static let managedTransformers: [String: ManagedTransformer] = [
    "kind": .mapping([1: Kind.bug, 2: .wish], default: .other, reverseDefault: 0)
  ]
}

struct Field: ValueModel {
  var type: String
  var value: String
  static let uniquingKeys: Set<String> = ["person", "type"]  // one field of each type for a person
}

struct Person: ValueModel {
  var name: String
  var fields: [Field]
  static let uniquingKeys: Set<String> = ["name"]
}

/// The code of the article about value models, word for word.
@Suite struct ValueModelsArticleTests {
  private static let model: ManagedObjectModel = {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Banner",
        attributes: [
          AttributeDescription(name: "id", type: .integer64, isOptional: true),
          AttributeDescription(name: "picURL", type: .uri, isOptional: true),
          AttributeDescription(name: "state", type: .string, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(
            name: "children", destination: "BannerItem", inverse: "banner", isToMany: true,
            isOrdered: true)
        ]),
      EntityDescription(
        name: "BannerItem",
        attributes: [
          AttributeDescription(name: "title", type: .string),
          AttributeDescription(name: "price", type: .decimal, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(name: "banner", destination: "Banner", inverse: "children")
        ]),
      EntityDescription(
        name: "Chapter", attributes: [AttributeDescription(name: "title", type: .string)],
        relationships: [
          RelationshipDescription(name: "parent", destination: "Chapter", inverse: "children"),
          RelationshipDescription(
            name: "children", destination: "Chapter", inverse: "parent", isToMany: true),
        ]),
      EntityDescription(
        name: "Person", attributes: [AttributeDescription(name: "name", type: .string)],
        relationships: [
          RelationshipDescription(
            name: "fields", destination: "Field", inverse: "person", isToMany: true)
        ]),
      EntityDescription(
        name: "Field",
        attributes: [
          AttributeDescription(name: "type", type: .string),
          AttributeDescription(name: "value", type: .string),
        ],
        relationships: [
          RelationshipDescription(name: "person", destination: "Person", inverse: "fields")
        ]),
      EntityDescription(
        name: "Ticket",
        attributes: [
          AttributeDescription(name: "kind", type: .integer16, isOptional: true),
          AttributeDescription(name: "due", type: .date, isOptional: true),
        ]),
    ])
  }()

  @Test("Models convert JSON from a service to objects and back")
  func fromAServiceIntoTheStoreAndBack() throws {
    let store = try PersistentStore(model: Self.model, at: .inMemory)
    let context = store.makeContext()
    let data = Data(
      #"""
      [{"id": 2, "state": "live", "images": {"small": "https://a.b/c.png"},
        "children": [{"title": "x", "price": 1.10}]}, {"id": 1, "state": "draft", "children": []}]
      """#.utf8)

    let banners = try ValueAdapter.decode([Banner].self, from: .data(data))
    let objects = try context.upsert(banners)
    try context.commit()

    let wide = try context.values(Banner.self, matching: "id > 1", sortedBy: "-id")
    let first = try Banner(objects[0])
    let json = try ValueAdapter.encode(wide)

    #expect(wide.map(\.bannerID) == [2] && first.children[0].price == Decimal(string: "1.1"))
    #expect(json[0] == (try JSONValue.parse(data))[0])
    try store.check()
  }

  @Test("Models may be unique within their parent")
  func modelsMayBeToldApartWithinTheirParent() throws {
    let store = try PersistentStore(model: Self.model, at: .inMemory)
    let context = store.makeContext()
    for value in ["a", "b"] {
      try context.upsert(
        ["Ann", "Zoe"].map { name in
          Person(name: name, fields: [Field(type: "job", value: "\(name) \(value)")])
        })
    }
    #expect(try context.values(Field.self).map(\.value).sorted() == ["Ann b", "Zoe b"])
    try context.commit()
    try store.check()
  }

  @Test("A cyclic graph of models survives a round trip")
  func aGraphComesOutAsOneGraph() throws {
    let store = try PersistentStore(model: Self.model, at: .inMemory)
    let context = store.makeContext()
    let book = Chapter(title: "book")
    book.children = [Chapter(title: "one")]
    let read = try Chapter(try context.upsert(book))
    #expect(read.children[0].parent === read)
    try context.commit()
    try store.check()
  }

  @Test("Transformers work in both directions")
  func transformersWorkBothWays() throws {
    let store = try PersistentStore(model: Self.model, at: .inMemory)
    let context = store.makeContext()
    let json: JSONValue = ["kind": "wish", "due": "24.12.2024"]
    let ticket = try ValueAdapter.decode(Ticket.self, from: .value(json))
    let object = try context.upsert(ticket)
    #expect(object["kind"] == 2)
    #expect(try ValueAdapter.encode(try Ticket(object)) == json)
    try context.commit()
    try store.check()
  }

  private struct Product: ValueModel {
    var sku: Int
    var offers: [Offer]
    static let uniquingKeys: Set<String> = ["sku"]
  }

  private struct Offer: ValueModel {
    var number: Int
    static let uniquingKeys: Set<String> = ["number"]
  }

  @Test("An upsert within a scope leaves the objects of other sources alone")
  func scopesKeepObjectsOfOtherSources() throws {
    func number(_ name: String) -> AttributeDescription {
      AttributeDescription(name: name, type: .integer64, isOptional: true)
    }
    let model = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Product", attributes: [number("sku")],
        relationships: [
          RelationshipDescription(
            name: "offers", destination: "Offer", inverse: "product", isToMany: true)
        ]),
      EntityDescription(
        name: "Offer", attributes: [number("number")],
        relationships: [
          RelationshipDescription(name: "product", destination: "Product", inverse: "offers"),
          RelationshipDescription(name: "supplier", destination: "Supplier", inverse: "offers"),
        ]),
      EntityDescription(
        name: "Supplier",
        attributes: [AttributeDescription(name: "code", type: .string, isOptional: true)],
        relationships: [
          RelationshipDescription(
            name: "offers", destination: "Offer", inverse: "supplier", isToMany: true)
        ]),
    ])
    let store = try PersistentStore(model: model, at: .inMemory)
    let context = store.makeContext()
    let product = Product(sku: 1, offers: [])
    let object = try context.upsert(Product(sku: 1, offers: [Offer(number: 1)]))

    let own = try FetchPredicate(format: "supplier.code == %@", "A")
    try context.upsert(product, within: .objects(["Offer": own]))
    try context.upsert(product, within: .additions)

    #expect(try object.objects(forKey: "offers").fetch().count == 1)
    try context.upsert(product)
    #expect(try object.objects(forKey: "offers").fetch().isEmpty)
    try store.check()
  }

  @Test("Transformers can be used alone")
  func transformersWorkByThemselves() throws {
    let german = Locale(identifier: "de_DE")
    let day = JSONTransformer.date(format: "d. MMMM yyyy", timeZone: .gmt, locale: german)
    let size = JSONTransformer.number(Int.self, format: JSONNumberFormat(locale: german))
    let date: Date = try day.read("1. Mai 2024")
    let text = try size.write(1_234)

    #expect(date == Date(timeIntervalSince1970: 1_714_521_600) && text == "1.234")
  }

  @Test("The article shows the code of this test")
  func theArticleShowsThisCode() throws {
    let here = URL(filePath: #filePath)
    let folder = here.deletingLastPathComponent()
    let article = try String(
      contentsOf: folder.appending(
        path: "../../Sources/ArborData/ArborData.docc/ValueModels.md"), encoding: .utf8)
    let lines = Set(
      try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map {
        $0.trimmingCharacters(in: .whitespaces)
      })
    var isCode = false
    var count = 0
    for line in article.split(separator: "\n", omittingEmptySubsequences: true) {
      if line.hasPrefix("```") {
        isCode = line == "```swift"
      } else if isCode {
        count += 1
        #expect(lines.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
      }
    }
    #expect(count > 40)
  }
}
