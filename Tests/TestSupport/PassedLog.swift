public import ArborLog
public import ArborModel
public import Foundation

/// A log that passes everything on to another one, but for what a subclass does otherwise.
///
/// `@unchecked Sendable`: it holds nothing that changes, and subclasses add nothing.
open class PassedLog: CommitLog, @unchecked Sendable {
  private let log: any CommitLog

  /// Passes everything on to `log`.
  public init(_ log: any CommitLog) { self.log = log }

  open var name: String { log.name }
  open var waitLimit: Duration { log.waitLimit }
  open func head() throws(ArborError) -> LogHead? { try log.head() }

  open func begin(
    with snapshot: LogSnapshot, then entries: [LogEntry]
  ) throws(ArborError) -> Bool {
    try log.begin(with: snapshot, then: entries)
  }

  open func append(_ entry: LogEntry) throws(ArborError) -> AppendResult { try log.append(entry) }

  open func entries(after sequence: UInt64, limit: Int) throws(ArborError) -> [LogEntry] {
    try log.entries(after: sequence, limit: limit)
  }

  open func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(ArborError) -> Range<UInt64> {
    try log.reserve(counter, count, from: least)
  }

  open func publish(_ snapshot: LogSnapshot, in file: URL) throws(ArborError) {
    try log.publish(snapshot, in: file)
  }

  open func newestSnapshot() throws(ArborError) -> LogSnapshot? { try log.newestSnapshot() }

  open func fetch(_ snapshot: LogSnapshot, to file: URL) throws(ArborError) {
    try log.fetch(snapshot, to: file)
  }

  open func trim(through sequence: UInt64) throws(ArborError) {
    try log.trim(through: sequence)
  }

  open func news() -> AsyncStream<Void>? { log.news() }
  open func waitUntilIdle() { log.waitUntilIdle() }
}
