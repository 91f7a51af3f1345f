import ArborData
import InMemoryTracing
import Testing
import Tracing

@testable import ArborService

/// The spans of a store's commits and fetches.
@Suite struct StoreTracingTests {
  private func use(
    _ body: (InMemoryTracer, PersistentStore) async throws -> Void
  ) async throws {
    let tracer = InMemoryTracer()
    var options = StoreOptions()
    options.instrument = StoreTracing(of: "parts", tracer).instrument
    let part = EntityDescription(
      name: "Part", attributes: [AttributeDescription(name: "code", type: .string)],
      uniquenessConstraints: [["code"]])
    let store = try PersistentStore(
      model: ManagedObjectModel(entities: [part]), at: .inMemory, options: options)
    defer { store.close() }
    try await body(tracer, store)
    #expect(tracer.activeSpans.isEmpty)
  }

  /// Returns the attributes of a span as text, by name.
  private static func words(_ span: FinishedInMemorySpan) -> [String: String] {
    var words: [String: String] = [:]
    span.attributes.forEach { name, value in
      switch value {
      case .string(let text): words[name] = text
      case .int32(let number): words[name] = "\(number)"
      case .int64(let number): words[name] = "\(number)"
      default: words[name] = "\(value)"
      }
    }
    return words
  }

  @Test("Commits and fetches are spans of the caller")
  func commitsAndFetchesAreSpansOfTheCaller() async throws {
    try await use { tracer, store in
      try await tracer.withSpan("request") { _ in
        try await store.perform { context in
          context.name = "desk"
          _ = try context.fetch("Part")
          try context.insert("Part")["code"] = "bolt"
        }
      }
      let spans = tracer.popFinishedSpans()
      #expect(spans.map(\.operationName) == ["arbor.fetch", "arbor.commit", "request"])
      let request = try #require(spans.last)
      for span in spans.dropLast() {
        #expect(span.parentSpanID == request.spanID)
        #expect(span.traceID == request.traceID)
        #expect(span.kind == .internal)
        #expect(span.errors.isEmpty)
      }
      #expect(
        Self.words(spans[0]) == [
          "db.system.name": "arbordata", "db.namespace": "parts", "db.operation.name": "objects",
          "db.collection.name": "Part", "db.response.returned_rows": "0",
        ])
      #expect(
        Self.words(spans[1]) == [
          "db.system.name": "arbordata", "db.namespace": "parts", "db.operation.name": "commit",
          "arbor.context": "desk", "arbor.sequence": "1", "arbor.inserted": "1",
          "arbor.updated": "0", "arbor.deleted": "0",
        ])
    }
  }

  @Test("Errors are recorded without values")
  func errorsAreRecordedWithoutValues() async throws {
    try await use { tracer, store in
      let context = store.makeContext()
      for _ in 0..<2 { try context.insert("Part")["code"] = "secret" }
      let thrown = #expect(throws: ArborError.self) { try context.commit() }
      let error = try #require(thrown)
      let span = try #require(tracer.popFinishedSpans().last)
      #expect(Self.words(span)["error.type"] == error.code.rawValue)
      #expect(span.status == SpanStatus(code: .error, message: error.code.rawValue))
      #expect(span.errors.map { "\($0.error)" } == ["\(error.code): \(error.message)"])
      #expect(span.errors.allSatisfy { !String(reflecting: $0.error).contains("secret") })
    }
  }

  @Test("A count has no number of returned rows")
  func aCountIsNoNumberOfRows() async throws {
    try await use { tracer, store in
      _ = try store.makeContext().objects("Part").count()
      let span = try #require(tracer.popFinishedSpans().last)
      #expect(Self.words(span)["db.operation.name"] == "count")
      #expect(Self.words(span)["db.response.returned_rows"] == nil)
    }
  }

  @Test("Without a tracer, the program's tracer is used")
  func withoutATracerThePrograms() async throws {
    var options = StoreOptions()
    options.instrument = StoreTracing(of: "parts", nil).instrument
    let store = try PersistentStore(model: .parts, at: .inMemory, options: options)
    defer { store.close() }
    // No tracer is set up.
    _ = try store.makeContext().fetch("Part")
    let tracer = InMemoryTracer()
    try withTracer(tracer) { _ = try store.makeContext().fetch("Part") }
    #expect(tracer.finishedSpans.map(\.operationName) == ["arbor.fetch"])
  }
}
