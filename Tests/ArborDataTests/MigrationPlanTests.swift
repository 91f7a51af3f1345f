import ArborData
import Foundation
import TestSupport
import Testing

/// Migration plans describe a migration and change nothing.
@Suite struct MigrationPlanTests {
  private func plan(
    _ store: EvolvingStore, _ model: ManagedObjectModel, _ options: StoreOptions = .init()
  ) throws -> MigrationPlan {
    let before = try Data(contentsOf: store.url)
    let plan = try PersistentStore.migrationPlan(for: store.url, to: model, options: options)
    #expect(try Data(contentsOf: store.url) == before)
    return plan
  }

  @Test("The plan of an in-place migration consists of one change of the catalog")
  func aPlanInPlaceIsOneChangeOfTheCatalog() throws {
    let store = try Library.store()
    let model = try Library.changed(book: "pages") {
      $0.name = "pageCount"
      $0.renamingIdentifier = "pages"
    }
    let plan = try plan(store, model)
    #expect(plan.isInPlace && plan.bytes == 0 && plan.obstacles.isEmpty && plan.losses.isEmpty)
    #expect(plan.objectCounts == ["Author": 5, "Book": Library.count])
    let first = try Library.model().fingerprint
    #expect(
      plan.description == """
        evolving.arbor, from version \(first) to \(model.fingerprint), in place:
        1. Update the model catalog:
           Book.pageCount: renamed from Book.pages
        """)
    #expect(
      try self.plan(store, Library.model()).description == "evolving.arbor already has this model."
    )
  }

  @Test("The article shows the printed plan, except for the number of bytes")
  func theArticleShowsAPlan() throws {
    func model(_ version: String, _ isbn: AttributeDescription) -> ManagedObjectModel {
      var model = ManagedObjectModel(entities: [
        EntityDescription(
          name: "Author",
          relationships: [
            .init(name: "favourites", destination: "Book", isToMany: version == "1")
          ]),
        EntityDescription(name: "Book", attributes: [isbn]),
      ])
      model.versionIdentifier = version
      return model
    }
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Library.arbor")
    do {
      let first = model("1", .init(name: "isbn13", type: .string, isOptional: true))
      let store = try PersistentStore(model: first, at: .file(url))
      defer { store.close() }
      let context = store.makeContext()
      let authors = try (0..<5).map { _ in try context.insert("Author") }
      let books = try (0..<2).map { _ in try context.insert("Book") }
      try context.commit()
      authors[0]["favourites"] = books
      try context.commit()
      try store.check()
    }
    let second = model(
      "2", .init(name: "isbn", type: .string, isOptional: true, renamingIdentifier: "isbn13"))
    let plan = try PersistentStore.migrationPlan(for: url, to: second)
    let shown = plan.description.replacing("\(plan.bytes) bytes", with: "2097152 bytes")
    let article = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/ArborData/ArborData.docc/SchemaEvolution.md"),
      encoding: .utf8)
    #expect(article.contains("```text\n\(shown)\n```"), "\(shown)")
  }

  @Test("The plan of a migration with code lists the objects to process")
  func aPlanWithCodeListsWhatItLooksAt() throws {
    let store = try EvolvingStore(MigrationStepTests.first(), MigrationStepTests.objects())
    var options = StoreOptions()
    options.migrationSteps = [try MigrationStepTests.step()]
    var model = try MigrationStepTests.second()
    model.versionIdentifier = "2"
    let plan = try plan(store, model, options)
    #expect(!plan.isInPlace && plan.bytes > 0 && plan.obstacles.isEmpty)
    #expect(plan.parts.map(\.runsCode) == [true])
    let first = try MigrationStepTests.first().fingerprint
    #expect(
      plan.description == """
        evolving.arbor, from version \(first) to 2, in a copy of \(plan.bytes) bytes:
        From \(first) to 2 by a step with code:
        1. Update the model catalog:
           Author.bookCount: added, mandatory without a default; existing objects without a \
        value violate the rule
           Book.code: added, mandatory without a default; existing objects without a value \
        violate the rule
           Book.seriesText: removed, its values are dropped
           Book.series: added
           Series: added
        Lost: Book.seriesText.
        """)
  }

  @Test("The plan lists all violations with the IDs of the objects")
  func whatObjectsBreakIsListedWithTheirIDs() throws {
    let store = try Library.store()
    var model = try Library.model()
    model.entities[0].relationships[1].isToMany = false
    model.entities[0].relationships[1].isOrdered = false
    model.entities[1].attributes[2].type = .integer32
    model.entities[1].attributes.append(AttributeDescription(name: "code", type: .string))
    model.entities[1].relationships[0].isOptional = false
    model.entities[1].relationships[1].isOptional = false
    model.entities[1].relationships[1].minimumCount = 1
    model.entities[1].uniquenessConstraints = [["isLent"]]
    model.entities[1].attributes[1].regularExpression = "text [0-8].*"
    model.entities[1].attributes[2].maximum = .integer(100)
    let plan = try plan(store, model)
    let count = Library.count
    let long = (0..<count).filter { $0 % 4 != 0 && $0 % 300 > 100 }.count
    let nines = (0..<count).filter { "\($0)".hasPrefix("9") }.count
    #expect(
      plan.obstacles.map(\.message) == [
        """
        Book.code: it is mandatory without a constant default, but there are \(count) objects \
        without a value (Book 1, Book 2, Book 3 and more). Give the attribute a constant default \
        (UUID() is not one), make it optional, or use a MigrationStep to fill it.
        """,
        """
        Book.fans: it needs at least 1 member, but there are \(count - count / 10) objects with \
        fewer (Book 2, Book 3, Book 4 and more). Change them with the former model, or use a \
        MigrationStep to do so.
        """,
        """
        Book.isLent becomes unique, but there are \(count) objects (Book 1, Book 2, Book 3 and \
        more) with equal values. Change the values with the former model, or use a MigrationStep \
        to change them.
        """,
        """
        Author.favourites: there is 1 object with more than one member (Author 1). Change the \
        objects with the former model, or use a MigrationStep to migrate them.
        """,
      ])
    #expect(
      plan.obstacles.map { $0.objectIDs.map(\.number) } == [
        [1, 2, 3], [2, 3, 4], [1, 2, 3], [1],
      ])
    #expect(
      plan.brokenRules.map(\.message) == [
        """
        Book.title: there are \(nines) objects (Book 10, Book 91, Book 92 and more) with a value \
        that doesn't match “text [0-8].*”.
        """,
        """
        Book.pages: there are \(long) objects (Book 102, Book 103, Book 104 and more) with a value \
        outside the range at most 100.
        """,
      ])
  }

  @Test("A plan is valid only for the model for which it was made")
  func anotherModelThanPlannedIsRefused() throws {
    let store = try Library.store()
    let model = try Library.changed(book: "pages") { $0.type = .integer32 }
    let plan = try plan(store, model)
    let other = try Library.changed(book: "pages") { $0.type = .integer64 }
    var options = StoreOptions()
    options.migrationPlan = plan
    let refusal = try store.refusal(of: other, options)
    #expect(
      refusal.message == """
        options.migrationPlan was created for a different store, model or set of migration steps. \
        Create a new plan.
        """)
    #expect(refusal.code == .modelMismatch)
    try store.evolve(to: model, options)
    // A plan that has already been carried out is ignored.
    try store.evolve(to: model, options)
  }
}
