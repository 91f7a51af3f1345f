internal import ArborData
internal import Tracing

/// Makes a span of each commit and fetch of a store, with attributes by OpenTelemetry's conventions
/// for databases.
struct StoreTracing: Sendable {
  private let store: String
  private let tracer: (any Tracer)?

  /// - Parameters:
  ///   - store: The value of `db.namespace`.
  ///   - tracer: What spans go to; nil for what the program has set up.
  init(of store: String, _ tracer: (any Tracer)?) {
    self.store = store
    self.tracer = tracer
  }

  /// What the store tells of its commits and fetches.
  var instrument: StoreInstrument { StoreInstrument(onCommit: begin, onFetch: begin) }

  @Sendable private func begin(
    _ commit: StoreInstrument.Commit
  ) -> ((StoreInstrument.CommitOutcome) -> Void)? {
    guard let span = span("arbor.commit", operation: "commit") else { return nil }
    if let context = commit.contextName { span.attributes["arbor.context"] = context }
    return { outcome in
      if let sequence = outcome.sequence {
        span.attributes["arbor.sequence"] = Int64(clamping: sequence)
      }
      span.attributes["arbor.inserted"] = outcome.inserted
      span.attributes["arbor.updated"] = outcome.updated
      span.attributes["arbor.deleted"] = outcome.deleted
      if outcome.conflicts > 0 { span.attributes["arbor.conflicts"] = outcome.conflicts }
      end(span, outcome.error)
    }
  }

  @Sendable private func begin(
    _ fetch: StoreInstrument.Fetch
  ) -> ((StoreInstrument.FetchOutcome) -> Void)? {
    guard let span = span("arbor.fetch", operation: fetch.kind.rawValue) else { return nil }
    span.attributes["db.collection.name"] = fetch.entityName
    return { outcome in
      if let count = outcome.count, fetch.kind != .count {
        span.attributes["db.response.returned_rows"] = count
      }
      end(span, outcome.error)
    }
  }

  /// A span that begins, below that of the task that runs; nil where nobody keeps it.
  private func span(_ name: String, operation: String) -> (any Span)? {
    let span = (tracer ?? InstrumentationSystem.tracer).startSpan(name, ofKind: .internal)
    guard span.isRecording else {
      span.end()
      return nil
    }
    span.attributes["db.system.name"] = "arbordata"
    span.attributes["db.namespace"] = store
    span.attributes["db.operation.name"] = operation
    return span
  }

  private func end(_ span: any Span, _ error: ArborError?) {
    if let error {
      span.attributes["error.type"] = error.code.rawValue
      span.recordError(TracedError(code: error.code, message: error.message))
      span.setStatus(SpanStatus(code: .error, message: error.code.rawValue))
    }
    span.end()
  }
}

/// What spans keep of an error: of the library's own messages none holds values of objects; those
/// of the program's validation have what it puts into them.
struct TracedError: Error, CustomStringConvertible {
  let code: ArborError.Code
  let message: String

  var description: String { "\(code): \(message)" }
}
