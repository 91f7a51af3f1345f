import ArborModel
import ArborObjects
import ArborStore
import ArgumentParser

/// `query`: prints rows of objects, or of groups of them.
struct QueryVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Prints objects that match a predicate, as rows.",
    discussion: """
      A column is a key path or an expression of the predicate language, such as “company.name”, \
      “employees.@count” or “salary * 12 AS yearly”. With an aggregate such as “@count” or \
      “sum(salary) AS total”, there is one row for each group, or a single row without --group. \
      Without columns, a row contains the object's identity, its attributes and its to-one \
      relationships. Unsorted rows are printed as they are read.

      Example: lmdb-inspect query Staff.arbor Employee "age > 40" --group company.name --columns \
      "company.name AS company, @count AS people" --sort -people
      """)

  @OptionGroup var target: FileArguments
  @OptionGroup var query: QueryArguments

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The columns of a row.", valueName: "column,column"))
  var columns: [String] = []

  @Option(
    help: ArgumentHelp("The key paths to group rows by.", valueName: "key,key"))
  var group: [String] = []

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    var request = try query.request(in: file)
    request.propertiesToFetch = CommaList.parts(of: columns).map { PropertyPath($0) }
    request.propertiesToGroupBy = CommaList.parts(of: group).map { PropertyPath($0) }
    if request.propertiesToFetch.isEmpty, !request.propertiesToGroupBy.isEmpty {
      request.propertiesToFetch = request.propertiesToGroupBy + ["@count AS count"]
    }
    let store = try file.openStore()
    defer { store.close() }
    let engine = try file.requireStore()
    let rows = try RowQuery(
      request, of: file.entity(query.entity), in: engine.schema, store.makeContext())
    var list = RowList(rows.names)
    do { try rows.forEachRow { list.add($0, to: &printer) } } catch {
      list.cut(&printer)
      throw error
    }
    list.end(&printer)
  }
}
