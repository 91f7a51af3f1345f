import ArborData
import Foundation
import TestSupport
import Testing

/// The way back from a migration, until it is confirmed. That it leads back to the same data is
/// what `EvolvingStore` tries for every change that the tests of migrations make.
@Suite struct RevertedMigrationTests {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "books.arbor") }

  init() throws { folder = try TemporaryFolder() }

  private func text(_ name: String, isExternal: Bool = false) -> AttributeDescription {
    AttributeDescription(
      name: name, type: isExternal ? .binary : .string, isOptional: true,
      allowsExternalStorage: isExternal)
  }

  private func model() -> ManagedObjectModel {
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
  private func lesser() -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Volume", attributes: [text("title"), text("note")], renamingIdentifier: "Book"),
      EntityDescription(name: "Author", attributes: [text("name")]),
    ])
  }

  private func open(_ model: ManagedObjectModel) throws -> PersistentStore {
    try PersistentStore(
      model: model, at: .file(url),
      options: StoreOptions(migration: .automatic(dropping: .everythingRemoved)))
  }

  /// Makes the store, and tells what it holds.
  private func fill() throws -> String {
    let store = try open(model())
    defer { store.close() }
    let context = store.makeContext()
    let author = try context.insert("Author")
    author["name"] = "Ada"
    author["photo"] = Value.binary(Data(repeating: 7, count: 40_000))
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
      book["cover"] = Value.binary(Data(repeating: UInt8(number), count: 20_000))
    }
    try context.commit()
    return try contents(store)
  }

  private func contents(_ store: PersistentStore) throws -> String {
    try store.check()
    let context = store.makeContext()
    var text = ""
    for entity in ["Book", "Author", "Tag"] {
      let objects = try context.fetch(FetchRequest<ManagedObject>(entity: entity))
      text += String(decoding: try context.export(objects, as: .ndjson), as: UTF8.self)
    }
    return text
  }

  private func refusal(_ body: () throws -> Void) -> ArborError? {
    do {
      try body()
      return nil
    } catch {
      return error as? ArborError
    }
  }

  @Test func everythingThatWasDroppedIsThereAgain() throws {
    let before = try fill()
    do {
      let store = try open(lesser())
      defer { store.close() }
      try store.check()
    }
    try PersistentStore.revertMigration(url)
    do {
      let store = try PersistentStore(model: model(), at: .file(url))
      defer { store.close() }
      #expect(try contents(store) == before)
      let byTitle = FetchRequest<ManagedObject>(entity: "Book", predicate: "title == 'book 7'")
      #expect(try store.makeContext().fetch(byTitle).count == 1)
    }
    // And there again.
    let again = try open(lesser())
    defer { again.close() }
    try again.check()
    #expect(refusal { try PersistentStore.revertMigration(url) }?.code == .inUse)
  }

  @Test func whatIsConfirmedHasNoWayBack() throws {
    _ = try fill()
    do {
      let store = try open(lesser())
      defer { store.close() }
      try store.check()
      try store.confirmMigration()
      try store.check()
      try store.confirmMigration()
      let context = store.makeContext()
      try context.insert("Author")["name"] = "after"
      try context.commit()
      try store.check()
    }
    let error = try #require(refusal { try PersistentStore.revertMigration(url) })
    #expect(error.code == .notAllowed)
    #expect(
      error.message
        == "\(url.path) has no migration to revert: there was none, or it is confirmed. Restore a "
        + "backup, or open the store with the model that it has.")
    let store = try open(lesser())
    defer { store.close() }
    try store.check()
  }

  @Test func aMigrationConfirmsTheOneBefore() throws {
    _ = try fill()
    try open(lesser()).close()
    var third = lesser()
    third.entities[1].attributes.append(text("born"))
    try open(third).close()
    try PersistentStore.revertMigration(url)
    #expect(refusal { try PersistentStore.revertMigration(url) }?.code == .notAllowed)
    let store = try PersistentStore(at: .file(url))
    defer { store.close() }
    #expect(store.model == lesser())
    try store.check()
  }

  @Test func whatIsKeptGoesWithEverything() throws {
    _ = try fill()
    do {
      let store = try open(lesser())
      defer { store.close() }
      try store.purge()
      try store.check()
    }
    #expect(refusal { try PersistentStore.revertMigration(url) }?.code == .notAllowed)
  }

  @Test func aFileThatIsNoneIsNamed() {
    #expect(refusal { try PersistentStore.revertMigration(url) }?.code == .fileUnreadable)
  }

  // MARK: Over later commits

  private func plain(_ names: [String], mandatory: Bool = false) -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Item",
        attributes: names.map {
          AttributeDescription(
            name: $0, type: .string, isOptional: !(mandatory && $0 == "b"))
        })
    ])
  }

  private func change(_ model: ManagedObjectModel, _ body: (ManagedObjectContext) throws -> Void)
    throws
  {
    let store = try open(model)
    defer { store.close() }
    let context = store.makeContext()
    try body(context)
    try context.commit()
    try store.check()
  }

  private func items(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entity: "Item", sortKeys: ["a"]))
  }

  /// Nothing converts them back, and they are still there: whatever was removed does not name them.
  @Test func valuesOfAnotherTypeStayUnlessTheyAreNamed() throws {
    var former = plain(["a"])
    former.entities[0].attributes.append(
      AttributeDescription(name: "key", type: .uuid, isOptional: true))
    try change(former) { try $0.insert("Item")["key"] = UUID() }
    var newer = former
    newer.entities[0].attributes[1].type = .string
    try change(newer) { try $0.insert("Item")["key"] = "text" }
    let before = try Data(contentsOf: url)
    let error = try #require(
      refusal { try PersistentStore.revertMigration(url, dropping: .everythingRemoved) })
    #expect(error.code == .notAllowed)
    #expect(
      error.violations.map(\.message) == [
        "Item.key: the type changes from string to uuid, without code its values are dropped; "
          + "nothing converts its values back: name \"Item.key\" to let it begin anew, or go on "
          + "with the newer model, and carry the data over by an export."
      ])
    #expect(try Data(contentsOf: url) == before)
    try PersistentStore.revertMigration(url, dropping: ["Item.key"])
    let store = try open(former)
    defer { store.close() }
    let context = store.makeContext()
    #expect(try items(context).map { $0["key"] as Value } == [.null, .null])
    try store.check()
  }

  @Test func valuesOfUnchangedObjectsAreThereAgain() throws {
    var former = plain(["a", "b"])
    former.entities.append(EntityDescription(name: "Gone", attributes: [text("x")]))
    try change(former) { context in
      for number in 0..<3 {
        let item = try context.insert("Item")
        item["a"] = "a\(number)"
        item["b"] = "b\(number)"
        try context.insert("Gone")["x"] = "x\(number)"
      }
    }
    var newer = plain(["a", "c"])
    newer.entities[0].attributes[0].name = "first"
    newer.entities[0].attributes[0].renamingIdentifier = "a"
    newer.entities.append(EntityDescription(name: "Added", attributes: [text("y")]))
    try change(newer) { context in
      let items = try context.fetch(
        FetchRequest<ManagedObject>(entity: "Item", sortKeys: ["first"]))
      items[1]["c"] = "new"
      let fourth = try context.insert("Item")
      fourth["first"] = "a3"
      try context.insert("Added")["y"] = "lost"
    }
    let error = try #require(refusal { try PersistentStore.revertMigration(url) })
    #expect(
      Set(error.violations.map(\.message)) == [
        "Item.c: removed, its values are dropped; name \"Item.c\" in "
          + "revertMigration(_:dropping:) to let that go.",
        "Added: removed, its objects are dropped; name \"Added\" in "
          + "revertMigration(_:dropping:) to let that go.",
      ])
    try PersistentStore.revertMigration(url, dropping: ["Item.c", "Added"])
    #expect(refusal { try PersistentStore.revertMigration(url) }?.code == .notAllowed)
    try change(former) { context in
      let found = try items(context)
      #expect(found.map { $0["a"] as String? } == ["a0", "a1", "a2", "a3"])
      #expect(found.map { $0["b"] as String? } == ["b0", nil, "b2", nil])
      #expect(try context.count("Gone") == 3)
      try context.insert("Gone")["x"] = "x3"
      found[3]["b"] = "b3"
    }
    // The way is open again, and numbers do not come back as others.
    try change(newer) { context in
      let added = try context.insert("Added")
      added["y"] = "other"
      let first = try context.fetch(FetchRequest<ManagedObject>(entity: "Item"))
      #expect(first.allSatisfy { $0["c"] as String? == nil })
    }
  }

  /// The index of a parent covers the objects of an entity that comes back.
  @Test func indexesOfParentsHoldWhatComesBack() throws {
    var former = plain(["a"])
    former.entities[0].isAbstract = true
    former.entities[0].attributes[0].isIndexed = true
    var newer = former
    former.entities.append(EntityDescription(name: "Gone", parent: "Item"))
    newer.entities.append(EntityDescription(name: "Kept", parent: "Item"))
    former.entities.append(EntityDescription(name: "Kept", parent: "Item"))
    try change(former) { context in
      for number in 0..<3 {
        try context.insert("Gone")["a"] = "gone \(number)"
        try context.insert("Kept")["a"] = "kept \(number)"
      }
    }
    try change(newer) { try $0.insert("Kept")["a"] = "kept 3" }
    try PersistentStore.revertMigration(url)
    try change(former) { context in
      let request = FetchRequest<ManagedObject>(entity: "Item", predicate: "a >= 'gone 1'")
      let count = try context.count(request)
      #expect(count == 6)
    }
  }

  @Test func aValueThatMustBeThereIsAskedFor() throws {
    try change(plain(["a", "b"], mandatory: true)) { context in
      let item = try context.insert("Item")
      item["a"] = "a0"
      item["b"] = "b0"
    }
    try change(plain(["a"])) { context in try context.insert("Item")["a"] = "a1" }
    let error = try #require(refusal { try PersistentStore.revertMigration(url) })
    #expect(error.violations.count == 1 && error.violations.first?.keyPath == "b")
    try change(plain(["a"])) { context in context.delete(try items(context)[1]) }
    try PersistentStore.revertMigration(url)
    try change(plain(["a", "b"], mandatory: true)) { context in
      let values = try items(context).map { $0["b"] as String? }
      #expect(values == ["b0"])
    }
  }
}
