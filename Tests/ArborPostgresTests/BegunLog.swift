import ArborLog
import ArborModel
import Foundation
import TestSupport

@testable import ArborPostgres

/// A log in a database of its own that begins with an empty snapshot.
struct BegunLog: Sendable {
  let server: PostgresServer
  let connection: String
  let log: PostgresLog
  let root: LogSnapshot
  /// The history up to the snapshot, or up to what was taken from here.
  var history: LogHistory

  var database: String {
    String(connection.split(separator: " ")[1].dropFirst("dbname=".count))
  }

  /// - Parameter server: None for the one that all tests share.
  init(_ server: PostgresServer? = nil, options: PostgresLog.Options = .init()) throws {
    self.server = try server ?? PostgresServer.shared.get()
    connection = try self.server.makeDatabase()
    log = try PostgresLog(connection, options: options)
    history = LogHistory(seed: .random(in: 0...(.max)))
    root = history.snapshot()
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "snapshot")
    try Data("a store".utf8).write(to: file)
    try log.publish(root, in: file)
    _ = try log.begin(with: root, then: [])
  }

  /// All entries, however few of them come at once.
  func allEntries() throws -> [LogEntry] {
    var entries: [LogEntry] = []
    while true {
      let more = try log.entries(after: entries.last?.last ?? root.sequence, limit: .max)
      if more.isEmpty { return entries }
      entries += more
    }
  }
}

/// Where entries do not follow one another; nil where all do.
func chainProblem(of entries: [LogEntry], behind start: LogHistory) -> String? {
  var (sequence, digest) = (start.sequence, start.digest)
  for entry in entries {
    guard entry.first == sequence + 1, entry.previous == digest else {
      return "entry \(entry.first) does not follow \(sequence)"
    }
    (sequence, digest) = (entry.last, entry.digest)
  }
  return nil
}

/// Adds entries to a log as a store does: behind all it knows, and until each one is in it.
struct LogWriter {
  private let log: any CommitLog
  private var history: LogHistory
  /// Every entry that it has seen, in the order of the log.
  private(set) var lostRaces = 0

  init(_ log: any CommitLog, _ history: LogHistory, seed: UInt64) {
    self.log = log
    self.history = LogHistory(
      store: history.store, sequence: history.sequence, digest: history.digest, seed: seed)
  }

  /// Adds one entry.
  ///
  /// - Returns: Its batch; nil where the log has lost what it would follow.
  mutating func add(until deadline: Deadline = Deadline(.seconds(60))) throws -> UUID? {
    var entry = history.draft(commits: .random(in: 1...3))
    while !deadline.isOver {
      let appended: Appended
      do { appended = try log.append(entry) } catch {
        guard error.code == .logUnavailable else { throw error }
        continue
      }
      switch appended {
      case .written:
        history.follow(entry)
        return entry.batch
      case .behind(let newer):
        lostRaces += 1
        for one in newer {
          // Its own, whose answer was lost, is answered with written as long as nobody trims.
          guard one.previous == history.digest, one.first == history.sequence + 1 else {
            return nil
          }
          history.follow(one)
        }
        let next = history.draft(commits: entry.last - entry.first + 1)
        entry = LogEntry(
          batch: entry.batch, first: next.first, last: next.last, previous: next.previous,
          digest: next.digest, body: next.body)
      case .unknown: continue
      case .forked: return nil
      }
    }
    return nil
  }
}
