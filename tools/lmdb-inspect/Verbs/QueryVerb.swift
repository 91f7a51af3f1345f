import ArborModel
import ArborObjects
import ArborStore
import ArgumentParser

/// `query`: prints rows of objects, or of groups of them.
struct QueryVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Prints objects that match a predicate, as rows.",
    discussion: """
      A column is a key path or an expression of the predicate language, as “company.name”, \
      “employees.@count” or “salary * 12 AS yearly”; one that is an aggregate, as “@count” or \
      “sum(salary) AS total”, makes one row of each group, or of all objects where nothing is \
      grouped by. Without columns a row has the object's identity, its attributes and its to-one \
      relationships. Rows in no order are printed as they are read.

      Example: lmdb-inspect query Staff.arbor Employee "age > 40" --group company.name --columns \
      "company.name AS company, @count AS people" --sort -people
      """)

  @OptionGroup var target: FileArguments
  @OptionGroup var query: QueryArguments

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("What a row has.", valueName: "column,column"))
  var columns: [String] = []

  @Option(
    help: ArgumentHelp("Key paths whose equal values make one row.", valueName: "key,key"))
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
