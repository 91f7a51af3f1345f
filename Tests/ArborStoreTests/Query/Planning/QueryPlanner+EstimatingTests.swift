import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// Plans based on a schema and on counts alone, without a store.
@Suite struct QueryPlannerEstimatingTests {
  private let schema: ModelSchema

  init() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Company") {
        AttributeDescription("name", .string, .indexed)
        AttributeDescription("city", .string)
        RelationshipDescription("employees", to: "Employee", inverse: "company", .toMany)
      }
      EntityDescription("Employee") {
        AttributeDescription("name", .string)
        AttributeDescription("badge", .integer64, .unique)
        AttributeDescription("age", .integer16, .indexed)
        AttributeDescription("salary", .integer32, .indexed)
        RelationshipDescription("company", to: "Company", inverse: "employees")
      }
    }
    schema = try ModelSchema(model, catalog: SchemaCatalog(numbering: model))
  }

  private func plan(
    _ entityName: String, _ text: String?, sortKeys: [SortKey] = [], limit: Int = 0,
    _ counts: StubCounts
  ) throws -> String {
    let entity = try #require(schema.entity(named: entityName))
    let predicate = try text.map { text in
      let predicate = try FetchPredicate(format: text)
      return (try PredicateBinder.bind(predicate, to: entity, in: schema), predicate.arguments)
    }
    let query = StoreQuery(
      entity: entity, predicate: predicate,
      sortKeys: try sortKeys.bind(to: entity, in: schema), limit: limit)
    let environment = PredicateEnvironment(schema: schema, storeID: UUID())
    let scope = try PlanScope(query, environment, overlay: nil)
    let plan = try QueryPlanner(scope: scope, counts: counts).estimatedPlan()
    return QueryPlan(PlanExplainer(scope, showsValues: true).root(plan)).description
  }

  @Test("The estimated number of rows decides between an index and a scan")
  func countsDecideBetweenIndexAndScan() throws {
    var counts = StubCounts(objects: ["Employee": 1000, "Company": 20], rows: ["age": 60])
    #expect(
      try plan("Employee", "age > 30", counts) == "index Employee.age: age >= 31 · 60 rows")
    counts.rows["age"] = 70
    #expect(
      try plan("Employee", "age > 30", counts) == """
        filter age > 30
        └ scan Employee · 1000 rows
        """)
    // The cost of conditions on related objects is included.
    #expect(
      try plan("Employee", "age > 30 AND company.name ENDSWITH 'x'", counts).contains(
        "index Employee.age"))
  }

  @Test("The index with the fewest rows is chosen")
  func theFewestRowsAreTaken() throws {
    let counts = StubCounts(objects: ["Employee": 10_000], rows: ["age": 300, "salary": 200])
    #expect(
      try plan("Employee", "age > 30 AND salary > 10", counts).contains(
        "index Employee.salary: salary >= 11 · 200 rows"))
  }

  @Test("An index that is still being built is not read")
  func anIndexThatIsBeingFilledIsNotRead() throws {
    let counts = StubCounts(
      objects: ["Employee": 1000], rows: ["age": 3], unready: ["age"])
    #expect(
      try plan("Employee", "age > 30", sortKeys: ["age"], limit: 3, counts) == """
        limit 3
        └ sort age
          └ filter age > 30
            └ scan Employee · 1000 rows
        """)
  }

  @Test("A union is estimated to find the sum of its alternatives")
  func alternativesFindAtMostWhatTheyFindTogether() throws {
    let counts = StubCounts(objects: ["Employee": 1000], rows: ["age": 20])
    #expect(
      try plan("Employee", "badge == 17 OR age == 30", counts) == """
        union · about 21 rows
        ├ index Employee.badge: badge == 17 · 1 row
        └ index Employee.age: age == 30 · 20 rows
        """)
  }

  @Test("An intersection is estimated from independent selectivities")
  func listsShareWhatChanceGivesThem() throws {
    let counts = StubCounts(objects: ["Employee": 10_000], rows: ["age": 1000, "salary": 2000])
    #expect(
      try plan("Employee", "age > 30 AND salary > 10", counts) == """
        intersection · about 200 rows
        ├ index Employee.age: age >= 31 · 1000 rows
        └ index Employee.salary: salary >= 11 · 2000 rows
        """)
  }

  @Test("Related objects are estimated to be evenly distributed")
  func relatedObjectsAreSpreadEvenly() throws {
    var counts = StubCounts(objects: ["Employee": 1000, "Company": 20], rows: ["name": 2])
    #expect(
      try plan("Employee", "company.name == 'x'", counts) == """
        relationship Company.employees: of 2 objects · about 100 rows
        └ index Company.name: name == "x" · 2 rows
        """)
    // An equality without a count is estimated to match a tenth of the rows, but at least one.
    #expect(
      try plan("Employee", "company.name == 'x' AND company.city == 'y'", counts) == """
        relationship Company.employees: of about 1 object · about 50 rows
        └ filter city == "y" · about 1 row
          └ index Company.name: name == "x" · 2 rows
        """)
    counts.rows["name"] = 0
    #expect(
      try plan("Employee", "company.name == 'x'", counts) == """
        nothing · 0 rows
        └ index Company.name: name == "x" · 0 rows
        """)
    counts.rows["age"] = 5
    #expect(
      try plan("Company", "ANY employees.age > 60", counts) == """
        relationship Employee.company: of 5 objects · about 5 rows
        └ index Employee.age: age >= 61 · 5 rows
        """)
  }

  @Test("A sort order with a limit is read from an index unless few rows match")
  func anOrderWithALimitComesFromItsIndex() throws {
    let counts = StubCounts(objects: ["Employee": 1000], rows: ["age": 900])
    #expect(
      try plan("Employee", nil, sortKeys: ["-salary"], limit: 5, counts) == """
        limit 5
        └ index Employee.salary: backward · about 5 rows
        """)
    // Sorting a few rows is cheaper than scanning in order until enough rows match.
    #expect(
      try plan("Employee", "badge == 3", sortKeys: ["-salary"], limit: 5, counts) == """
        limit 5
        └ sort -salary
          └ index Employee.badge: badge == 3 · 1 row
        """)
  }
}
