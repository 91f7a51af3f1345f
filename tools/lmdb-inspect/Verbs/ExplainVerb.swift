import ArborModel
import ArborObjects
import ArgumentParser

/// `explain`: prints the plan of a query.
struct ExplainVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Explains a query's plan and suggests an index.",
    discussion: """
      The plan is a tree of steps, the last one first. Each step takes its rows from those below \
      it. The query isn't run: rows are counted if that is cheap, otherwise estimated. With \
      --analyze, the query is run, and the plan shows the number of rows each step returned.

      Example: lmdb-inspect explain Staff.arbor Employee "age > 40" --analyze
      """)

  @OptionGroup var target: FileArguments
  @OptionGroup var query: QueryArguments

  @Flag(help: "Run the query and count the rows that leave each step.")
  var analyze = false

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    let asked = try query.query(in: file.requireStore())
    let request = try query.request(for: asked, in: file)
    let store = try file.openStore()
    defer { store.close() }
    let plan = try store.makeContext().explain(request, analyze: analyze)
    printer.print(json: PlanText.json(plan), text: PlanText.text(plan))
  }
}
