import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

/// Suggested indexes and executed plans, on ``PlannedPeople``.
@Suite struct IndexAdvisorTests {
  private func explain(
    _ entityName: String, _ text: String, sortKeys: [SortKey] = [], limit: Int = 0,
    showsValues: Bool = true, analyzes: Bool = false
  ) throws -> QueryPlan {
    let people = try PlannedPeople()
    let (store, entity) = (people.world.store, people.world.entity(entityName))
    let predicate = try FetchPredicate(format: text)
    let query = StoreQuery(
      entity: entity,
      predicate: (
        try PredicateBinder.bind(predicate, to: entity, in: store.schema), predicate.arguments
      ), sortKeys: try sortKeys.bind(to: entity, in: store.schema), limit: limit)
    let snapshot = try store.snapshot()
    let plan = try snapshot.explain(query, showsValues: showsValues, analyzes: analyzes)
    snapshot.close()
    try people.finish()
    return plan
  }

  @Test("An inefficient query suggests an index")
  func aScanIsToldWhichIndexItMisses() throws {
    func advice(_ text: String, sortKeys: [SortKey] = [], limit: Int = 0) throws -> String? {
      try explain("Employee", text, sortKeys: sortKeys, limit: limit).suggestedIndex?.description
    }
    #expect(
      try advice("plain == 'x'") == "FetchIndexDescription(\"byPlain\", on: \"plain\") at Employee")
    #expect(
      try advice("level > 3 AND plain == 'x' AND name ENDSWITH 'y'")
        == "FetchIndexDescription(\"byPlainLevel\", on: \"plain\", \"level\") at Employee")
    #expect(
      try advice("plain == 'x' AND level > 3", sortKeys: ["-badge"], limit: 3)
        == "FetchIndexDescription(\"byPlainBadge\", on: \"plain\", \"-badge\") at Employee")
    #expect(
      try advice("plain BEGINSWITH[cd] 'x'")
        == "FetchIndexDescription(\"byPlain\", on: .folded(\"plain\")) at Employee")
    // No index folds only case or only diacritics.
    #expect(try advice("plain BEGINSWITH[c] 'x'") == nil)
    #expect(try advice("plain >[d] 'x'") == nil)
    #expect(
      try advice("plain ==[c] 'x'")
        == "FetchIndexDescription(\"byPlain\", on: .folded(\"plain\")) at Employee")
    #expect(
      try advice("plain TOKENMATCHES 'some words'")
        == "FetchIndexDescription(text: \"plain\") at Employee")
    #expect(
      try advice("company.city == 'x'")
        == "FetchIndexDescription(\"byCity\", on: \"city\") at Company")
  }

  @Test("A query that no further index would serve suggests none")
  func whatIsServedNeedsNoAdvice() throws {
    for text in [
      "badge == 3", "age > 20", "name ENDSWITH 'y'", "FALSEPREDICATE",
      "badge == 3 AND plain == 'x'",
      "company.name == 'c03'",
    ] {
      #expect(try explain("Employee", text).suggestedIndex == nil, "\(text)")
    }
  }

  @Test("An analyzed plan contains the actual number of rows of each step")
  func aPlanThatHasBeenRunTellsItsRows() throws {
    let plan = try explain(
      "Employee", "age > 50 AND name ENDSWITH '51'", sortKeys: ["-plain"], limit: 2, analyzes: true)
    #expect(
      plan.description == """
        limit 2 · 2 rows
        └ sort -plain · 8 rows
          └ filter age > 50 AND name ENDSWITH "51" · 8 rows
            └ scan Employee · 800 rows
        """)
    let early = try explain("Employee", "name ENDSWITH '1'", limit: 3, analyzes: true)
    #expect(early.steps.map(\.actualRows) == [22, 3, 3])
    let ordered = try explain(
      "Employee", "name ENDSWITH '99'", sortKeys: ["-age"], limit: 2, analyzes: true)
    #expect(ordered.steps.map(\.kind) == [.index, .filter, .limit])
    #expect(ordered.steps.map(\.actualRows) == [2, 2, 2])
    // An ordered scan that finds too few rows is abandoned.
    let other = try explain(
      "Employee", "name ENDSWITH '01'", sortKeys: ["-age"], limit: 2, analyzes: true)
    #expect(other.steps.map(\.kind) == [.scan, .filter, .sort, .limit])
    #expect(other.steps.map(\.actualRows) == [800, 8, 8, 2])
  }

  @Test("The description of a plan can omit values")
  func valuesCanBeLeftOut() throws {
    let plan = try explain(
      "Employee", "badge IN {3, 4} AND name == 'secret' AND plain != nil", limit: 7,
      showsValues: false)
    #expect(!plan.description.contains("secret") && !plan.description.contains("4"))
    #expect(plan.description.contains("plain != nil"))
  }
}
