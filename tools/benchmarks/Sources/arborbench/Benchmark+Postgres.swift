import ArborData
import ArborPostgres
import Foundation
import Synchronization

/// What commits cost that go through a PostgreSQL database, beside rows of the same size by libpq.
extension Benchmark {
  /// So many bytes has an entry: about a commit of one employee.
  private static let bodySize = 200

  /// Prints `op per_second count` of each round: rows by libpq, entries of a log, commits of stores
  /// that share one, each by one writer and by eight.
  func postgres(_ connection: String, rounds: Int) throws {
    for round in 0..<rounds {
      try measure("22_insert_1", 1) { _ in try Self.inserts(connection, makesTable: true) }
      try measure("22_append_1", 1) { _ in try Self.appends(connection, "alone") }
      try measure("22_insert_8", 8) { try Self.inserts(connection, makesTable: $0 == 0) }
      try measure("22_append_8", 8) { try Self.appends(connection, "each \($0)") }
      try measureCommits(connection, round)
    }
  }

  /// Runs something `count` times, by threads that each do their part of it.
  ///
  /// - Parameter make: What one thread does, for a number; made before the time begins.
  private func measure(
    _ name: String, _ threads: Int, _ make: (Int) throws -> (@Sendable (Int) throws -> Void)
  ) throws {
    let work = try (0..<threads).map(make)
    let (group, failure) = (DispatchGroup(), Failure())
    let each = count / threads
    let start = Meter.time(CLOCK_MONOTONIC)
    for body in work {
      group.enter()
      Thread.detachNewThread {
        do { for number in 0..<each { try body(number) } } catch { failure.note(error) }
        group.leave()
      }
    }
    group.wait()
    let time = Meter.time(CLOCK_MONOTONIC) - start
    if let error = failure.first { throw error }
    Meter.printLine([name, String(format: "%.0f", Double(each * threads) / time), "\(count)"])
  }

  private final class Failure: Sendable {
    private let error = Mutex<(any Error)?>(nil)
    var first: (any Error)? { error.withLock { $0 } }
    func note(_ found: any Error) { error.withLock { $0 = $0 ?? found } }
  }

  /// One connection, which only one thread uses.
  private struct Plain: @unchecked Sendable {
    let inserts: PlainInserts
    let store = UUID()
  }

  private static func inserts(
    _ connection: String, makesTable: Bool
  ) throws -> @Sendable (Int) throws -> Void {
    let plain = Plain(inserts: try PlainInserts(connection))
    if makesTable { try plain.inserts.makeTable() }
    try plain.inserts.prepare()
    let body = [UInt8](repeating: 5, count: bodySize)
    return { try plain.inserts.insert(plain.store, UInt64($0) + 1, body) }
  }

  private static func digest(_ number: UInt64) -> LogDigest {
    let bytes = withUnsafeBytes(of: number) { Array($0) } + [UInt8](repeating: 7, count: 8)
    return LogDigest(bytes: bytes) ?? digest(0)
  }

  private static func appends(
    _ connection: String, _ name: String
  ) throws -> @Sendable (Int) throws -> Void {
    let log = try PostgresLog(connection, store: name)
    try log.remove()
    let file = FileManager.default.temporaryDirectory.appending(path: "snapshot \(UUID())")
    try Data([1]).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let snapshot = LogSnapshot(id: UUID(), store: UUID(), sequence: 0, digest: digest(0))
    try log.publish(snapshot, in: file)
    _ = try log.begin(with: snapshot, then: [])
    let body = [UInt8](repeating: 5, count: bodySize)
    return { number in
      let sequence = UInt64(number) + 1
      let entry = LogEntry(
        batch: UUID(), first: sequence, last: sequence, previous: digest(sequence - 1),
        digest: digest(sequence), body: body)
      guard try log.append(entry) == .written else { throw BenchmarkError("not written") }
    }
  }

  /// One store of this process, with one writer and with eight.
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
      try measure("22_commit_\(threads)", threads) { thread in
        { number in
          let context = store.makeContext()
          let index = thread * (rows.count / threads) + number
          let employee = context.insert(Employee.self)
          employee.fill(from: rows[index], company: nil)
          // Those of one writer are not those of eight.
          employee.employeeID = Int64(index * 10 + threads)
          try context.commit()
        }
      }
    }
    if let sharing = store.sharing {
      Meter.printLine(["22_entries", "\(sharing.appends)", "\(sharing.appendedCommits)"])
    }
  }
}
