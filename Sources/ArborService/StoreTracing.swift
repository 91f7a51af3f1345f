internal import ArborData
internal import Tracing

/// The tracing of a store, with a span for each commit and fetch. The spans' attributes follow
/// OpenTelemetry's semantic conventions for databases.
struct StoreTracing: Sendable {
  private let store: String
  private let tracer: (any Tracer)?

  /// - Parameters:
  ///   - store: The value of `db.namespace`.
  ///   - tracer: The tracer; `nil` for the one that the program has bootstrapped.
  init(of store: String, _ tracer: (any Tracer)?) {
    self.store = store
    self.tracer = tracer
  }

  /// The instrument that receives the store's commits and fetches.
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

  /// Starts a span, as a child of the current task's span. Returns `nil` if it is not recorded.
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

/// The error recorded in spans. The library's own messages contain no values of objects; those of
/// the program's validation contain whatever the program puts in them.
struct TracedError: Error, CustomStringConvertible {
  let code: ArborError.Code
  let message: String

  var description: String { "\(code): \(message)" }
}
