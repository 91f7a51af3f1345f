import ArborData
import Foundation
import TestLength
import Testing

/// Books with authors and their favourites, for tests of migrations.
enum Library {
  static var count: Int { TestLength.of(120, long: 10_000) }

  static func model() throws -> ManagedObjectModel { try built.get() }

  private static let built = Result {
    try ManagedObjectModel {
      EntityDescription("Author") {
        AttributeDescription("id", .integer64, .indexed)
        AttributeDescription("name", .string, .optional, .indexed)
        RelationshipDescription("books", to: "Book", inverse: "author", .toMany)
        RelationshipDescription("favourites", to: "Book", inverse: "fans", .toMany, .ordered)
      }
      EntityDescription("Book") {
        AttributeDescription("id", .integer64, .indexed)
        AttributeDescription("title", .string)
        AttributeDescription("pages", .integer16, .optional)
        AttributeDescription("isLent", .boolean, .default(false))
        AttributeDescription("serial", .uuid, .optional)
        AttributeDescription("printed", .date, .optional)
        RelationshipDescription("author", to: "Author", inverse: "books")
        RelationshipDescription("fans", to: "Author", inverse: "favourites", .toMany)
      }
    }
  }

  static func text(_ number: Int) -> String { "text \(number) ä" }

  static func uuid(_ number: Int) -> UUID {
    UUID(uuidString: "00000000-0000-4000-8000-\(String(number + 100_000_000_000))") ?? UUID()
  }

  static func objects(_ count: Int = count) -> PlainObjects {
    var plain = PlainObjects()
    let authors = 5
    for number in 0..<authors {
      let id = Int64(number)
      plain.values["Author", default: [:]][id] = [
        "id": .integer(id), "name": number == 3 ? .null : .string(text(number)),
      ]
      plain.links["Author", default: [:]][id] = ["books": [], "favourites": []]
    }
    for number in 0..<count {
      let id = Int64(1000 + number)
      plain.values["Book", default: [:]][id] = [
        "id": .integer(id), "title": .string(text(number)),
        "pages": number % 4 == 0 ? .null : .integer(Int64(number % 300)),
        "isLent": .boolean(number % 3 == 0),
        "serial": number % 5 == 0 ? .null : .uuid(uuid(number)),
        "printed": number % 6 == 0
          ? .null : .date(Date(timeIntervalSinceReferenceDate: Double(number) * 1.5)),
      ]
      let author = Int64(number % authors)
      plain.links["Book", default: [:]][id] = ["author": [author], "fans": []]
      plain.links["Author"]?[author]?["books"]?.append(id)
      if number % 10 == 0 {
        plain.links["Author"]?[author]?["favourites"]?.insert(id, at: 0)
        plain.links["Book"]?[id]?["fans"] = [author]
      }
    }
    return plain
  }

  /// Creates a store of the library with its objects.
  static func store() throws -> EvolvingStore { try EvolvingStore(model(), objects()) }

  static func changed(
    _ entity: String, _ body: (inout EntityDescription) throws -> Void
  ) throws -> ManagedObjectModel {
    var model = try model()
    let index = try #require(model.entities.firstIndex { $0.name == entity })
    try body(&model.entities[index])
    return model
  }

  static func changed(
    book attribute: String, _ body: (inout AttributeDescription) -> Void
  ) throws -> ManagedObjectModel {
    try changed("Book") { book in
      let index = try #require(book.attributes.firstIndex { $0.name == attribute })
      body(&book.attributes[index])
    }
  }
}
