import ArborLocks
import Logging

/// What the store writes to the program's log.
enum ProgramLog {
  struct Entry: Sendable {
    let label: String
    let level: String
    let message: String
    let metadata: [String: String]
  }

  private static let entries = Lock<[Entry]>([])

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
        label: label, level: event.level.rawValue, message: "\(event.message)",
        metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
      ProgramLog.entries.withLock { $0.append(entry) }
    }
  }

  /// The entries with a value of metadata.
  static func entries(_ key: String, _ value: String) -> [Entry] {
    entries.withLock { $0.filter { $0.metadata[key] == value } }
  }

  /// The program's log is set up once.
  static let isSetUp: Bool = {
    LoggingSystem.bootstrap { Handler(label: $0) }
    return true
  }()
}
