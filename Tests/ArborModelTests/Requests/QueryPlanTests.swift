import ArborModel
import Testing

@Suite struct QueryPlanTests {
  private let plan = QueryPlan(steps: [
    QueryPlan.Step(
      .index, name: "Employee.age", detail: "age >= 30", estimatedRows: 1, actualRows: 1),
    QueryPlan.Step(.filter, detail: "name != nil"),
    QueryPlan.Step(.sort, detail: "name", estimatedRows: 20),
  ])

  @Test func aPlanPrintsAsATree() {
    #expect(
      plan.description == """
        sort name · about 20 rows
        └ filter name != nil
          └ index Employee.age: age >= 30 · 1 row
        """)
  }

  @Test func theStepThatReadsRowsIsNamed() {
    #expect(plan.access.kind == .index && plan.usesIndex)
    let scan = QueryPlan(steps: [QueryPlan.Step(.scan, name: "Employee", actualRows: 3)])
    #expect(!scan.usesIndex)
    #expect(scan.description == "scan Employee · 3 rows")
    #expect(QueryPlan(steps: []).access.kind == .nothing)
  }
}
