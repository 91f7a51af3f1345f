internal import ArborJSON
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// The requests that the page can send, each with its own path.
///
/// Objects are read in a context that is created for the response. Only ``feed`` and ``editor``
/// retain objects or values between requests.
final class BrowserInterface: Sendable {
  let store: PersistentStore
  let schema: BrowsedSchema
  let allowsWriting: Bool
  let limits: HTTPLimits
  let feed: ChangeFeed
  let checkUp: CheckUp
  let editor: ObjectEditor?
  /// Where the user's queries are kept, or `nil` if they aren't.
  let shelf: QueryShelf?
  let compared: ComparedModel?
  let exports = ExportLog()

  init(
    _ store: PersistentStore, allowsWriting: Bool, shelf: QueryShelf? = nil,
    compared: ComparedModel? = nil, limits: HTTPLimits
  ) {
    self.store = store
    self.shelf = shelf
    self.compared = compared
    self.allowsWriting = allowsWriting
    self.limits = limits
    schema = BrowsedSchema(store.model)
    feed = ChangeFeed(store, schema)
    checkUp = CheckUp(store)
    editor = allowsWriting ? ObjectEditor(store, schema, workTime: limits.workTime) : nil
  }

  func response(to request: HTTPRequest) -> HTTPResponse {
    do {
      guard request.path.hasPrefix(RequestGate.guarded) else {
        return try PageFiles.answer(request)
      }
      return try answer(request)
    } catch let error as HTTPRequest.Refusal {
      return .refusal(error.status, error.reason)
    } catch let failure as QueryFailure {
      return .json(
        ["error": Self.json(of: failure.error), "field": .string(failure.field)],
        status: Self.status(of: failure.error))
    } catch let failure as EditRun.Failure {
      return .json(
        [
          "error": Self.json(of: failure.error),
          "violations": .array(failure.violations.map(\.json)),
        ], status: Self.status(of: failure.error))
    } catch let error as UserFileError {
      return .refusal(.failed, error.message)
    } catch let error as ArborError {
      return .json(["error": Self.json(of: error)], status: Self.status(of: error))
    } catch {
      return .refusal(.failed, "The request failed.")
    }
  }

  private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
    let name = request.path.dropFirst(RequestGate.guarded.count)
    guard store.isInPlace else { throw ReplacedFile.error(isStore: true) }
    switch (request.method, name) {
    case ("GET", "schema"): return .json(try schemaAnswer())
    case ("GET", "difference"): return .json(try difference().json)
    case ("GET", "mermaid"): return .json(try mermaid(request))
    case ("GET", "objects"): return .json(try objects(request))
    case ("GET", "count"): return .json(try count(request))
    case ("GET", "conditions"): return .json(try conditions(request))
    case ("GET", "object"): return .json(try object(request))
    case ("GET", "members"): return .json(try members(request))
    case ("GET", "binary"): return try binary(request)
    case ("GET", "values"): return .json(try values(request))
    case ("GET", "position"): return .json(try position(request))
    case ("POST", "copy"): return .json(try copy(JSONValue.parse(Data(request.body))))
    case ("GET", "query"): return .json(try query(request))
    case ("GET", "queries"): return .json(try queries())
    case ("GET", "request"): return .json(try requestedQuery(request))
    case ("POST", "queries"):
      return .json(try changeQueries(JSONValue.parse(Data(request.body))))
    case ("GET", "search"): return .json(try search(request))
    case ("GET", "export"): return try export(request)
    case ("GET", "exported"): return .json(try exported(request))
    case ("GET", "effect"): return .json(try effect(request))
    case ("GET", "history"): return .json(try feed.recent())
    case ("GET", "changes"):
      return try feed.stream(after: request.parameter("after").flatMap(UInt64.init) ?? 0)
    case ("GET", "news"): return .json(["sequence": try newest()])
    case ("GET", "health"): return .json(try health())
    case ("GET", "check"): return .json(checkUp.state)
    case ("POST", "check"):
      let isCancelled = try JSONValue.parse(Data(request.body))["cancel"] == .bool(true)
      return .json(isCancelled ? checkUp.cancel() : checkUp.start())
    case ("POST", "edit"): return try edit(request) { try $0.edit($1) }
    case ("POST", "validate"): return try edit(request) { try $0.validate($1) }
    case ("POST", "undo"): return try edit(request) { try $0.undo($1) }
    case (_, "check"), (_, "edit"), (_, "validate"), (_, "undo"), (_, "schema"), (_, "objects"),
      (_, "count"), (_, "object"), (_, "members"), (_, "binary"), (_, "query"), (_, "search"),
      (_, "history"), (_, "changes"), (_, "health"), (_, "values"), (_, "position"), (_, "copy"),
      (_, "news"), (_, "export"), (_, "exported"), (_, "effect"), (_, "queries"), (_, "request"),
      (_, "difference"), (_, "mermaid"), (_, "conditions"):
      throw HTTPRequest.Refusal(
        status: .methodNotAllowed, reason: "\(name) doesn't support \(request.method).")
    default: throw HTTPRequest.Refusal(status: .notFound, reason: "Not found.")
    }
  }

  /// Returns the sequence number of the newest commit of any process.
  func newest() throws(ArborError) -> JSONValue {
    .number(JSONNumber(Int64(clamping: try store.newestSequence())))
  }

  private func edit(
    _ request: HTTPRequest, _ act: (ObjectEditor, JSONValue) throws -> HTTPResponse
  ) throws -> HTTPResponse {
    guard let editor else {
      throw HTTPRequest.Refusal(
        status: .forbidden,
        reason: "The store is read-only. Serve it with --write to change it.")
    }
    return try act(editor, JSONValue.parse(Data(request.body)))
  }

  /// Creates a context for one response, with a deadline.
  func makeContext() -> ManagedObjectContext {
    let context = store.makeContext()
    context.deadline = .now + limits.workTime
    return context
  }

  static func json(of error: ArborError) -> JSONValue {
    var fields: JSONObject = [
      "code": .string(error.code.rawValue), "message": .string(ToolWording.text(error.message)),
    ]
    if let location = error.location {
      fields["line"] = JSONValue(location.line)
      fields["column"] = JSONValue(location.column)
    }
    if let entity = error.entity { fields["entity"] = .string(entity) }
    if let id = error.objectID { fields["id"] = .string(ValueJSON.name(id)) }
    if let keyPath = error.keyPath { fields["keyPath"] = .string(keyPath) }
    if !error.violations.isEmpty {
      fields["violations"] = .array(error.violations.map { json(of: $0) })
    }
    return .object(fields)
  }

  static func status(of error: ArborError) -> HTTPStatus {
    switch error.code {
    case .objectNotFound: .notFound
    case .conflict, .notUnique, .validation: .conflict
    case .corrupted, .inputOutput, .diskFull, .fileReplaced: .failed
    case .closed, .modelChanged, .migrationUnderWay, .deadlineExceeded, .inUse: .unavailable
    default: .badRequest
    }
  }
}
