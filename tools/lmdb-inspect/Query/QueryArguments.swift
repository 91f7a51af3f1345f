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
        SavedQuery(entity: try template(request, in: store).entity)
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
    var request =
      try request(in: file)
      ?? FetchRequest<ManagedObject>(
        entity: file.entity(query.entity).name,
        predicate: query.predicate.map { FetchPredicate(stringLiteral: $0) })
    if !query.sort.isEmpty {
      request.sortKeys = CommaList.parts(of: query.sort).map { SortKey(stringLiteral: $0) }
    }
    if let limit = query.limit { request.fetchLimit = limit }
    request.propertiesToFetch = CommaList.parts(of: query.columns).map { PropertyPath($0) }
    request.propertiesToGroupBy = CommaList.parts(of: query.group).map { PropertyPath($0) }
    return request
  }

  /// Returns the model's request with its variables, or `nil` if none was named.
  private func request(in file: InspectedFile) throws -> FetchRequest<ManagedObject>? {
    guard let name = request else { return nil }
    let store = try file.requireStore()
    let template = try template(name, in: store)
    var request = FetchRequest<ManagedObject>(entity: template.entity)
    request.fetchLimit = template.fetchLimit
    request.includesSubentities = template.includesSubentities
    request.returnsDistinctResults = template.returnsDistinctResults
    let predicate = try FetchPredicate(format: template.predicate ?? "TRUEPREDICATE")
    let values = try RequestVariables(
      request: name, predicate: predicate, entity: file.entity(template.entity), store: store
    ).values(of: assignments)
    request.predicate = predicate.substituting(values)
    return request
  }

  private func template(_ name: String, in store: StoreEngine) throws -> FetchRequestTemplate {
    let templates = store.schema.model.fetchRequestTemplates
    if let template = templates.first(where: { $0.name == name }) { return template }
    let names = templates.map(\.name).sorted().joined(separator: ", ")
    throw InspectError.notFound(
      "The model has no fetch request named \(name). "
        + (names.isEmpty ? "It has no requests." : "Its requests are \(names)."))
  }
}

/// Lists on the command line: `name,count(employees),-age`.
enum CommaList {
  /// Returns the elements of lists, split at commas outside parentheses, brackets and quotes. Omits
  /// empty ones.
  static func parts(of lists: [String]) -> [String] {
    lists.flatMap { list in
      var parts = [""]
      var depth = 0
      var quote: Character?
      for character in list {
        if let open = quote {
          if character == open { quote = nil }
        } else if character == "'" || character == "\"" {
          quote = character
        } else if "([{".contains(character) {
          depth += 1
        } else if ")]}".contains(character) {
          depth -= 1
        } else if character == ",", depth == 0 {
          parts.append("")
          continue
        }
        parts[parts.count - 1].append(character)
      }
      return parts.map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
        .filter { !$0.isEmpty }
    }
  }
}
