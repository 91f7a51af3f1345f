public import ArborLog
public import ArborModel
public import Foundation

/// A log that forwards every call to another log. Subclasses override what they change.
///
/// `@unchecked Sendable`: it has no mutable state, and subclasses add none.
open class PassedLog: CommitLog, @unchecked Sendable {
  private let log: any CommitLog

  /// Creates a log that forwards to `log`.
  public init(_ log: any CommitLog) { self.log = log }

  open var name: String { log.name }
  open var waitLimit: Duration { log.waitLimit }
  open func head() throws(ArborError) -> CommitLogHead? { try log.head() }

  open func begin(
    with snapshot: CommitLogSnapshot, then entries: [CommitLogEntry]
  ) throws(ArborError) -> Bool {
    try log.begin(with: snapshot, then: entries)
  }

  open func append(_ entry: CommitLogEntry) throws(ArborError) -> AppendResult {
    try log.append(entry)
  }

  open func entries(after sequence: UInt64, limit: Int) throws(ArborError) -> [CommitLogEntry] {
    try log.entries(after: sequence, limit: limit)
  }

  open func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(ArborError) -> Range<UInt64> {
    try log.reserve(counter, count, from: least)
  }

  open func counters() throws(ArborError) -> [String: UInt64] { try log.counters() }

  open func publish(_ snapshot: CommitLogSnapshot, in file: URL) throws(ArborError) {
    try log.publish(snapshot, in: file)
  }

  open func newestSnapshot() throws(ArborError) -> CommitLogSnapshot? { try log.newestSnapshot() }

  open func fetch(_ snapshot: CommitLogSnapshot, to file: URL) throws(ArborError) {
    try log.fetch(snapshot, to: file)
  }

  open func trim(through sequence: UInt64) throws(ArborError) {
    try log.trim(through: sequence)
  }

  open func news() -> AsyncStream<Void>? { log.news() }
  open func waitUntilIdle() { log.waitUntilIdle() }
}
