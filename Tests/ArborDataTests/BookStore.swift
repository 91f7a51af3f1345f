import ArborData
import Foundation
import TestSupport

/// A store of books whose model loses relationships, large binaries and an index, and gets them
/// back.
struct BookStore {
  let folder: TemporaryFolder
  var url: URL { folder.url.appending(path: "books.arbor") }

  init() throws { folder = try TemporaryFolder() }

  /// An attribute of strings, or of binaries that large values keep outside records.
  func text(_ name: String, isExternal: Bool = false) -> AttributeDescription {
    AttributeDescription(
      name: name, type: isExternal ? .binary : .string, isOptional: true,
      allowsExternalStorage: isExternal)
  }

  /// Books with authors, tags in order and covers.
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

  /// Books without authors, tags, covers and an index, under another name.
  func lesser() -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Volume", attributes: [text("title"), text("note")], renamingIdentifier: "Book"),
      EntityDescription(name: "Author", attributes: [text("name")]),
    ])
  }

  /// Opens the store, and drops what the model does not have.
  func open(_ model: ManagedObjectModel) throws -> PersistentStore {
    try PersistentStore(
      model: model, at: .file(url),
      options: StoreOptions(
        migration: .automatic(dropping: .everythingRemoved), durability: .relaxed))
  }

  /// Makes the store, and tells what it holds.
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

  /// What a store that is sound holds.
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

  /// Changes objects in a store of that model, and checks it.
  func change(_ model: ManagedObjectModel, _ body: (ManagedObjectContext) throws -> Void) throws {
    let store = try open(model)
    defer { store.close() }
    let context = store.makeContext()
    try body(context)
    try context.commit()
    try store.check()
  }
}

/// The error that a body throws; nil where it throws none.
func refusal(_ body: () throws -> Void) -> ArborError? {
  do {
    try body()
    return nil
  } catch {
    return error as? ArborError
  }
}
