import ArborModel
import ArborStore
@testable import ArborObjects
import Foundation
import TestSupport
import Testing

/// Property names in commits of former models, which are reported by their current names.
@Suite struct CommittedChangesTests {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "notes.arbor") }

  init() throws { folder = try TemporaryFolder() }

  private func text(_ name: String, from former: String? = nil) -> AttributeDescription {
    AttributeDescription(name: name, type: .string, isOptional: true, renamingIdentifier: former)
  }

  private func links(
    _ name: String, _ destination: String, inverse: String, isOrdered: Bool = false,
    from former: String? = nil
  ) -> RelationshipDescription {
    RelationshipDescription(
      name: name, destination: destination, inverse: inverse, isToMany: true,
      isOrdered: isOrdered, renamingIdentifier: former)
  }

  private func former() -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Note", attributes: [text("draft"), text("text"), text("title")],
        relationships: [
          links("tags", "Tag", inverse: "notes"),
          RelationshipDescription(name: "folder", destination: "Folder", inverse: "notes"),
          links("friends", "Tag", inverse: "friendsOf"),
          links("parts", "Tag", inverse: "partsOf", isOrdered: true),
        ]),
      EntityDescription(
        name: "Tag", attributes: [text("name")],
        relationships: [
          links("notes", "Note", inverse: "tags"), links("friendsOf", "Note", inverse: "friends"),
          links("partsOf", "Note", inverse: "parts"),
        ]),
      EntityDescription(
        name: "Folder", attributes: [text("name")],
        relationships: [links("notes", "Note", inverse: "folder")]),
      EntityDescription(name: "Plain", attributes: [text("one"), text("two")]),
    ])
  }

  /// Returns a model without drafts and tags, with new properties, and with renamed titles and
  /// friends.
  private func present() -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Note",
        attributes: [
          text("colour"), text("text"), text("heading", from: "title"), text("language"),
        ],
        relationships: [
          links("fans", "Tag", inverse: "fansOf"),
          links("parts", "Tag", inverse: "partsOf", isOrdered: true),
          links("peers", "Tag", inverse: "friendsOf", from: "friends"),
          RelationshipDescription(name: "folder", destination: "Folder", inverse: "notes"),
        ]),
      EntityDescription(
        name: "Tag", attributes: [text("name")],
        relationships: [
          links("fansOf", "Note", inverse: "fans"), links("friendsOf", "Note", inverse: "peers"),
          links("partsOf", "Note", inverse: "parts"),
        ]),
      EntityDescription(
        name: "Folder", attributes: [text("name")],
        relationships: [links("notes", "Note", inverse: "folder")]),
      EntityDescription(name: "Plain", attributes: [text("one"), text("two")]),
    ])
  }

  private func open(_ model: ManagedObjectModel) throws -> PersistentStore {
    try PersistentStore(
      model: model, at: .file(url),
      options: StoreOptions(migration: .automatic(dropping: .everythingRemoved)))
  }

  /// Returns the changed properties of the first object of an entity in each commit after a
  /// sequence.
  private func told(
    _ store: PersistentStore, of entity: String, after sequence: UInt64
  ) throws -> [Set<String>] {
    let snapshot = try store.engine.snapshot()
    defer { snapshot.close() }
    guard case .entries(let entries) = try snapshot.history(after: sequence) else { return [] }
    let id = try #require(
      try store.makeContext().fetch(FetchRequest<ManagedObject>(entity: entity)).first
    )
    .objectID
    return try entries.map {
      CommittedChanges($0, try HistoryToken($0.sequence, in: snapshot), in: store.engine)
    }
    .filter { $0.updated.contains(id) }.map { $0.changedProperties(of: id) }
  }

  /// Creates the store, and changes each property of a note in a separate commit, then some
  /// together.
  private func fill() throws {
    let store = try open(former())
    defer { store.close() }
    let context = store.makeContext()
    let (note, plain) = (try context.insert("Note"), try context.insert("Plain"))
    let folder = try context.insert("Folder")
    let tags = try (0..<3).map { _ in try context.insert("Tag") }
    try context.commit()
    func commit(_ change: () -> Void) throws {
      change()
      try context.commit()
    }
    try commit { note["draft"] = "1" }
    try commit { note["text"] = "2" }
    try commit { note["title"] = "3" }
    try commit { note["folder"] = folder }
    try commit { note["tags"] = [tags[0]] }
    try commit { note["friends"] = [tags[0], tags[1]] }
    try commit { note["parts"] = tags }
    try commit { note["parts"] = [tags[2], tags[0], tags[1]] }
    try commit {
      note["title"] = "9"
      note["draft"] = "9"
      note["friends"] = [tags[2]]
      note["tags"] = [tags[1]]
    }
    try commit { plain["two"] = "10" }
    #expect(
      try told(store, of: "Note", after: 1) == [
        ["draft"], ["text"], ["title"], ["folder"], ["tags"], ["friends"], ["parts"], ["parts"],
        ["draft", "title", "friends", "tags"],
      ])
  }

  @Test("Earlier commits are reported with the current names of their properties")
  func formerCommitsAreToldByPresentNames() throws {
    try fill()
    let store = try open(present())
    defer { store.close() }
    let former: [Set<String>] = [
      [], ["text"], ["heading"], ["folder"], [], ["peers"], ["parts"], ["parts"],
      ["heading", "peers"],
    ]
    #expect(try told(store, of: "Note", after: 1) == former)
    #expect(try told(store, of: "Plain", after: 1) == [["two"]])
    let tags = try #require(try told(store, of: "Tag", after: 1).first)
    #expect(tags == [])
    let context = store.makeContext()
    let note = try #require(
      try context.fetch(FetchRequest<ManagedObject>(entity: "Note")).first)
    for name in ["colour", "language", "heading", "text"] {
      note[name] = "new"
      try context.commit()
    }
    note["fans"] = try context.fetch(FetchRequest<ManagedObject>(entity: "Tag"))
    try context.commit()
    #expect(
      try told(store, of: "Note", after: 1)
        == former + [["colour"], ["language"], ["heading"], ["text"], ["fans"]])
    try store.check()
  }

  @Test("Reordering declarations changes neither the fingerprint nor the reported names")
  func anotherOrderOfDeclarationTellsTheSame() throws {
    try fill()
    var model = former()
    for index in model.entities.indices {
      model.entities[index].attributes.reverse()
      model.entities[index].relationships.reverse()
    }
    #expect(model.fingerprint == former().fingerprint)
    let store = try open(model)
    defer { store.close() }
    #expect(
      try told(store, of: "Note", after: 1) == [
        ["draft"], ["text"], ["title"], ["folder"], ["tags"], ["friends"], ["parts"], ["parts"],
        ["draft", "title", "friends", "tags"],
      ])
    try store.check()
  }

  @Test("After a reverted migration, commits are reported with their former names")
  func goingBackTellsOfWhatComesBack() throws {
    try fill()
    try open(present()).close()
    try PersistentStore.revertMigration(url)
    let store = try open(former())
    defer { store.close() }
    #expect(
      try told(store, of: "Note", after: 1) == [
        ["draft"], ["text"], ["title"], ["folder"], ["tags"], ["friends"], ["parts"], ["parts"],
        ["draft", "title", "friends", "tags"],
      ])
    try store.check()
  }
}
