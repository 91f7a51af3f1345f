import ArborBrowser
import ArborJSON
import ArborModel
import ArborObjects
import ArgumentParser

/// `explain`: prints the plan of a query.
struct ExplainVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Explains a query's plan and suggests an index.",
    discussion: """
      The plan is a tree of steps, the last one first. Each step processes the rows of those below \
      it. The query isn't run: rows are counted if that is cheap, otherwise estimated. With \
      --analyze, the query is run, and the plan shows the number of rows that each step returned, \
      the keys and records that it read, and its time. The time of the step that finds the rows \
      includes that of the steps below it.

      --what-if estimates the size of an index that doesn't exist, and counts the objects that the \
      query would find with it. A column is a property, with a minus sign for descending order, or \
      with [cd] to ignore case and diacritics in text.

      Example: lmdb-inspect explain Staff.arbor Employee "age > 40" --analyze --what-if age,name
      """)

  @OptionGroup var target: FileArguments
  @OptionGroup var query: QueryArguments

  @Flag(help: "Run the query and count the rows that each step returns.")
  var analyze = false

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The columns of a hypothetical index.", valueName: "column,column"),
    completion: StoreCompletion.properties)
  var whatIf: [String] = []

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    let asked = try query.query(in: file.requireStore())
    let request = try query.request(for: asked, in: file)
    let store = try file.openStore()
    defer { store.close() }
    let context = store.makeContext()
    let plan =
      analyze
      ? try ProgressLine.showing("analyzing") { _ in try context.explain(request, analyze: true) }
      : try context.explain(request)
    guard !whatIf.isEmpty else {
      return printer.print(json: .object(PlanText.json(plan)), text: PlanText.text(plan))
    }
    let index = try ProposedIndex(
      CommaList.parts(of: whatIf), of: asked.entity, in: store.model)
    let effect = try ProgressLine.showing("estimating the index") { _ in
      try index.effect(on: request, in: context)
    }
    var json = PlanText.json(plan)
    json["whatIf"] = effect.json
    printer.print(
      json: .object(json), text: "\(PlanText.text(plan))\n\(effect.text { SizeText.text($0) })")
  }
}
