import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

/// Orders that only the general code path supports, tested with whole fetches.
@Suite struct CollatedOrderTests {
  @Test(
    "Digits are compared as numbers if requested",
    arguments: [
      (SortKey.Options.numeric, ["item 9", "item 10", "item 100"]),
      (SortKey.Options([]), ["item 10", "item 100", "item 9"]),
    ])
  func digitsAreNumbersWhereAskedFor(options: SortKey.Options, expected: [String]) throws {
    try expectOrder(
      ["item 100", "item 9", "item 10"], [SortKey("name", options: options)], expected)
  }

  @Test("Equal folded texts keep the order of their objects")
  func foldedTextsThatAgreeKeepTheOrderOfTheObjects() throws {
    try expectOrder(
      ["b", "B", "a2", "A10"],
      [SortKey("name", options: [.numeric, .caseInsensitive])], ["a2", "A10", "b", "B"])
    try expectOrder(
      ["b", "B", "a2", "A10"],
      [SortKey("name", isAscending: false, options: [.numeric, .caseInsensitive])],
      ["b", "B", "A10", "a2"])
  }

  @Test("Localized orders follow the collation of the locale")
  func localesOrderLettersByAlphabetAndNotByCodePoint() throws {
    try expectOrder(
      ["zebra", "Äpfel", "apple", "Zoo"], [SortKey("name", options: .localized)],
      ["Äpfel", "apple", "zebra", "Zoo"].sorted {
        $0.compare($1, options: [], range: nil, locale: .current) == .orderedAscending
      })
  }

  @Test("Nil precedes every text, and ties are decided by the next key")
  func nilIsTheLeastTextAndTheNextKeyDecides() throws {
    try expectOrder(
      [nil, "2", "10", nil],
      [SortKey("name", options: .numeric), SortKey("objectID", isAscending: false)],
      ["-", "-", "2", "10"])
  }

  private func expectOrder(
    _ names: [String?], _ keys: [SortKey], _ expected: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let world = try QueryWorld(isIndexed: false)
    let (store, entity) = (world.store, world.entity("Person"))
    let people = try zip(store.takeNumbers(names.count, for: entity), names).map {
      PlainObject(
        ObjectNumber(entity: entity.number, sequence: $0), entity,
        ["name": $1.map(PropertyValue.string) ?? .null])
    }
    try world.commit(people)
    let bound = try keys.map { try $0.bind(to: entity, in: store.schema) }
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    for limit in [0, names.count - 1] {
      let rows = try snapshot.fetch(
        StoreQuery(entity: entity, sortKeys: bound, limit: limit), overlay: nil,
        allocator: SlabAllocator())
      let found = rows.rows.map { row in
        people.first { $0.number == row.number }?.values["name"].flatMap { value in
          if case .string(let name) = value { name } else { nil }
        } ?? "-"
      }
      #expect(
        found == Array(limit > 0 ? expected.prefix(limit) : expected[...]),
        sourceLocation: sourceLocation)
    }
    let report = try store.check()
    #expect(report.isSound, "\(report)", sourceLocation: sourceLocation)
    snapshot.close()
    store.close()
  }
}
