import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

/// Folded and partial indexes: the queries they serve, with the same rows as without indexes.
@Suite struct AccessCandidatesTests {
  /// A store of 400 tasks with twenty different titles in varying case and with varying accents.
  private struct Tasks {
    let store: StoreEngine
    let entity: EntitySchema

    static func model(isIndexed: Bool) -> ManagedObjectModel {
      ManagedObjectModel(entities: [
        EntityDescription(
          name: "Task",
          attributes: [
            AttributeDescription(name: "title", type: .string, isOptional: true),
            AttributeDescription(name: "due", type: .integer32, isOptional: true),
            AttributeDescription(name: "rank", type: .integer32, isOptional: true),
            AttributeDescription(name: "isDone", type: .boolean, isOptional: true),
          ],
          fetchIndexes: isIndexed
            ? [
              FetchIndexDescription(name: "byTitle", elements: [.init("title", kind: .folded)]),
              FetchIndexDescription(
                name: "late", elements: [.init("due")], partialIndexPredicate: "due > 300"),
              FetchIndexDescription(
                name: "open", elements: [.init("rank")],
                partialIndexPredicate: "isDone == NO AND due != nil"),
              FetchIndexDescription(name: "words", elements: [.init("title", kind: .text)]),
            ] : [])
      ])
    }

    init(isIndexed: Bool) throws {
      store = try StoreEngine.open(StoreOpening(.inMemory, model: Self.model(isIndexed: isIndexed)))
      entity = try #require(store.schema.entity(named: "Task"))
      let stems = ["Étude", "étude", "ETUDE", "Zoë", "zoe", "Ähre", "ahre"]
      var tasks: [PlainObject] = []
      for (index, sequence) in try store.takeNumbers(400, for: entity).enumerated() {
        tasks.append(
          PlainObject(
            ObjectNumber(entity: entity.number, sequence: sequence), entity,
            [
              "title": index % 29 == 0
                ? .null : .string("\(stems[index % 7]) \(index % 20)"),
              "due": index % 31 == 0 ? .null : .integer(Int64(index)),
              "rank": .integer(Int64(index % 50)), "isDone": .boolean(index % 10 != 0),
            ]))
      }
      let allocator = SlabAllocator()
      var slabs: [RecordSlab] = []
      var changes = ChangeSet()
      for task in tasks {
        let record = task.record(allocator)
        slabs.append(record.slab)
        changes.records.append(.insert(task.number, record.view))
      }
      _ = try withExtendedLifetime(slabs) { try store.commit(changes) }
    }

    func ask(
      _ text: String, _ sortKeys: [SortKey], limit: Int
    ) throws -> (plan: QueryPlan, rows: [UInt64], count: Int) {
      let predicate = try FetchPredicate(format: text)
      let query = StoreQuery(
        entity: entity,
        predicate: (
          try PredicateBinder.bind(predicate, to: entity, in: store.schema), predicate.arguments
        ),
        sortKeys: try sortKeys.bind(to: entity, in: store.schema), limit: limit)
      let snapshot = try store.snapshot()
      defer { snapshot.close() }
      let fetched = try snapshot.fetch(query, overlay: nil, allocator: SlabAllocator())
      return (
        try snapshot.explain(query), fetched.rows.map(\.number.sequence),
        try snapshot.count(query, overlay: nil)
      )
    }

    func finish() throws {
      let report = try store.check()
      #expect(report.isSound, "\(report)")
      store.close()
    }
  }

  /// Runs queries with and without indexes, expects the same rows, and returns the plans.
  private func plans(
    _ questions: [(text: String, sortKeys: [SortKey], limit: Int)]
  ) throws -> [String] {
    let indexed = try Tasks(isIndexed: true)
    let plain = try Tasks(isIndexed: false)
    var plans: [String] = []
    for (text, sortKeys, limit) in questions {
      let found = try indexed.ask(text, sortKeys, limit: limit)
      let expected = try plain.ask(text, sortKeys, limit: limit)
      #expect(found.rows == expected.rows, "\(text)")
      #expect(found.count == expected.rows.count, "\(text)")
      #expect(!expected.plan.usesIndex)
      plans.append("\(found.plan)")
    }
    try indexed.finish()
    try plain.finish()
    return plans
  }

  @Test("Folded indexes serve comparisons that fold their texts")
  func foldedIndexesServeComparisonsThatFold() throws {
    let plans = try plans([
      ("title ==[cd] 'ÉTUDE 1'", [], 0), ("title IN[cd] {'zoe 3', 'AHRE 5'}", [], 0),
      ("title BEGINSWITH[cd] 'zoë 4'", [], 0), ("title LIKE[cd] 'ZOE 1?'", [], 0),
      ("title >[cd] 'zoe 9'", [], 0), ("title ==[c] 'étude 1'", [], 0), ("title == 'zoe 4'", [], 0),
      ("title == nil", [], 0), ("title BEGINSWITH[c] 'zoe 4'", [], 0),
      ("rank >= 0", [SortKey("title", options: [.caseInsensitive, .diacriticInsensitive])], 5),
    ])
    #expect(
      plans == [
        "index Task.byTitle: title[cd] == \"etude 1\" · 7 rows",
        "index Task.byTitle: title[cd] IN 2 values · 9 rows",
        "index Task.byTitle: title[cd] BEGINSWITH \"zoe 4\" · 6 rows",
        """
        filter title LIKE[cd] "ZOE 1?"
        └ scan Task · 400 rows
        """,
        "index Task.byTitle: title[cd] > \"zoe 9\" · 0 rows",
        """
        filter title ==[c] "étude 1"
        └ index Task.byTitle: title[cd] == "etude 1" · 7 rows
        """,
        """
        filter title == "zoe 4"
        └ index Task.byTitle: title[cd] == "zoe 4" · 6 rows
        """,
        "index Task.byTitle: title[cd] == nil · 14 rows",
        """
        filter title BEGINSWITH[c] "zoe 4"
        └ scan Task · 400 rows
        """,
        """
        limit 5
        └ filter rank >= 0
          └ index Task.byTitle: in order
        """,
      ])
  }

  @Test("A partial index serves queries that imply its condition")
  func partialIndexesServeWhatImpliesTheirCondition() throws {
    let plans = try plans([
      ("due > 390", [], 0), ("due BETWEEN {301, 310}", [], 0), ("due == 350", [], 0),
      ("due > 299", [], 0), ("due < 310", [], 0), ("due IN {305, nil}", [], 0),
      ("isDone == NO AND due > 100 AND rank == 40", [], 0), ("isDone == NO AND rank == 40", [], 0),
      ("isDone == NO AND due != nil", ["-rank"], 3), ("isDone == YES AND due != nil", ["-rank"], 3),
    ])
    #expect(
      plans.map { $0.contains("index Task.") } == [
        true, true, true, false, false, false, true, false, true, false,
      ])
    #expect(plans[0] == "index Task.late: due >= 391 · 9 rows")
    #expect(
      plans[6] == """
        filter due > 100
        └ index Task.open: rank == 40 · 8 rows
        """)
    #expect(
      plans[8] == """
        limit 3
        └ index Task.open: backward · about 3 rows
        """)
  }

  @Test("Words are looked up in a full-text index")
  func wordsAreFoundInATextIndex() throws {
    let plans = try plans([
      ("title TOKENMATCHES 'ZOË 4'", [], 0), ("title TOKENMATCHES 'ahr* 1'", [], 0),
      ("title TOKENMATCHES 'nobody'", [], 0), ("title CONTAINS[cdw] 'zoe 4'", [], 0),
      ("title TOKENMATCHES '1*' AND rank == 3", [], 0), ("title TOKENMATCHES '!'", [], 0),
    ])
    #expect(plans[0] == "index Task.words: title has zoe, 4 · about 6 rows")
    #expect(plans[1].hasPrefix("index Task.words: title has ahr*, 1 · "))
    #expect(plans[2] == "index Task.words: title has nobody · 0 rows")
    #expect(
      plans[3] == """
        filter title CONTAINS[cdw] "zoe 4"
        └ index Task.words: title has zoe, 4 · about 6 rows
        """)
  }
}
