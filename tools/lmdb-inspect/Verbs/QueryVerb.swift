import ArborBrowser
import ArborModel
import ArborObjects
import ArborStore
import ArgumentParser

/// `query`: prints rows of objects, or of groups of them.
struct QueryVerb: RowVerb {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Prints objects that match a predicate, as rows.",
    discussion: """
      A column is a key path or an expression of the predicate language, such as “company.name”, \
      “employees.@count” or “salary * 12 AS yearly”. With an aggregate such as “@count” or \
      “sum(salary) AS total”, there is one row for each group, or a single row without --group. \
      Without columns, a row contains the object's identity, its attributes and its to-one \
      relationships. Unsorted rows are printed as they are read.

      --request runs a fetch request of the model. A value given with --set has the type of the \
      attribute that its variable is compared with; lists are separated by commas. “queries” lists \
      the requests, the queries saved with --save, and your recent ones.

      Example: lmdb-inspect query Staff.arbor Employee "age > 40" --group company.name --columns \
      "company.name AS company, @count AS people" --sort -people
      """)

  @OptionGroup var target: FileArguments
  @OptionGroup var query: QueryArguments
  @OptionGroup var rows: RowArguments

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The columns of a row.", valueName: "column,column"),
    completion: StoreCompletion.properties)
  var columns: [String] = []

  @Option(
    help: ArgumentHelp("The key paths to group rows by.", valueName: "key,key"),
    completion: StoreCompletion.properties)
  var group: [String] = []

  @Option(
    help: ArgumentHelp(
      "A predicate for the groups, such as \"@count > 10\".", valueName: "predicate"))
  var having: String?

  @Flag(help: "Omit duplicate rows.")
  var distinct = false

  @Option(help: ArgumentHelp("Save the query under a name for --named.", valueName: "name"))
  var save: String?

  func validate() throws {
    if save != nil, query.request != nil {
      throw ValidationError("--save can save the query of an entity, but not a --request.")
    }
  }

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    let engine = try file.requireStore()
    var asked = try query.query(in: engine)
    if !columns.isEmpty { asked.columns = columns }
    if !group.isEmpty { asked.group = group }
    if let having { asked.having = having }
    if distinct { asked.isDistinct = true }
    try print(asked, of: file, in: engine, to: &printer)
    guard query.request == nil else { return }
    let shelf = QueryShelf(store: engine.id)
    if let save { try shelf.save(asked, as: save) }
    // Queries of scripts would displace those that the user has typed.
    if StandardStream.isTerminal { shelf.note(asked) }
  }

  private func print(
    _ asked: SavedQuery, of file: InspectedFile, in engine: StoreEngine, to printer: inout Printer
  ) throws {
    let request = try query.request(for: asked, in: file)
    let store = try file.openStore()
    defer { store.close() }
    let found = try RowQuery(
      request, of: file.entity(asked.entity), in: engine.schema, store.makeContext())
    let labels = printer.form == .text ? try ObjectLabels(engine) : nil
    defer { labels?.close() }
    var list = RowList(found.names, labels: labels)
    do {
      if request.sortKeys.isEmpty {
        try found.forEachRow { list.add($0, to: &printer) }
      } else {
        try ProgressLine.showing("sorting") { line in
          var isSorted = false
          try found.forEachRow { values in
            if !isSorted { line.end() }
            isSorted = true
            list.add(values, to: &printer)
          }
        }
      }
    } catch {
      list.cut(&printer)
      throw error
    }
    list.end(&printer)
  }
}
