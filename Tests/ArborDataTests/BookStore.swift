import ArborData
import Foundation
import TestSupport

/// A store of books whose model loses relationships, large binaries and an index, and regains them
/// by a revert.
struct BookStore {
  let folder: TemporaryFolder
  var url: URL { folder.url.appending(path: "books.arbor") }

  init() throws { folder = try TemporaryFolder() }

  /// Returns an optional string attribute, or a binary attribute that allows external storage.
  func text(_ name: String, isExternal: Bool = false) -> AttributeDescription {
    AttributeDescription(
      name: name, type: isExternal ? .binary : .string, isOptional: true,
      allowsExternalStorage: isExternal)
  }

  /// Returns the model of books with authors, ordered tags, and covers.
  func model() -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Book", attributes: [text("title"), text("cover", isExternal: true)],
        relationships: [
          RelationshipDescription(name: "author", destination: "Author", inverse: "books"),
          RelationshipDescription(
            name: "tags", destination: "Tag", inverse: "books", isToMany: true, isOrdered: true),
        ],
        fetchIndexes: [FetchIndexDescription(name: "byTitle", elements: [.init("title")])]),
      EntityDescription(
        name: "Author", attributes: [text("name"), text("photo", isExternal: true)],
        relationships: [
          RelationshipDescription(
            name: "books", destination: "Book", inverse: "author", isToMany: true)
        ]),
      EntityDescription(
        name: "Tag", attributes: [text("name")],
        relationships: [
          RelationshipDescription(
            name: "books", destination: "Book", inverse: "tags", isToMany: true)
        ]),
    ])
  }

  /// Returns a model without relationships, tags, covers and the index, in which books are renamed
  /// to volumes.
  func lesser() -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Volume", attributes: [text("title"), text("note")], renamingIdentifier: "Book"),
      EntityDescription(name: "Author", attributes: [text("name")]),
    ])
  }

  /// Opens the store and drops everything that the model no longer has.
  func open(_ model: ManagedObjectModel) throws -> PersistentStore {
    try PersistentStore(
      model: model, at: .file(url),
      options: StoreOptions(
        migration: .automatic(dropping: .everythingRemoved), durability: .relaxed))
  }

  /// Creates the store; returns its contents.
  @discardableResult
  func fill() throws -> String {
    let store = try open(model())
    defer { store.close() }
    let context = store.makeContext()
    let author = try context.insert("Author")
    author["name"] = "Ada"
    author["photo"] = PropertyValue.binary(Data(repeating: 7, count: 40_000))
    let tags = try (0..<3).map { number in
      let tag = try context.insert("Tag")
      tag["name"] = "tag \(number)"
      return tag
    }
    for number in 0..<20 {
      let book = try context.insert("Book")
      book["title"] = "book \(number)"
      book["author"] = author
      book["tags"] = [tags[number % 3], tags[(number + 1) % 3]]
      book["cover"] = PropertyValue.binary(Data(repeating: UInt8(number), count: 20_000))
    }
    try context.commit()
    return try contents(store)
  }

  /// Checks a store and returns its contents.
  func contents(_ store: PersistentStore) throws -> String {
    try store.check()
    let context = store.makeContext()
    var text = ""
    for entity in ["Book", "Author", "Tag"] {
      let objects = try context.fetch(FetchRequest<ManagedObject>(entity: entity))
      text += String(decoding: try context.export(objects, as: .ndjson), as: UTF8.self)
    }
    return text
  }

  /// Opens the store with a model, changes objects, commits, and checks the store.
  func change(_ model: ManagedObjectModel, _ body: (ManagedObjectContext) throws -> Void) throws {
    let store = try open(model)
    defer { store.close() }
    let context = store.makeContext()
    try body(context)
    try context.commit()
    try store.check()
  }
}

/// Returns the error that `body` throws, or `nil` if it doesn't throw.
func refusal(_ body: () throws -> Void) -> ArborError? {
  do {
    try body()
    return nil
  } catch {
    return error as? ArborError
  }
}
