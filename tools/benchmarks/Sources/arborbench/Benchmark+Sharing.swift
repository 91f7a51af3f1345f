import ArborData
import ArborPostgres
import Foundation

/// The cost of reading, catching up, joining and leaving for a store that shares its commits
/// through a PostgreSQL database.
extension Benchmark {
  /// Shares a loaded store, lets a copy join, and measures the memory:
  /// `op seconds file_bytes anonymous_kB_beyond_the_start`. Then, in each round, reads the copy and
  /// an unshared store in turn, commits one object two thousand times, and lets the copy catch up:
  /// `op seconds count`.
  func sharing(_ connection: String, rounds: Int) throws {
    let log = try PostgresLog(connection, store: "sharing")
    try log.remove()
    let joined = path + ".joined"
    defer { Self.remove(joined) }
    Self.remove(joined)
    Self.remove(path)
    try load()
    let plain = path + ".plain"
    defer { Self.remove(plain) }
    Self.remove(plain)
    try FileManager.default.copyItem(atPath: path, toPath: plain)
    let store = try store()
    defer { store.close() }
    try measureMemory("23_publish") { try store.share(through: log) }
    try measureMemory("23_join") { try follow(log, joined).close() }
    for round in 0..<rounds {
      try compareReads(plain, try follow(log, joined))
      try catchUp(store, log, joined, round)
    }
  }

  private static func remove(_ path: String) {
    for suffix in ["", "-lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }

  private func follow(_ log: PostgresLog, _ path: String) throws -> PersistentStore {
    try PersistentStore(for: [Company.self, Employee.self], at: .path(path), following: log)
  }

  private func compareReads(_ plain: String, _ shared: PersistentStore) throws {
    let alone = try PersistentStore(for: [Company.self, Employee.self], at: .path(plain))
    let subjects = [("23_read_alone", alone), ("23_read_shared", shared)]
    defer { for (_, store) in subjects { store.close() } }
    // Alternates, so that other load on the machine affects both.
    var seconds = [0.0, 0.0]
    var sums: [UInt64] = [0, 0]
    for turn in 0..<20 {
      for index in turn.isMultiple(of: 2) ? [0, 1] : [1, 0] {
        let start = Meter.time(CLOCK_MONOTONIC)
        sums[index] &+= try readOnce(subjects[index].1)
        seconds[index] += Meter.time(CLOCK_MONOTONIC) - start
      }
    }
    for (index, (name, _)) in subjects.enumerated() {
      Meter.printLine([name, String(format: "%.6f", seconds[index]), "\(sums[index])"])
    }
  }

  /// Reads objects by number, then scans.
  private func readOnce(_ store: PersistentStore) throws -> UInt64 {
    let context = store.makeContext()
    var sum: UInt64 = 0
    try context.withSnapshot {
      for number in Workload.keys(seed: 43, range: count, count: 10_000) {
        sum &+= try employee(number, in: context).checksum
      }
    }
    let found = try store.makeContext().fetch(
      FetchRequest<Employee>(predicate: "salary > 110000 AND name CONTAINS 'ab'"))
    return found.reduce(sum) { $0 &+ $1.checksum }
  }

  private func catchUp(
    _ store: PersistentStore, _ log: PostgresLog, _ joined: String, _ round: Int
  ) throws {
    let context = store.makeContext()
    let rows = [2 * round, 2 * round + 1].flatMap { Workload.extra(beyond: count, block: $0) }
    try measure("23_commit", rows.count) {
      for row in rows {
        context.insert(Employee.self).fill(from: row, company: nil)
        try context.commit()
      }
    }
    try measure("23_catch_up", rows.count) {
      let copy = try follow(log, joined)
      defer { copy.close() }
      while copy.sequence < store.sequence { try copy.catchUp() }
    }
  }

  private func measure(_ name: String, _ count: Int, _ body: () throws -> Void) rethrows {
    let start = Meter.time(CLOCK_MONOTONIC)
    try body()
    let seconds = Meter.time(CLOCK_MONOTONIC) - start
    Meter.printLine([name, String(format: "%.6f", seconds), "\(count)"])
  }
}
