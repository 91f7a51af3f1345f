internal import ArborJSON
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// The export of all rows of a table or query as a document, in the formats of the command-line
/// tool.
extension BrowserInterface {
  /// Streams all rows of a table or query from one snapshot.
  ///
  /// Parameters: `format` (`json`, `ndjson` or `csv`); for objects `entity`, and optionally
  /// `where`, `sort` and `column`; for a query those of ``query(_:)`` without a limit, and
  /// `of=query`. A response header contains the number with which ``exported(_:)`` returns the
  /// outcome.
  ///
  /// - Throws: `QueryFailure` or `ArborError` if not even the first row can be read.
  func export(_ request: HTTPRequest) throws -> HTTPResponse {
    guard let form = RowForm(named: request.parameter("format") ?? "") else {
      throw ArborError(.invalidArgument, "Choose the format \"csv\", \"json\" or \"ndjson\".")
    }
    let rows = try exportedRows(request)
    // Errors in the request are reported before the document begins.
    try rows.readFirst(makeContext())
    let number = exports.begin()
    var response = HTTPResponse(contentType: form.contentType, isChunked: true)
    response.headers = [
      ("Content-Disposition", "attachment; filename=\"rows\""), ("X-Export", "\(number)"),
    ]
    response.stream = { stream in
      let context = self.store.makeContext()
      var run = ExportRun(stream: stream, document: RowDocument(form, columns: rows.names))
      let end = run.write(rows, in: context)
      self.exports.end(number, end)
    }
    return response
  }

  /// Returns the outcome of an export. Parameter: `id`, the number in the header of the export's
  /// response.
  func exported(_ request: HTTPRequest) throws(ArborError) -> JSONValue {
    guard let number = number("id", of: request, atMost: .max), let state = exports.state(number)
    else { throw ArborError(.unknownName, "The export was not found. Start it again.") }
    return state
  }

  private func exportedRows(_ request: HTTPRequest) throws -> ExportedRows {
    let entity = try entity(of: request)
    if request.parameter("of") == "query" {
      let wanted = try checkedQuery(request, entity)
      let plan = try rowPlan(of: wanted)
      guard plan.grouping == nil, !plan.isDistinct else { return .groups(plan.names, wanted) }
      let columns = request.parameters("column")
      return .objects(
        try ObjectRows(
          entity, columns: columns.isEmpty ? plan.names : columns, in: store,
          workTime: limits.workTime), wanted.predicate, wanted.sortKeys)
    }
    let wanted = try self.request(request, entity)
    _ = try rowPlan(of: wanted)
    return .objects(
      try ObjectRows(
        entity, columns: request.parameters("column"), in: store, workTime: limits.workTime),
      wanted.predicate, wanted.sortKeys)
  }
}

/// The rows of an export.
private enum ExportedRows: Sendable {
  case objects(ObjectRows, FetchPredicate?, [SortKey])
  /// The rows of a grouped or distinct query, and the names of their columns.
  case groups([String], FetchRequest<ManagedObject>)

  var names: [String] {
    switch self {
    case .objects(let rows, _, _): rows.names
    case .groups(let names, _): names
    }
  }

  /// Reads at most one row, to detect errors.
  func readFirst(_ context: ManagedObjectContext) throws(ArborError) {
    switch self {
    case .objects(let rows, let predicate, _):
      try rows.forEach(matching: predicate, by: [], in: context) { _ in false }
    case .groups(_, var request):
      request.fetchLimit = 1
      try context.forEachRow(request) { _ in false }
    }
  }

  func forEach(
    in context: ManagedObjectContext, _ body: ([PropertyValue]) -> Bool
  ) throws(ArborError) {
    switch self {
    case .objects(let rows, let predicate, let sortKeys):
      try rows.forEach(matching: predicate, by: sortKeys, in: context, body)
    case .groups(_, let request): try context.forEachRow(request, body)
    }
  }
}

/// One export: writes rows to a stream as they are read.
private struct ExportRun {
  private static let chunk = 1 << 16

  let stream: BodyStream
  var document: RowDocument
  private var pending: [UInt8] = []
  private var count = 0
  private var isStopped = false

  init(stream: BodyStream, document: RowDocument) {
    self.stream = stream
    self.document = document
  }

  /// Writes all rows. The end of the document is only sent after the last row.
  mutating func write(_ rows: ExportedRows, in context: ManagedObjectContext) -> ExportLog.State {
    pending = Array(document.head.utf8)
    let names = rows.names
    do throws(ArborError) {
      try rows.forEach(in: context) { values in
        add(document.row(RowText.json(values, names)))
        if !isStopped { count += 1 }
        return !isStopped
      }
    } catch {
      _ = stream.sendChunk(pending)
      return .failed(error, rows: count)
    }
    pending += Array(document.tail.utf8)
    guard !isStopped, stream.sendChunk(pending), stream.sendEnd() else {
      let reason = "The client closed the connection."
      return .failed(ArborError(.cancelled, reason), rows: count)
    }
    return .done(rows: count)
  }

  private mutating func add(_ text: String) {
    pending += Array(text.utf8)
    guard pending.count >= Self.chunk else { return }
    isStopped = stream.isStopped() || !stream.sendChunk(pending)
    pending.removeAll(keepingCapacity: true)
  }
}
