import ArborData
import Foundation
import TestSupport
import Testing

/// A migration that narrows the allowed number of members is refused, with a list of the
/// violations, if existing objects violate it.
@Suite("Migrations that change the allowed number of members") struct MemberRulesMigrationTests {
  private static let lead =
    "The store has a different model and was not migrated because of "
  private static let ways =
    ". Resolve them, open the store with its former model, or set options.onMismatch to replace it."

  /// Returns the library's model with another book attribute, so that a migration is needed, and
  /// modified rules.
  private func model(
    _ change: (inout ManagedObjectModel) -> Void
  ) throws -> ManagedObjectModel {
    var model = try Library.model()
    model.entities[1].attributes.append(
      AttributeDescription(name: "note", type: .string, isOptional: true))
    change(&model)
    return model
  }

  private func withRules() throws -> ManagedObjectModel {
    try model {
      $0.entities[0].relationships[1].maximumCount = 2
      $0.entities[1].relationships[0].isOptional = false
      $0.entities[1].relationships[1].isOptional = false
      $0.entities[1].relationships[1].minimumCount = 1
    }
  }

  /// Creates a library of four books: the third has no author, and only the first three have fans.
  private func store() throws -> EvolvingStore {
    var plain = PlainObjects()
    plain.values["Author"] = [0: ["id": .integer(0), "name": "Ada"]]
    plain.links["Author"] = [0: ["books": [1000, 1001, 1003], "favourites": [1002, 1000, 1001]]]
    for id in Int64(1000)...1003 {
      plain.values["Book", default: [:]][id] = [
        "id": .integer(id), "title": "a book", "pages": .null, "isLent": .boolean(false),
        "serial": .null, "printed": .null,
      ]
      plain.links["Book", default: [:]][id] = [
        "author": id == 1002 ? [] : [0], "fans": id == 1003 ? [] : [0],
      ]
    }
    return try EvolvingStore(Library.model(), plain)
  }

  private static let end = "Change them with the former model, or use a MigrationStep to do so."
  private static let broken = [
    """
    Author.favourites: it takes at most 2 members, but there is 1 object with more (Author 1). \
    \(end)
    """,
    "Book.author: it needs at least 1 member, but there is 1 object with fewer (Book 3). \(end)",
    "Book.fans: it needs at least 1 member, but there is 1 object with fewer (Book 4). \(end)",
  ]

  @Test("Objects that violate the rules are listed and can be corrected")
  func objectsThatBreakThemAreListedAndMended() throws {
    let store = try store()
    let model = try withRules()
    let plan = try PersistentStore.migrationPlan(for: store.url, to: model)
    #expect(plan.isInPlace && plan.obstacles.map(\.message) == Self.broken)
    for options in [StoreOptions(), StoreOptions(migration: .lightweightOnly)] {
      let refusal = try store.refusal(of: model, options)
      #expect(refusal.code == .modelMismatch)
      #expect(refusal.message == Self.lead + "3 obstacles" + Self.ways)
      let needsAutomatic = options.migration != StoreOptions().migration
      #expect(
        refusal.violations.map(\.message)
          == Self.broken.map { broken in
            needsAutomatic
              ? broken.dropLast() + " with options.migration = .automatic." : broken
          })
      #expect(refusal.violations.map { $0.objectID?.number } == [1, 3, 4])
    }
    try store.change { context, plain in
      let author = try #require(try context.fetchOne("Author"))
      let books = try context.fetch(FetchRequest<ManagedObject>(entity: "Book", sortKeys: ["id"]))
      books[2]["author"] = author
      author["favourites"] = [books[0]]
      books[1].context?.delete(books[1])
      books[2].context?.delete(books[2])
      books[3].context?.delete(books[3])
      for id in Int64(1001)...1003 {
        plain.values["Book"]?[id] = nil
        plain.links["Book"]?[id] = nil
      }
      plain.links["Author"] = [0: ["books": [1000], "favourites": [1000]]]
    }
    try store.evolve(to: model) { $0.change("Book") { $0["note"] = .null } }
  }

  @Test("The rules are checked after the custom code has run")
  func aStepMendsThemOrIsRefused() throws {
    let store = try store()
    let former = try Library.model()
    let model = try withRules()
    var options = StoreOptions()
    options.migrationSteps = [MigrationStep(from: former, to: model) { _ in }]
    let refusal = try store.refusal(of: model, options, begins: true)
    #expect(refusal.message == Self.lead + "3 obstacles" + Self.ways)
    #expect(refusal.violations.map(\.message) == Self.broken)
    options.migrationSteps = [
      MigrationStep(from: former, to: model) { migration in
        try migration.migrate("Author") { _, new in
          new["favourites"] = Array((new["favourites"] as [ManagedObject]).prefix(2))
        }
        try migration.migrate("Book") { _, new in
          let author = try migration.newContext.fetchOne("Author")
          new["author"] = author
          if (new["fans"] as [ManagedObject]).isEmpty {
            let fan = try migration.insert("Author")
            fan["id"] = new["id"] as Int64
            new["fans"] = [fan]
          }
        }
      }
    ]
    let migrated = try PersistentStore(model: model, at: .file(store.url), options: options)
    defer { migrated.close() }
    try migrated.check()
    let context = migrated.makeContext()
    #expect(try context.count("Author") == 3)
    #expect(
      try context.count(
        FetchRequest<ManagedObject>(entity: "Book", predicate: "author != nil && fans.@count == 1"))
        == 4)
  }

  @Test("A pass over the objects doesn't begin if they violate the rules")
  func aMigrationInACopyIsRefusedBeforeItBegins() throws {
    let store = try store()
    var model = try withRules()
    model.entities[1].attributes[2].type = .integer32
    model.entities[1].attributes[4].type = .string
    model.entities[0].relationships[0].isOrdered = true
    let refusal = try store.refusal(of: model)
    #expect(refusal.violations.map(\.message) == Self.broken)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path).sorted()
        == ["evolving.arbor", "evolving.arbor-lock"])
  }

  @Test("A change of rules alone doesn't require a migration")
  func rulesAloneAreNoMigration() throws {
    let store = try store()
    var model = try Library.model()
    model.entities[1].relationships[0].isOptional = false
    let opened = try PersistentStore(model: model, at: .file(store.url))
    defer { opened.close() }
    let context = opened.makeContext()
    let book = try #require(
      try context.fetchOne(FetchRequest<ManagedObject>(entity: "Book", predicate: "id == 1002")))
    book["title"] = "changed"
    #expect(throws: ArborError.self) { try context.commit() }
    book["author"] = try context.fetchOne("Author")
    try context.commit()
    try opened.check()
  }
}
