import ArborBrowser
import ArborModel
import ArborObjects
import ArborStore
import ArgumentParser

/// The arguments of verbs that query objects: an entity and a predicate, or a query with a name.
struct QueryArguments: ParsableArguments {
  @Argument(
    help: "The entity of the objects, including its subentities.",
    completion: StoreCompletion.entities)
  var entity: String?

  @Argument(help: "A predicate to match, such as \"age > 40 AND name BEGINSWITH 'A'\".")
  var predicate: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The key paths to sort by, with a minus sign for descending order.",
      valueName: "key,-key"), completion: StoreCompletion.properties)
  var sort: [String] = []

  @Option(help: "The maximum number of rows.")
  var limit: Int?

  @Option(
    help: ArgumentHelp("A fetch request of the model, in place of an entity.", valueName: "name"))
  var request: String?

  @Option(
    name: .customLong("set"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The value of a variable of the request, such as minimum=40.", valueName: "name=value"))
  var assignments: [String] = []

  @Option(
    help: ArgumentHelp(
      "A query that was saved with --save, in place of an entity.", valueName: "name"))
  var named: String?

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be greater than 0.") }
    switch [entity, request, named].compactMap({ $0 }).count {
    case 0: throw ValidationError("Pass the name of an entity, --request or --named.")
    case 1: break
    default: throw ValidationError("Use only one of an entity, --request and --named.")
    }
    if request == nil, !assignments.isEmpty {
      throw ValidationError("--set requires --request.")
    }
  }

  /// Returns the query that the arguments describe or name. Options override those of a named
  /// query.
  func query(in store: StoreEngine) throws -> SavedQuery {
    var query =
      if let named {
        try QueryShelf(store: store.id).query(named: named)
      } else if let request {
        SavedQuery(
          entity: try ModelRequest.named(request, in: store.schema, of: store.id).template.entity)
      } else {
        SavedQuery(entity: entity ?? "", predicate: predicate)
      }
    if !sort.isEmpty { query.sort = sort }
    if let limit { query.limit = limit }
    return query
  }

  /// Returns the request for a query.
  func request(
    for query: SavedQuery, in file: InspectedFile
  ) throws -> FetchRequest<ManagedObject> {
    guard let template = try request(in: file) else {
      _ = try file.entity(query.entity)
      return query.request()
    }
    var request = template
    query.complete(&request)
    return request
  }

  /// Returns the model's request with its variables, or `nil` if none was named.
  private func request(in file: InspectedFile) throws -> FetchRequest<ManagedObject>? {
    guard let name = request else { return nil }
    let store = try file.requireStore()
    let named = try ModelRequest.named(name, in: store.schema, of: store.id)
    return try FetchRequest(named.template, substituting: named.values(of: assignments))
  }
}
