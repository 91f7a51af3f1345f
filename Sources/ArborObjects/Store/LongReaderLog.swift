internal import ArborLocks
internal import ArborModel
internal import ArborStore
internal import Logging

/// A logger of readers that pin many pages.
///
/// Triggered by commits, because a reader pins pages only once later commits replace them. Checks
/// at most once per interval, so that other commits only pay for reading the clock.
final class LongReaderLog: Sendable {
  /// The identity of a snapshot among those of all processes.
  private struct Key: Hashable {
    let processID: Int32
    let transaction: UInt64
  }

  private struct State {
    var next: ContinuousClock.Instant
    /// The number of pages each reader pinned when it was last logged.
    var written: [Key: Int] = [:]
  }

  /// The number of pinned pages above which a reader is logged.
  let limit: Int
  private let interval: Duration
  private let state: Lock<State>
  private static let logger = Logger(label: "ArborData.readers")

  init(limit: Int, interval: Duration = .seconds(10)) {
    self.limit = limit
    self.interval = interval
    state = Lock(State(next: .now))
  }

  /// Checks the readers of a store if the interval has passed, and logs those that pin too many
  /// pages.
  func noteCommit(of engine: StoreEngine) {
    let now = ContinuousClock.now
    let isTime = state.withLock { state in
      guard now >= state.next else { return false }
      state.next = now + interval
      return true
    }
    // Nothing to report for a store that is being closed.
    guard isTime, let readers = try? engine.readers() else { return }
    for reader in news(of: readers) { Self.write(reader, of: engine, to: Self.logger) }
  }

  /// Returns the readers that haven't been logged yet, or that pin at least twice as many pages as
  /// when they were last logged.
  func news(of readers: [StoreReader]) -> [StoreReader] {
    let long = readers.filter { $0.pinnedPages > limit }
    return state.withLock { state in
      var written: [Key: Int] = [:]
      var news: [StoreReader] = []
      for reader in long {
        let key = Key(processID: reader.processID, transaction: reader.transaction)
        // A context holds one snapshot. Several readers of the same state are represented by the
        // first.
        if written[key] != nil { continue }
        let before = state.written[key]
        let isNews = before.map { reader.pinnedPages >= 2 * $0 } ?? true
        if isNews { news.append(reader) }
        written[key] = isNews ? reader.pinnedPages : before
      }
      state.written = written
      return news
    }
  }

  /// Logs one reader, as a message and as structured metadata.
  static func write(_ reader: StoreReader, of engine: StoreEngine, to logger: Logger) {
    var metadata: Logger.Metadata = [
      "process": "\(reader.processID)", "transaction": "\(reader.transaction)",
      "transactionsBehind": "\(reader.transactionsBehind)",
      "pinnedPages": "\(reader.pinnedPages)", "pinnedBytes": "\(reader.pinnedBytes)",
    ]
    if let name = reader.processName { metadata["processName"] = "\(name)" }
    if let since = reader.since { metadata["since"] = "\(since)" }
    if let path = engine.path { metadata["path"] = "\(path)" }
    logger.warning(
      """
      A long-running reader prevents the reuse of pages, so the file grows: \(reader). End its \
      withSnapshot, or its process.
      """, metadata: metadata)
  }
}
