import ArborLocks
import ArborLog
import ArborModel
import Foundation
import TestLength
import TestSupport
import Testing

@testable import ArborPostgres

/// Servers that are killed, stopped and replaced by each other while several machines write.
@Suite("Failovers between servers", .enabled(if: PostgresServer.isInstalled), .serialized)
struct FailoverTests {
  private static let length = TestLength.of(10, long: 600)

  /// The results of a writer.
  private struct Told {
    var batches: [UUID] = []
    var numbers: [Range<UInt64>] = []
    /// The number of times that it had read entries which a server then lost.
    var forks = 0
  }

  @Test("Failovers neither lose nor duplicate an acknowledged entry")
  func nothingThatWasAcknowledgedIsLostOrDoubled() throws {
    let seed = UInt64.random(in: 0...(.max))
    print("FailoverTests: seed \(seed), \(Self.length) s")
    let cluster = try PostgresCluster()
    try cluster.waitForStandbys()
    var options = PostgresLog.Options()
    options.timeout = .seconds(5)
    options.connectTimeout = .seconds(1)
    options.statementTimeout = .seconds(2)
    let begun = try BegunLog(connecting: cluster.connection, options: options)
    let isOver = Lock(false)
    let over: @Sendable () -> Bool = { isOver.withLock { $0 } }
    let writers = try startWriters(4, begun, options, seed: seed, until: over)

    var storm = Storm(cluster, seed: seed)
    let end = Deadline(.seconds(Self.length))
    while !end.isOver { try storm.next() }
    try cluster.waitForStandbys()
    isOver.withLock { $0 = true }
    let told = try writers.wait()

    let entries = try begun.allEntries()
    let acknowledged = told.flatMap(\.batches)
    let counts = Dictionary(entries.map { ($0.batch, 1) }, uniquingKeysWith: +)
    #expect(acknowledged.filter { counts[$0] == nil } == [], "lost, seed \(seed)")
    #expect(counts.filter { $0.value > 1 }.isEmpty, "doubled, seed \(seed)")
    #expect(Set(acknowledged).count == acknowledged.count, "told twice, seed \(seed)")
    #expect(chainProblem(of: entries, behind: begun.history) == nil, "seed \(seed)")
    let numbers = told.flatMap(\.numbers).sorted { $0.lowerBound < $1.lowerBound }
    let doubled = zip(numbers, numbers.dropFirst()).filter { $0.upperBound > $1.lowerBound }
    #expect(doubled.isEmpty, "numbers twice, seed \(seed)")
    #expect(acknowledged.count > 100 && numbers.count > 10)
    print(
      "FailoverTests: \(acknowledged.count) acknowledged of \(entries.count), \(numbers.count) "
        + "reservations, \(told.map(\.forks).reduce(0, +)) forks, \(storm.summary)")
  }

  /// If a standby that lags behind is promoted, acknowledged entries are lost, but writers notice
  /// it.
  @Test("Writers detect that acknowledged entries were lost")
  func aLostEndIsFoundOut() throws {
    let cluster = try PostgresCluster()
    try cluster.waitForStandbys()
    var begun = try BegunLog(connecting: cluster.connection, options: .init())
    #expect(try begun.log.append(begun.history.next()) == .written)
    try cluster.waitForStandbys(haveAll: true)
    let (better, worse) = (cluster.standbys[0], cluster.standbys[1])
    worse.kill()
    let lost = begun.history.next()
    #expect(try begun.log.append(lost) == .written)
    cluster.primary.kill()
    better.kill()
    try worse.start()
    try cluster.promote(worse)
    #expect(try begun.log.append(begun.history.next()) == .forked)
  }

  private func startWriters(
    _ count: Int, _ begun: BegunLog, _ options: PostgresLog.Options, seed: UInt64,
    until isOver: @escaping @Sendable () -> Bool
  ) throws -> RunningThreads<Told> {
    RunningThreads(count) { number in
      let log = try PostgresLog(begun.connection, options: options)
      var told = Told()
      var writer = LogWriter(log, begun.history, seed: seed &+ UInt64(number))
      var random = SeededRandom(seed: seed &+ UInt64(number))
      while !isOver() {
        if Int.random(in: 0..<10, using: &random) == 0,
          let range = try? log.reserve("numbers", .random(in: 1...100, using: &random), from: 1)
        {
          told.numbers.append(range)
        }
        if let batch = try writer.add(until: isOver) {
          told.batches.append(batch)
        } else if !isOver() {
          told.forks += 1
          writer = LogWriter(log, begun.history, seed: seed &+ UInt64(number + told.forks * 10))
        }
        // At full speed, the writers would only fill the disk.
        usleep(2000)
      }
      return told
    }
  }
}
