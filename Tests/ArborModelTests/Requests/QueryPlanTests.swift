import ArborModel
import Testing

@Suite struct QueryPlanTests {
  private let index = QueryPlan.Step(
    .index, name: "Employee.age", detail: "age >= 30", estimatedRows: 1, actualRows: 1)

  private func sorted(_ input: QueryPlan.Step) -> QueryPlan {
    QueryPlan(
      QueryPlan.Step(
        .sort, detail: "name", estimatedRows: 20,
        inputs: [QueryPlan.Step(.filter, detail: "name != nil", inputs: [input])]))
  }

  @Test("A plan is printed as a tree")
  func aPlanPrintsAsATree() {
    #expect(
      sorted(index).description == """
        sort name · about 20 rows
        └ filter name != nil
          └ index Employee.age: age >= 30 · 1 row
        """)
    let related = QueryPlan.Step(
      .relationship, name: "Company.employees", detail: "of 2 objects", actualRows: 7,
      inputs: [QueryPlan.Step(.index, name: "Company.name", actualRows: 2)])
    let union = QueryPlan.Step(.union, actualRows: 8, inputs: [related, index])
    #expect(
      sorted(union).description == """
        sort name · about 20 rows
        └ filter name != nil
          └ union · 8 rows
            ├ relationship Company.employees: of 2 objects · 7 rows
            │ └ index Company.name · 2 rows
            └ index Employee.age: age >= 30 · 1 row
        """)
  }

  @Test("The step that accesses rows is identified")
  func theStepThatReadsRowsIsNamed() {
    let plan = sorted(index)
    #expect(plan.access.kind == .index && plan.usesIndex)
    #expect(plan.steps.map(\.kind) == [.index, .filter, .sort])
    let scan = QueryPlan(QueryPlan.Step(.scan, name: "Employee", actualRows: 3))
    #expect(!scan.usesIndex)
    #expect(scan.description == "scan Employee · 3 rows")
    let union = sorted(QueryPlan.Step(.union, inputs: [index, index]))
    #expect(union.access.kind == .union && !union.usesIndex)
  }
}
