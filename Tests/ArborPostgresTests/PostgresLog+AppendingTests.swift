import ArborLog
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborPostgres

@Suite(.enabled(if: PostgresServer.isInstalled)) struct PostgresLogAppendingTests {
  @Test("Concurrent writers append to what they know and continue from the entries in the response")
  func manyAddInOneOrder() throws {
    let begun = try BegunLog()
    let (threads, each) = (8, 40)
    let acknowledged = try inThreads(threads) { number in
      var writer = LogWriter(begun.log, begun.history, seed: UInt64(number))
      return try (0..<each).map { _ in try #require(try writer.add()) }
    }.flatMap { $0 }
    let entries = try begun.allEntries()
    #expect(entries.count == threads * each)
    #expect(Set(entries.map(\.batch)) == Set(acknowledged))
    #expect(chainProblem(of: entries, behind: begun.history) == nil)
  }

  @Test("Large entries are accepted, and returned a few at a time")
  func takesLargeBodiesAndGivesAFewAtOnce() throws {
    var begun = try BegunLog()
    let large = [UInt8](repeating: 7, count: 32 << 20)
    for _ in 0..<2 {
      let draft = begun.history.draft()
      let entry = CommitLogEntry(
        batch: draft.batch, first: draft.first, last: draft.last, previous: draft.previous,
        digest: draft.digest, body: large)
      #expect(try begun.log.append(entry) == .written)
      begun.history.follow(entry)
    }
    let first = begun.root.sequence
    let found = try begun.log.entries(after: first, limit: 10)
    #expect(found.count == 1 && found[0].body == large)
    // A writer that is behind receives them in the same way.
    var late = LogHistory(store: begun.root.store, sequence: first, seed: 9)
    let draft = late.draft()
    let entry = CommitLogEntry(
      batch: draft.batch, first: draft.first, last: draft.last, previous: begun.root.digest,
      digest: draft.digest, body: draft.body)
    guard case .behind(let newer) = try begun.log.append(entry) else {
      Issue.record("not behind")
      return
    }
    #expect(newer == found)
  }

  @Test("Writers continue when their connections are terminated")
  func goesOnWhenItsConnectionsEnd() throws {
    let begun = try BegunLog()
    let writing = RunningThreads(2) { number in
      var writer = LogWriter(begun.log, begun.history, seed: UInt64(number))
      return try (0..<25).map { _ in try #require(try writer.add()) }
    }
    // Repeatedly terminates all connections to the database, whatever they are doing.
    for _ in 0..<30 {
      try begun.server.sql(
        "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE datname = "
          + "'\(begun.database)' AND pid <> pg_backend_pid()")
      usleep(5000)
    }
    let acknowledged = try writing.wait().flatMap { $0 }
    let entries = try begun.allEntries()
    #expect(entries.count == acknowledged.count)
    #expect(Set(entries.map(\.batch)) == Set(acknowledged))
    #expect(chainProblem(of: entries, behind: begun.history) == nil)
  }

  @Test("A call whose response is lost is repeated")
  func triesAgainWhereTheAnswerIsLost() throws {
    var begun = try BegunLog()
    let entry = begun.history.next()
    var attempts = 0
    let outcome = try begun.log.attempt { (connection, _) throws(PostgresFailure) -> Int in
      attempts += 1
      if attempts == 1 {
        _ = try connection.run(
          [PostgresStatement("SELECT pg_terminate_backend(pg_backend_pid())::text")],
          deadline: Deadline(.seconds(20)))
      }
      return 7
    }
    guard case .done(7) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(attempts == 2)
    #expect(try begun.log.append(entry) == .written)
  }

  @Test("An append to a server that doesn't respond is unknown within the timeout")
  func aSilentServerIsUnknownInTime() throws {
    let server = try PostgresServer()
    var begun = try BegunLog(server)
    let hasty = try begun.hasty()
    let entry = begun.history.next()
    server.stop()
    let start = ContinuousClock.now
    #expect(try hasty.append(entry) == .unknown)
    let error = #expect(throws: ArborError.self) { try hasty.head() }
    #expect(error?.code == .logUnavailable)
    #expect(start.duration(to: .now) < .seconds(15))
    server.resume()
    #expect(try begun.log.append(entry) == .written)
    #expect(try begun.allEntries() == [entry])
  }

  @Test("A log continues when its server is back")
  func goesOnWhenTheServerIsBack() throws {
    // Acknowledged entries must be on disk: the whole server is killed, as by a power failure.
    let server = try PostgresServer(settings: ["fsync": "on", "full_page_writes": "on"])
    var begun = try BegunLog(server)
    let entry = begun.history.next()
    #expect(try begun.log.append(entry) == .written)
    server.kill()
    try server.start()
    let next = begun.history.next()
    #expect(try begun.log.append(next) == .written)
    #expect(try begun.allEntries() == [entry, next])
  }

  @Test("An append to a removed log is a fork")
  func aLogThatWasRemovedIsForked() throws {
    var begun = try BegunLog()
    #expect(try begun.log.append(begun.history.next()) == .written)
    try begun.log.remove()
    #expect(try begun.log.append(begun.history.next()) == .forked)
  }

  @Test("A changed row is reported as damage")
  func aRowThatWasChangedIsDamage() throws {
    var begun = try BegunLog()
    #expect(try begun.log.append(begun.history.next()) == .written)
    try begun.server.sql(
      "UPDATE arbor_log SET digest = 'x' WHERE length(body) > 0", database: begun.database)
    let error = #expect(throws: ArborError.self) { try begun.log.entries(after: 0, limit: 1) }
    #expect(error?.code == .corrupted)
    #expect(
      error?.message
        == "The log \(begun.log.name) is damaged: the row of entry 1 is damaged. Restore the "
        + "database, or remove the log and recreate it from a copy of the store.")
  }
}
