import ArborData
import Foundation
import TestSupport
import Testing

/// Reverting a migration until it is confirmed. `EvolvingStore` tests for every change in the
/// migration tests that a revert restores the same data.
@Suite struct RevertedMigrationTests {
  private let bookStore: BookStore

  init() throws { bookStore = try BookStore() }

  @Test("A revert restores all dropped data")
  func everythingThatWasDroppedIsThereAgain() throws {
    let before = try bookStore.fill()
    do {
      let store = try bookStore.open(bookStore.lesser())
      defer { store.close() }
      try store.check()
    }
    try PersistentStore.revertMigration(bookStore.url)
    do {
      let store = try PersistentStore(model: bookStore.model(), at: .file(bookStore.url))
      defer { store.close() }
      #expect(try bookStore.contents(store) == before)
      let byTitle = FetchRequest<ManagedObject>(entity: "Book", predicate: "title == 'book 7'")
      #expect(try store.makeContext().fetch(byTitle).count == 1)
    }
    // Migrating again succeeds.
    let again = try bookStore.open(bookStore.lesser())
    defer { again.close() }
    try again.check()
    #expect(refusal { try PersistentStore.revertMigration(bookStore.url) }?.code == .inUse)
  }

  @Test("A confirmed migration cannot be reverted")
  func whatIsConfirmedHasNoWayBack() throws {
    _ = try bookStore.fill()
    do {
      let store = try bookStore.open(bookStore.lesser())
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
    let error = try #require(refusal { try PersistentStore.revertMigration(bookStore.url) })
    #expect(error.code == .notAllowed)
    #expect(
      error.message
        == "\(bookStore.url.path) has no migration to revert: the store was not migrated, or the "
        + "migration was confirmed. Restore a backup, or open the store with its current model.")
    let store = try bookStore.open(bookStore.lesser())
    defer { store.close() }
    try store.check()
  }

  /// A second migration confirms the first one, so only the second can be reverted.
  @Test("A second migration confirms the first one")
  func aMigrationConfirmsTheOneBefore() throws {
    _ = try bookStore.fill()
    try bookStore.open(bookStore.lesser()).close()
    var third = bookStore.lesser()
    third.entities[1].attributes.append(bookStore.text("born"))
    try bookStore.open(third).close()
    try PersistentStore.revertMigration(bookStore.url)
    #expect(refusal { try PersistentStore.revertMigration(bookStore.url) }?.code == .notAllowed)
    let store = try PersistentStore(at: .file(bookStore.url))
    defer { store.close() }
    #expect(store.model == bookStore.lesser())
    try store.check()
  }

  @Test("A purge also removes the data kept for a revert")
  func whatIsKeptGoesWithEverything() throws {
    _ = try bookStore.fill()
    do {
      let store = try bookStore.open(bookStore.lesser())
      defer { store.close() }
      try store.purge()
      try store.check()
    }
    #expect(refusal { try PersistentStore.revertMigration(bookStore.url) }?.code == .notAllowed)
  }

  @Test("Reverting a file that doesn't exist throws an error")
  func aFileThatIsNoneIsNamed() {
    #expect(refusal { try PersistentStore.revertMigration(bookStore.url) }?.code == .fileUnreadable)
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

  private func items(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entity: "Item", sortKeys: ["a"]))
  }

  @Test("A revert after commits restores the dropped values of unchanged objects")
  func valuesOfUnchangedObjectsAreThereAgain() throws {
    var former = plain(["a", "b"])
    former.entities.append(EntityDescription(name: "Gone", attributes: [bookStore.text("x")]))
    try bookStore.change(former) { context in
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
    newer.entities.append(EntityDescription(name: "Added", attributes: [bookStore.text("y")]))
    try bookStore.change(newer) { context in
      let items = try context.fetch(
        FetchRequest<ManagedObject>(entity: "Item", sortKeys: ["first"]))
      items[1]["c"] = "new"
      let fourth = try context.insert("Item")
      fourth["first"] = "a3"
      try context.insert("Added")["y"] = "lost"
    }
    let error = try #require(refusal { try PersistentStore.revertMigration(bookStore.url) })
    #expect(
      Set(error.violations.map(\.message)) == [
        "Item.c: removed, its values are dropped; list \"Item.c\" in revertMigration(_:dropping:) "
          + "to drop it.",
        "Added: removed, its objects are dropped; list \"Added\" in revertMigration(_:dropping:) "
          + "to drop it.",
      ])
    try PersistentStore.revertMigration(bookStore.url, dropping: ["Item.c", "Added"])
    #expect(refusal { try PersistentStore.revertMigration(bookStore.url) }?.code == .notAllowed)
    try bookStore.change(former) { context in
      let found = try items(context)
      #expect(found.map { $0["a"] as String? } == ["a0", "a1", "a2", "a3"])
      #expect(found.map { $0["b"] as String? } == ["b0", nil, "b2", nil])
      #expect(try context.count("Gone") == 3)
      try context.insert("Gone")["x"] = "x3"
      found[3]["b"] = "b3"
    }
    // The store can be migrated again, and object numbers are not reused.
    try bookStore.change(newer) { context in
      let added = try context.insert("Added")
      added["y"] = "other"
      let first = try context.fetch(FetchRequest<ManagedObject>(entity: "Item"))
      #expect(first.allSatisfy { $0["c"] as String? == nil })
    }
  }

  @Test("The index of a parent covers the objects of an entity that a revert restores")
  func indexesOfParentsHoldWhatComesBack() throws {
    var former = plain(["a"])
    former.entities[0].isAbstract = true
    former.entities[0].attributes[0].isIndexed = true
    var newer = former
    former.entities.append(EntityDescription(name: "Gone", parent: "Item"))
    newer.entities.append(EntityDescription(name: "Kept", parent: "Item"))
    former.entities.append(EntityDescription(name: "Kept", parent: "Item"))
    try bookStore.change(former) { context in
      for number in 0..<3 {
        try context.insert("Gone")["a"] = "gone \(number)"
        try context.insert("Kept")["a"] = "kept \(number)"
      }
    }
    try bookStore.change(newer) { try $0.insert("Kept")["a"] = "kept 3" }
    try PersistentStore.revertMigration(bookStore.url)
    try bookStore.change(former) { context in
      let request = FetchRequest<ManagedObject>(entity: "Item", predicate: "a >= 'gone 1'")
      let count = try context.count(request)
      #expect(count == 6)
    }
  }

  @Test("A revert is refused if a mandatory attribute would have no value")
  func aValueThatMustBeThereIsAskedFor() throws {
    try bookStore.change(plain(["a", "b"], mandatory: true)) { context in
      let item = try context.insert("Item")
      item["a"] = "a0"
      item["b"] = "b0"
    }
    try bookStore.change(plain(["a"])) { context in try context.insert("Item")["a"] = "a1" }
    let error = try #require(refusal { try PersistentStore.revertMigration(bookStore.url) })
    #expect(error.violations.count == 1 && error.violations.first?.keyPath == "b")
    try bookStore.change(plain(["a"])) { context in context.delete(try items(context)[1]) }
    try PersistentStore.revertMigration(bookStore.url)
    try bookStore.change(plain(["a", "b"], mandatory: true)) { context in
      let values = try items(context).map { $0["b"] as String? }
      #expect(values == ["b0"])
    }
  }
}
