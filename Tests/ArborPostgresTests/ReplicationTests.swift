import ArborLog
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborPostgres

/// A server that has to wait for standbys, but has none.
@Suite("A server that waits for standbys", .enabled(if: PostgresServer.isInstalled))
struct ReplicationTests {
  private let server: PostgresServer
  private let names = "synchronous_standby_names"
  private let begun: BegunLog
  /// Another instance of the log with short timeouts.
  private let hasty: PostgresLog
  private let entry: CommitLogEntry

  init() throws {
    server = try PostgresServer()
    var begun = try BegunLog(server)
    entry = begun.history.next()
    self.begun = begun
    hasty = try begun.hasty()
    try server.set(names, to: "ANY 1 (nobody)")
  }

  @Test("The outcome of an append is unknown until a standby has the entry")
  func whatNoStandbyHasIsUnknown() throws {
    let start = ContinuousClock.now
    #expect(try hasty.append(entry) == .unknown)
    #expect(start.duration(to: .now) < .seconds(10))
    #expect(try begun.log.entries(after: 0, limit: 1) == [], "nobody takes it over")
    let reserved = #expect(throws: ArborError.self) { try hasty.reserve("n", 1, from: 1) }
    #expect(reserved?.code == .logUnavailable)
    try server.set(names, to: "")
    #expect(try begun.log.append(entry) == .written)
    #expect(try begun.allEntries() == [entry])
    var history = begun.history
    #expect(try begun.log.append(history.next()) == .written)
  }

  /// If waiting for standbys is cancelled, the server reports success with a warning, but the
  /// outcome is unknown.
  @Test("A cancelled wait for standbys leaves the outcome unknown")
  func aCancelledWaitIsNoSuccess() throws {
    let (log, entry) = (hasty, entry)
    let appending = RunningThreads(1) { _ in try log.append(entry) }
    let waiting = "wait_event = 'SyncRep' AND datname = '\(begun.database)'"
    var cancelled = 0
    let isWritten = Deadline(.seconds(1))
    while !isWritten.isOver {
      cancelled += try server.sql(
        "SELECT pg_cancel_backend(pid)::text FROM pg_stat_activity WHERE \(waiting)"
      ).count
      usleep(5000)
    }
    #expect(try appending.wait() == [.unknown])
    #expect(cancelled > 0)
    // The entry is visible, but may still be lost with this server.
    #expect(try begun.log.entries(after: 0, limit: 1) == [entry])
    #expect(try hasty.append(entry) == .unknown, "asked again")
    let asked = #expect(throws: ArborError.self) { try hasty.entries(after: 0, limit: 1) }
    #expect(asked?.code == .logUnavailable, "who waits for the answer has to wait on")
    try server.set(names, to: "")
    #expect(try hasty.entries(after: 0, limit: 1) == [entry])
    #expect(try begun.log.append(entry) == .written)
    #expect(try begun.allEntries() == [entry])
  }
}
