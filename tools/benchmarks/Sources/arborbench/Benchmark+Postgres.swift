import ArborData
import ArborPostgres
import Foundation
import Synchronization

/// The cost of commits through a PostgreSQL database, compared with rows of the same size by libpq.
extension Benchmark {
  /// The size of an entry in bytes: about a commit of one employee.
  private static let bodySize = 200

  /// Prints `op per_second count` for each round: rows by libpq, entries of a log, and commits of
  /// stores that share a log, each with one writer and with eight.
  func postgres(_ connection: String, rounds: Int) throws {
    for round in 0..<rounds {
      for threads in [1, 8] {
        let inserts = try (0..<threads).map { try Self.inserts(connection, makesTable: $0 == 0) }
        let appends = try (0..<threads).map { try Self.appends(connection, "writer \($0)") }
        try measureInTurn([("22_insert_\(threads)", inserts), ("22_append_\(threads)", appends)])
      }
      try measureCommits(connection, round)
    }
  }

  /// The work of one thread for a number.
  private typealias Work = @Sendable (Int) throws -> Void

  /// The number of turns of each kind of work. Turns alternate, so that a busy disk affects all
  /// kinds.
  private static let turns = 20

  /// Runs each kind of work `count` times in alternating turns, divided among threads.
  private func measureInTurn(_ kinds: [(name: String, threads: [Work])]) throws {
    var times = kinds.map { _ in 0.0 }
    let each = count / kinds[0].threads.count / Self.turns
    for turn in 0..<Self.turns {
      for (index, kind) in kinds.enumerated() {
        times[index] += try Self.time(kind.threads, turn * each..<(turn + 1) * each)
      }
    }
    for (kind, time) in zip(kinds, times) {
      report(kind.name, each * kind.threads.count * Self.turns, time)
    }
  }

  private func report(_ name: String, _ done: Int, _ time: Double) {
    Meter.printLine([name, String(format: "%.0f", Double(done) / time), "\(count)"])
  }

  /// Returns the seconds until all threads have done their work for all numbers.
  private static func time(_ threads: [Work], _ numbers: Range<Int>) throws -> Double {
    let (group, failure) = (DispatchGroup(), Failure())
    let start = Meter.time(CLOCK_MONOTONIC)
    for work in threads {
      group.enter()
      Thread.detachNewThread {
        do { for number in numbers { try work(number) } } catch { failure.note(error) }
        group.leave()
      }
    }
    group.wait()
    let time = Meter.time(CLOCK_MONOTONIC) - start
    if let error = failure.first { throw error }
    return time
  }

  private final class Failure: Sendable {
    private let error = Mutex<(any Error)?>(nil)
    var first: (any Error)? { error.withLock { $0 } }
    func note(_ found: any Error) { error.withLock { $0 = $0 ?? found } }
  }

  /// A connection that is used by a single thread.
  private struct Plain: @unchecked Sendable {
    let inserts: PlainInserts
    let store = UUID()
  }

  private static func inserts(
    _ connection: String, makesTable: Bool
  ) throws -> Work {
    let plain = Plain(inserts: try PlainInserts(connection))
    if makesTable { try plain.inserts.makeTable() }
    try plain.inserts.prepare()
    let body = [UInt8](repeating: 5, count: bodySize)
    return { try plain.inserts.insert(plain.store, UInt64($0) + 1, body) }
  }

  private static func digest(_ number: UInt64) -> CommitLogDigest {
    let bytes = withUnsafeBytes(of: number) { Array($0) } + [UInt8](repeating: 7, count: 8)
    return CommitLogDigest(bytes: bytes) ?? digest(0)
  }

  private static func appends(
    _ connection: String, _ name: String
  ) throws -> Work {
    let log = try PostgresLog(connection, store: name)
    try log.remove()
    let file = FileManager.default.temporaryDirectory.appending(path: "snapshot \(UUID())")
    try Data([1]).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let snapshot = CommitLogSnapshot(id: UUID(), store: UUID(), sequence: 0, digest: digest(0))
    try log.publish(snapshot, in: file)
    _ = try log.begin(with: snapshot, then: [])
    let body = [UInt8](repeating: 5, count: bodySize)
    return { number in
      let sequence = UInt64(number) + 1
      // Excludes the system's random numbers from the measurement.
      let (high, low) = (sequence.bigEndian, UInt64.random(in: 0...UInt64.max))
      let batch = UUID(uuid: unsafeBitCast((high, low), to: uuid_t.self))
      let entry = CommitLogEntry(
        batch: batch, first: sequence, last: sequence, previous: digest(sequence - 1),
        digest: digest(sequence), body: body)
      guard try log.append(entry) == .written else { throw BenchmarkError("not written") }
    }
  }

  /// Measures a store of this process with one writer and with eight.
  private func measureCommits(_ connection: String, _ round: Int) throws {
    let log = try PostgresLog(connection, store: "commits")
    try log.remove()
    let path = "\(self.path).\(round)"
    let store = try PersistentStore(
      for: [Company.self, Employee.self], at: .path(path), following: log)
    defer {
      store.close()
      for suffix in ["", "-lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
    let rows = Workload(count: count).employees
    for threads in [1, 8] {
      let each = rows.count / threads
      let commits: [Work] = (0..<threads).map { thread in
        { number in
          let context = store.makeContext()
          let index = thread * each + number
          let employee = context.insert(Employee.self)
          employee.fill(from: rows[index], company: nil)
          // One writer and eight writers use different objects.
          employee.employeeID = Int64(index * 10 + threads)
          try context.commit()
        }
      }
      report("22_commit_\(threads)", each * threads, try Self.time(commits, 0..<each))
    }
    if let sharing = store.sharing {
      Meter.printLine(["22_entries", "\(sharing.appends)", "\(sharing.appendedCommits)"])
    }
  }
}
