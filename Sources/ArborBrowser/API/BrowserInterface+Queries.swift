internal import ArborJSON
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// The model's fetch requests, and the queries that the user keeps.
extension BrowserInterface {
  /// Returns the fetch requests with their variables, and the saved and the last queries. A file of
  /// the user that cannot be used is a problem of the response.
  func queries() throws(ArborError) -> JSONValue {
    var problems: [JSONValue] = []
    func list<R>(_ read: (QueryShelf) throws(UserFileError) -> R, _ empty: R) -> R {
      guard let shelf else { return empty }
      do throws(UserFileError) { return try read(shelf) } catch {
        problems.append(.string(error.message))
        return empty
      }
    }
    let saved = list({ shelf throws(UserFileError) in try shelf.queries() }, [:])
    let recent = list({ shelf throws(UserFileError) in try shelf.history() }, [])
    let templates = store.model.fetchRequestTemplates.sorted { $0.name < $1.name }
    return [
      "requests": .array(
        try templates.map { (template) throws(ArborError) in
          Self.json(of: try ModelRequest(template, in: store.schema, of: store.id))
        }),
      "saved": .array(
        saved.sorted { $0.key < $1.key }.map { ["name": .string($0.key), "query": $0.value.json] }),
      "recent": .array(recent.map { ["query": $0.json] }), "problems": .array(problems),
    ]
  }

  private static func json(of request: ModelRequest) -> JSONValue {
    [
      "name": .string(request.template.name), "query": request.query().json,
      "variables": .array(
        request.variables.map { variable in
          let type = request.type(of: variable)
          return [
            "name": .string(variable), "type": .string(type.name), "sample": .string(type.sample),
          ]
        }),
    ]
  }

  /// Returns a fetch request as a query. Parameters: `name`, and a `set` for each variable, in the
  /// form `variable=text`.
  ///
  /// - Throws: `QueryFailure` for a variable without a valid value, `ArborError`.
  func requestedQuery(_ request: HTTPRequest) throws -> JSONValue {
    let name = request.parameter("name") ?? ""
    let named = try ModelRequest.named(name, in: store.schema, of: store.id)
    var texts: [String: String] = [:]
    for assignment in request.parameters("set") {
      guard let (variable, text) = ModelRequest.assignment(assignment) else { continue }
      texts[variable] = text
    }
    var values: [String: PropertyValue] = [:]
    for variable in named.variables {
      do throws(ArborError) {
        values[variable] = try named.value(texts[variable] ?? "", of: variable)
      } catch { throw QueryFailure(field: variable, error: error) }
    }
    return ["query": named.query(values).json]
  }

  /// Changes the user's queries: `{"save": name, "query": {…}}`, `{"remove": name}`,
  /// `{"remember": {…}}` for the last queries, or `{"forget": true}`.
  ///
  /// - Throws: `UserFileError`, `ArborError`.
  func changeQueries(_ document: JSONValue) throws -> JSONValue {
    guard let shelf else {
      throw ArborError(.notAllowed, "This page doesn't save queries.")
    }
    if let name = document["save"]?.string {
      guard !name.allSatisfy(\.isWhitespace), name.count <= 100 else {
        throw ArborError(.invalidArgument, "Enter a name of at most 100 characters.")
      }
      try shelf.save(query(in: document["query"]), as: name)
    } else if let name = document["remove"]?.string {
      try shelf.remove(name)
    } else if let query = document["remember"] {
      try shelf.remember(self.query(in: query))
    } else if document["forget"] == .bool(true) {
      try shelf.forget()
    } else {
      throw ArborError(
        .invalidDocument,
        "Expected \"save\", \"remove\", \"remember\" or \"forget\".")
    }
    return try queries()
  }

  private func query(in document: JSONValue?) throws(ArborError) -> SavedQuery {
    let query = SavedQuery(document ?? .null)
    _ = try schema.entity(query.entity)
    return query
  }
}

/// A query as the page has it in its address: each part is a text.
extension SavedQuery {
  var json: JSONValue {
    func list(_ parts: [String]) -> JSONValue { .string(parts.joined(separator: ", ")) }
    return [
      "entity": .string(entity), "where": .string(predicate ?? ""), "column": list(columns),
      "group": list(group), "having": .string(having ?? ""), "sort": list(sort),
      "limit": .string(limit.map(String.init) ?? ""),
      "distinct": .string(isDistinct == true ? "true" : ""),
    ]
  }

  init(_ json: JSONValue) {
    func text(_ name: String) -> String? { json[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
    func list(_ name: String) -> [String] { text(name).map { [$0] } ?? [] }
    self.init(entity: text("entity") ?? "", predicate: text("where"))
    sort = list("sort")
    columns = list("column")
    group = list("group")
    having = text("having")
    limit = text("limit").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    isDistinct = text("distinct") == "true" ? true : nil
  }
}
