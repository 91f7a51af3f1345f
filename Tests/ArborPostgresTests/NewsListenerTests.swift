import ArborLog
import Foundation
import TestSupport
import Testing

@testable import ArborPostgres

@Suite(.enabled(if: PostgresServer.isInstalled), .timeLimit(.minutes(40)))
struct NewsListenerTests {
  @Test("Others are notified of added entries")
  func tellsOthersOfWhatIsAdded() async throws {
    var begun = try BegunLog()
    let other = try PostgresLog(begun.connection)
    let stranger = try PostgresLog(begun.connection, store: "stranger")
    var news = try #require(other.news()).makeAsyncIterator()
    // The first notification confirms that it is listening.
    #expect(await news.next() != nil)
    for _ in 0..<3 {
      #expect(try begun.log.append(begun.history.next()) == .written)
      #expect(await news.next() != nil)
    }
    // After losing the connection, it listens again and reports that it may have missed something.
    try begun.server.sql(
      "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE query LIKE 'LISTEN%' "
        + "AND datname = '\(begun.database)'")
    #expect(await news.next() != nil)
    // Notifications of other logs are ignored.
    stranger.notifier.send()
    try await Task.sleep(for: .milliseconds(100))
    #expect(try begun.log.append(begun.history.next()) == .written)
    #expect(await news.next() != nil)
  }

  @Test("Notifications end when the log is released")
  func endsWithTheLog() async throws {
    let begun = try BegunLog()
    var other: PostgresLog? = try PostgresLog(begun.connection)
    let streams = try (0..<2).map { _ in try #require(other?.news()) }
    other = nil
    for stream in streams { for await _ in stream {} }
    #expect(try await listeners(of: begun) == 0)
  }

  @Test("Listening ends with the iteration, and can be repeated")
  func listensOnlyWhileSomebodyIterates() async throws {
    let begun = try BegunLog()
    let other = try PostgresLog(begun.connection)
    for _ in 0..<2 {
      var count = 0
      for await _ in try #require(other.news()) {
        count += 1
        break
      }
      #expect(count == 1)
      #expect(try await listeners(of: begun) == 0)
    }
  }

  @Test("Many appends are combined into few notifications")
  func saysManyThingsAtOnce() async throws {
    var begun = try BegunLog()
    let parameters = try ConnectionParameters(begun.connection).servers[0]
    let deadline = Deadline(.seconds(60))
    let listening = try PostgresConnection.open(parameters, deadline: deadline)
    _ = try listening.run([PostgresStatement("LISTEN arbor_log")], deadline: deadline)
    let start = ContinuousClock.now
    for _ in 0..<100 { #expect(try begun.log.append(begun.history.next()) == .written) }
    var payloads = try listening.notifications(until: Deadline(.seconds(60)))
    let most = Int(start.duration(to: .now) / .milliseconds(10)) + 2
    try await Task.sleep(for: .milliseconds(50))
    payloads += try listening.notifications(until: Deadline(.zero))
    #expect((1...most).contains(payloads.count))
    #expect(Set(payloads) == ["public/main"])
    // All are sent by one connection, which is reused.
    let senders = """
      SELECT pid::text FROM pg_stat_activity
      WHERE query LIKE '%pg_notify%' AND query NOT LIKE '%activity%'
        AND datname = '\(begun.database)'
      """
    let first = try begun.server.sql(senders)
    #expect(first.count == 1)
    #expect(try begun.log.append(begun.history.next()) == .written)
    #expect(try listening.notifications(until: Deadline(.seconds(60))).count == 1)
    #expect(try begun.server.sql(senders) == first)
  }

  /// Waits until no connection is listening, or for a while, and returns the number of listeners.
  private func listeners(of begun: BegunLog) async throws -> Int {
    let count = """
      SELECT pid::text FROM pg_stat_activity
      WHERE query LIKE 'LISTEN%' AND datname = '\(begun.database)'
      """
    for _ in 0..<200 {
      if try begun.server.sql(count).isEmpty { return 0 }
      try await Task.sleep(for: .milliseconds(20))
    }
    return try begun.server.sql(count).count
  }
}
