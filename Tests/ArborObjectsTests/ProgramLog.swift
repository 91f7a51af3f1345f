import ArborLocks
import Logging

/// The entries that stores write to the program's log.
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

  /// Returns the entries with a metadata value.
  static func entries(_ key: String, _ value: String) -> [Entry] {
    entries.withLock { $0.filter { $0.metadata[key] == value } }
  }

  /// Whether the logging system is set up, which happens on first access.
  static let isSetUp: Bool = {
    LoggingSystem.bootstrap { Handler(label: $0) }
    return true
  }()
}
