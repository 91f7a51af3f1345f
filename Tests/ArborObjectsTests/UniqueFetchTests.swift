import ArborModel
import ArborObjects
import Testing

/// Fetches by a unique attribute, which need no plan, compared with equivalent fetches that do.
@Suite("Fetches by a unique attribute") struct UniqueFetchTests {
  private let store: PersistentStore

  init() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Item") { AttributeDescription("code", .string, .optional, .unique) }
      EntityDescription("Book", parent: "Item") {
        AttributeDescription("pages", .integer64, .default(0))
      }
    }
    store = try PersistentStore(model: model, at: .inMemory)
  }

  /// Strings with distinct keys, and strings whose keys are truncated to the same bytes.
  private static let codes =
    ["", "a", "a\0", "ä", String(repeating: "x", count: 479)]
    + ["1", "2", "3"].map { String(repeating: "x", count: 600) + $0 }

  @Test("Fetches by a unique value agree with planned fetches")
  func findsWhatAScanFinds() throws {
    let context = store.makeContext()
    for (index, code) in Self.codes.enumerated() {
      try context.insert(index.isMultiple(of: 2) ? "Item" : "Book")["code"] = .string(code)
    }
    try context.insert("Item")["code"] = .null
    try context.commit()
    for code in Self.codes + ["b", "xx", String(repeating: "x", count: 600)] {
      for entity in ["Item", "Book"] {
        let direct = try store.makeContext().fetchIDs(
          FetchRequest(entity: entity, predicate: "code == \(code)"))
        let planned = try store.makeContext().fetchIDs(
          FetchRequest(entity: entity, predicate: "code == \(code) AND NOT code == nil"))
        #expect(direct == planned, "\(entity) of a code of \(code.utf8.count) bytes")
      }
      var items = FetchRequest<ManagedObject>(entity: "Item", predicate: "code == \(code)")
      items.includesSubentities = false
      let exact = try store.makeContext().fetch(items)
      #expect(exact.allSatisfy { $0.entity.name == "Item" && $0["code"] == .string(code) })
    }
    #expect(try store.makeContext().count("Item", matching: "code == \(nil)") == 1)
    try store.check()
  }

  @Test("Fetches by a unique value include pending changes")
  func seesUncommittedValues() throws {
    let context = store.makeContext()
    let item = try context.insert("Item")
    item["code"] = "old"
    try context.commit()
    item["code"] = "new"
    #expect(try context.fetchOne("Item", matching: "code == 'old'") == nil)
    #expect(try context.fetchOne("Item", matching: "code == 'new'") === item)
    #expect(try store.makeContext().fetchOne("Item", matching: "code == 'old'") != nil)
    context.delete(item)
    #expect(try context.fetchOne("Item", matching: "code == 'new'") == nil)
    try store.check()
  }
}
