import ArborData
import Foundation
import TestSupport
import Testing

/// Queries over records of several model versions, compared with the same store after all objects
/// were rewritten.
@Suite("Queries over records of several model versions") struct OlderLayoutQueriesTests {
  private let folder: TemporaryFolder
  private let store: PersistentStore

  /// Creates items of three versions: `name` is renamed to `title`, `flag` is removed, `rank` is
  /// added, and `pages` is widened.
  init() throws {
    folder = try TemporaryFolder()
    let url = folder.url.appending(path: "older.arbor")
    var model = try ManagedObjectModel {
      EntityDescription("Item") {
        AttributeDescription("number", .integer64)
        AttributeDescription("flag", .boolean, .default(true))
        AttributeDescription("name", .string, .optional)
        AttributeDescription("pages", .integer32, .optional)
        AttributeDescription("note", .string, .default("as it was"))
        RelationshipDescription("parent", to: "Item", inverse: "children")
        RelationshipDescription("children", to: "Item", inverse: "parent", .toMany)
      }
    }
    try Self.fill(url, model, 0..<300)
    model.entities[0].attributes.removeAll { $0.name == "flag" }
    for index in model.entities[0].attributes.indices
    where model.entities[0].attributes[index].name == "name" {
      model.entities[0].attributes[index].name = "title"
      model.entities[0].attributes[index].renamingIdentifier = "name"
    }
    model.entities[0].attributes.append(
      AttributeDescription(name: "rank", type: .integer16, defaultValue: 3))
    try Self.fill(url, model, 300..<400)
    for index in model.entities[0].attributes.indices
    where model.entities[0].attributes[index].name == "pages" {
      model.entities[0].attributes[index].type = .integer64
    }
    model.entities[0].attributes.append(
      AttributeDescription(name: "kind", type: .string, defaultValue: "plain"))
    try Self.fill(url, model, 400..<450)
    store = try PersistentStore(model: model, at: .file(url))
  }

  private static func fill(
    _ url: URL, _ model: ManagedObjectModel, _ numbers: Range<Int64>
  ) throws {
    let options = StoreOptions(migration: .automatic(dropping: ["Item.flag"]))
    let store = try PersistentStore(model: model, at: .file(url), options: options)
    defer { store.close() }
    let context = store.makeContext()
    let text = model.entities[0].attributes.contains { $0.name == "name" } ? "name" : "title"
    var parent: ManagedObject?
    for number in numbers {
      let item = try context.insert("Item")
      try item.setValue(.integer(number), forKey: "number")
      if !number.isMultiple(of: 3) { try item.setValue(.string("n\(number % 50)"), forKey: text) }
      if !number.isMultiple(of: 7) { try item.setValue(.integer(number % 40), forKey: "pages") }
      if number.isMultiple(of: 2) { try item.setValue(.string("note \(number)"), forKey: "note") }
      if number.isMultiple(of: 10) { parent = item } else { item["parent"] = parent }
    }
    // Some of the older objects are rewritten with this version.
    for item in try context.fetch(FetchRequest<ManagedObject>(entity: "Item"))
    where item["number"] == .integer(7) || item["number"] == .integer(307) {
      try item.setValue(.integer(1000), forKey: "pages")
    }
    try context.commit()
  }

  private static let predicates = [
    "pages > 20", "pages == nil", "title BEGINSWITH 'n1'", "title CONTAINS[cd] 'N4' AND pages < 30",
    "rank == 3", "rank == 3 AND pages > 35", "kind == 'plain'", "NOT (title == nil)",
    "pages IN {1, 2, 1000}", "note == 'as it was' OR pages == 12", "pages + rank > 30",
    "parent.pages > 20", "parent.title == nil AND pages > 3", "ANY children.pages > 38",
    "SUBQUERY(children, $c, $c.pages > 10 AND $c.rank == 3).@count > 4", "children.@count == 0",
    "length(note) > 8", "parent == nil", "pages > parent.pages",
  ]

  @Test("Queries return the same results before and after all records were rewritten")
  func queriesAnswerAsOfRecordsWrittenAnew() throws {
    defer { store.close() }
    let older = try answers()
    let context = store.makeContext()
    for rank: Int64 in [4, 3] {
      for item in try context.fetch(FetchRequest<ManagedObject>(entity: "Item")) {
        try item.setValue(.integer(rank), forKey: "rank")
      }
      try context.commit()
    }
    let newer = try answers()
    #expect(older.count == newer.count && older.count > 100)
    for (old, new) in zip(older, newer) { #expect(old == new) }
    try store.check()
  }

  /// Returns the results of queries of every form, each preceded by its predicate.
  private func answers() throws -> [String] {
    var answers: [String] = []
    for text in Self.predicates {
      let predicate = try FetchPredicate(format: text)
      let context = store.makeContext()
      var request = FetchRequest<ManagedObject>(entity: "Item", predicate: predicate)
      answers.append("\(text): \(try context.count(request))")
      answers.append("\(text): \(try context.fetchIDs(request).map(\.number))")
      let values = try context.fetch(request).map { item in
        ["number", "title", "pages", "note", "rank", "kind"].map { item[$0] as PropertyValue }
      }
      answers.append("\(text): \(values)")
      #expect(!values.isEmpty, "\(text)")
      for key in ["pages", "title", "-rank", "kind"] {
        request.sortKeys = [SortKey(stringLiteral: key), "number"]
        request.fetchLimit = 20
        let found = try context.fetch(request).map { $0["number"] as PropertyValue }
        answers.append("\(text) by \(key): \(found)")
      }
      let figures = try context.objects("Item").filter(predicate).values(
        of: .count("pages"), .sum("pages"), .maximum("title"), .minimum("rank"))
      answers.append("\(text): \(figures)")
    }
    return answers
  }
}
