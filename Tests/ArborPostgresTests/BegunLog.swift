import ArborLog
import ArborModel
import Foundation
import TestSupport
import ArborPostgres

/// A log in a database of its own, started with an empty snapshot.
struct BegunLog: Sendable {
  /// The server, which may be shared with other logs in separate databases.
  let server: PostgresServer
  let connection: String
  let log: PostgresLog
  let root: CommitLogSnapshot
  /// The history up to the snapshot, or up to the last entry created from it.
  var history: LogHistory

  var database: String {
    String(connection.split(separator: " ")[1].dropFirst("dbname=".count))
  }

  /// - Parameter server: `nil` for the server that all tests share.
  init(_ server: PostgresServer? = nil, options: PostgresLog.Options = .init()) throws {
    let server = try server ?? PostgresServer.shared.get()
    try self.init(server, connecting: try server.makeDatabase(), options: options)
  }

  /// - Parameter connection: A database without a log.
  init(
    _ server: PostgresServer? = nil, connecting connection: String, options: PostgresLog.Options
  ) throws {
    self.server = try server ?? PostgresServer.shared.get()
    self.connection = connection
    log = try PostgresLog(connection, options: options)
    history = LogHistory(seed: .random(in: 0...(.max)))
    root = history.snapshot()
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "snapshot")
    try Data("a store".utf8).write(to: file)
    try log.publish(root, in: file)
    _ = try log.begin(with: root, then: [])
  }

  /// Returns another instance of the log with short timeouts and an open connection.
  func hasty() throws -> PostgresLog {
    var options = PostgresLog.Options()
    options.timeout = .milliseconds(1500)
    options.statementTimeout = .milliseconds(500)
    let log = try PostgresLog(connection, options: options)
    while (try? log.head()) == nil {}
    return log
  }

  /// Returns all entries, in however many batches they arrive.
  func allEntries() throws -> [CommitLogEntry] {
    var entries: [CommitLogEntry] = []
    while true {
      let more = try log.entries(after: entries.last?.last ?? root.sequence, limit: .max)
      if more.isEmpty { return entries }
      entries += more
    }
  }
}

/// Returns a description of the first entry that doesn't follow its predecessor, or `nil`.
func chainProblem(of entries: [CommitLogEntry], behind start: LogHistory) -> String? {
  var (sequence, digest) = (start.sequence, start.digest)
  for entry in entries {
    guard entry.first == sequence + 1, entry.previous == digest else {
      return "entry \(entry.first) does not follow \(sequence)"
    }
    (sequence, digest) = (entry.last, entry.digest)
  }
  return nil
}

/// Appends entries to a log as a store does: each follows all known entries and is retried until it
/// is in the log.
struct LogWriter {
  private let log: any CommitLog
  private var history: LogHistory

  init(_ log: any CommitLog, _ history: LogHistory, seed: UInt64) {
    self.log = log
    self.history = LogHistory(
      store: history.store, sequence: history.sequence, digest: history.digest, seed: seed)
  }

  /// Appends one entry.
  ///
  /// - Parameter isOver: Whether to give up.
  /// - Returns: The batch of the entry; `nil` if its predecessor was lost or the writer gave up.
  mutating func add(until isOver: () -> Bool = { false }) throws -> UUID? {
    var entry = history.draft(commits: .random(in: 1...3))
    while !isOver() {
      let appended: AppendResult
      do { appended = try log.append(entry) } catch {
        guard error.code == .logUnavailable else { throw error }
        continue
      }
      switch appended {
      case .written:
        history.follow(entry)
        return entry.batch
      case .behind(let newer):
        for one in newer {
          // The writer's own entry is never among these: if its response was lost, it is reported
          // as written, unless it was trimmed.
          guard one.previous == history.digest, one.first == history.sequence + 1 else {
            return nil
          }
          history.follow(one)
        }
        let next = history.draft(commits: entry.last - entry.first + 1)
        entry = CommitLogEntry(
          batch: entry.batch, first: next.first, last: next.last, previous: next.previous,
          digest: next.digest, body: next.body)
      case .unknown: continue
      case .forked: return nil
      }
    }
    return nil
  }
}
