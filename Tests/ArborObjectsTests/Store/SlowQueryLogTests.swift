import ArborModel
import ArborObjects
import Logging
import Synchronization
import TestSupport
import Testing

/// What queries that take long leave in the log.
@Suite struct SlowQueryLogTests {
  private struct Entry: Sendable {
    let label: String
    let message: String
    let metadata: [String: String]
  }

  private static let entries = Mutex<[Entry]>([])

  private struct Handler: LogHandler {
    let label: String
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let entry = Entry(
        label: label, message: "\(event.message)",
        metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
      SlowQueryLogTests.entries.withLock { $0.append(entry) }
    }
  }

  /// The program's log is set up once.
  private static let isSetUp: Bool = {
    LoggingSystem.bootstrap { Handler(label: $0) }
    return true
  }()

  private func store(_ threshold: Duration?) throws -> PersistentStore {
    try PersistentStore(
      model: ManagedObjectModel(entities: [
        EntityDescription(
          name: "LoggedNote",
          attributes: [AttributeDescription(name: "body", type: .string, isOptional: true)])
      ]), at: .inMemory, options: StoreOptions(slowQueryThreshold: threshold))
  }

  @Test func slowQueriesAreLoggedWithoutTheirValues() throws {
    try #require(Self.isSetUp)
    let store = try store(.zero)
    let context = store.makeContext()
    try context.insert("LoggedNote")["body"] = "secret"
    try context.commit()
    let found = try context.fetch("LoggedNote", matching: "body == \("secret")")
    #expect(found.count == 1)
    #expect(try context.count("LoggedNote", matching: "body BEGINSWITH 'sec'") == 1)
    let own = Self.entries.withLock { entries in
      entries.filter { $0.metadata["entity"] == "LoggedNote" }
    }
    #expect(own.map(\.metadata["rows"]) == ["1", "1"])
    #expect(own.allSatisfy { $0.label == "ArborData.query" })
    #expect(own.first?.metadata["query"] == "LoggedNote where body == ?")
    #expect(own.first?.metadata["suggestedIndex"]?.contains("\"body\"") == true)
    #expect(!own.contains { "\($0)".contains("secret") || "\($0)".contains("'sec'") })
    store.close()
  }

  @Test func nothingIsLoggedWithoutAThreshold() throws {
    try #require(Self.isSetUp)
    let before = Self.entries.withLock { $0.count { $0.metadata["entity"] == "QuietNote" } }
    #expect(before == 0)
    let store = try PersistentStore(
      model: ManagedObjectModel(entities: [EntityDescription(name: "QuietNote")]), at: .inMemory)
    #expect(try store.makeContext().fetch("QuietNote").isEmpty)
    #expect(Self.entries.withLock { $0.contains { $0.metadata["entity"] == "QuietNote" } } == false)
    store.close()
  }
}
