import ArborData
import Foundation
import Synchronization

/// The cost of a log for commits, and the cost of restoring.
extension Benchmark {
  /// A store that is written to, with its log if it has one.
  private struct Subject {
    let name: String
    let store: PersistentStore
    let log: FolderLog?
    let path: String
    /// The times in seconds. Those of commits are per block, as wall-clock and processor time.
    var (blocks, processor, backUps) = ([Double](), [Double](), 0.0)

    init(
      _ name: String, at path: String, _ durability: StoreOptions.Durability, isLogged: Bool
    ) throws {
      self.name = name
      self.path = "\(path).\(name)"
      Self.remove(self.path)
      var options = StoreOptions()
      options.durability = durability
      store = try PersistentStore(
        for: [Company.self, Employee.self], at: .path(self.path), options: options)
      log = isLogged ? FolderLog(URL(filePath: self.path + ".log")) : nil
      if let log { try store.backUp(to: log) }
    }

    mutating func commit(_ rows: ArraySlice<Workload.EmployeeRow>) throws {
      let context = store.makeContext()
      try measure {
        for row in rows {
          context.insert(Employee.self).fill(from: row, company: nil)
          try context.commit()
        }
      }
    }

    mutating func measure(_ body: () throws -> Void) rethrows {
      let starts = [CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID].map(Meter.time)
      try body()
      blocks.append(Meter.time(CLOCK_MONOTONIC) - starts[0])
      processor.append(Meter.time(CLOCK_PROCESS_CPUTIME_ID) - starts[1])
    }

    mutating func backUp() throws {
      guard let log else { return }
      let start = Meter.time(CLOCK_MONOTONIC)
      try store.backUp(to: log)
      backUps += Meter.time(CLOCK_MONOTONIC) - start
    }

    /// Prints `op median_block_s median_block_processor_s backups_s blocks`.
    func report() {
      let times = [blocks, processor].map { $0.sorted()[$0.count / 2] } + [backUps]
      Meter.printLine(
        ["20_\(name)"] + times.map { String(format: "%.6f", $0) } + ["\(blocks.count)"])
    }

    func end() {
      store.close()
      Self.remove(path)
    }

    static func remove(_ path: String) {
      for suffix in ["", "-lock", ".log"] {
        try? FileManager.default.removeItem(atPath: path + suffix)
      }
    }
  }

  /// Measures commits of one object with and without a log, in alternating blocks with a backup
  /// after every thousand, the bulk insert with and without a log, and restoring the same commits.
  func log(rounds: Int) throws {
    for (name, durability) in [
      ("durable", StoreOptions.Durability.full), ("relaxed", .relaxed),
    ] {
      try compareCommits(name, durability, rounds: rounds)
    }
    for _ in 0..<rounds { try compareBulk() }
  }

  private func compareCommits(
    _ name: String, _ durability: StoreOptions.Durability, rounds: Int
  ) throws {
    let block = 100
    let rows = Workload(count: max(1000, count)).employees
    for _ in 0..<rounds {
      var plain = try Subject("\(name)_plain", at: path, durability, isLogged: false)
      defer { plain.end() }
      var logged = try Subject("\(name)_logged", at: path, durability, isLogged: true)
      defer { logged.end() }
      for start in stride(from: 0, to: rows.count, by: block) {
        let part = rows[start..<min(start + block, rows.count)]
        // Alternates the order of the two, because earlier writes affect the speed of the disk.
        if (start / block).isMultiple(of: 2) {
          try plain.commit(part)
          try logged.commit(part)
        } else {
          try logged.commit(part)
          try plain.commit(part)
        }
        if (start + block).isMultiple(of: 1000) { try logged.backUp() }
      }
      try logged.backUp()
      plain.report()
      logged.report()
      if let log = logged.log { try restore("20_\(name)_restored", log) }
    }
  }

  private func compareBulk() throws {
    let data = Workload(count: 200_000)
    for isLogged in [false, true] {
      var subject = try Subject(
        isLogged ? "bulk_logged" : "bulk_plain", at: path, .full, isLogged: isLogged)
      defer { subject.end() }
      let store = subject.store
      try subject.measure { try Self.insert(data, into: store) }
      try subject.backUp()
      subject.report()
      if let log = subject.log { try restore("20_bulk_restored", log) }
    }
  }

  private func restore(_ name: String, _ log: FolderLog) throws {
    let target = path + ".restored"
    Subject.remove(target)
    defer { Subject.remove(target) }
    let start = Meter.time(CLOCK_MONOTONIC)
    let sequence = try PersistentStore.restore(from: log, to: URL(filePath: target))
    let seconds = Meter.time(CLOCK_MONOTONIC) - start
    Meter.printLine([name, String(format: "%.6f", seconds), "0", "\(sequence)"])
  }

  /// Backs up a loaded store, changes it, backs it up again and restores it:
  /// `op seconds file_bytes anonymous_kB_beyond_the_start`.
  func backUp() throws {
    let log = FolderLog(URL(filePath: path + ".log"))
    let restored = path + ".restored"
    for path in [log.url.path, restored] { Subject.remove(path) }
    defer { for path in [log.url.path, restored] { Subject.remove(path) } }
    let store = try store()
    defer { store.close() }
    try measureMemory("21_snapshot") { try store.backUp(to: log) }
    let context = store.makeContext()
    for row in Workload.extra(beyond: count, block: 1).prefix(1000) {
      context.insert(Employee.self).fill(from: row, company: nil)
      try context.commit()
    }
    try measureMemory("21_commits") { try store.backUp(to: log) }
    try measureMemory("21_verify") { try log.verify() }
    try measureMemory("21_restore") {
      try PersistentStore.restore(from: log, to: URL(filePath: restored))
    }
  }

  /// Runs an operation, and prints `op seconds file_bytes anonymous_kB_beyond_the_start`.
  func measureMemory(_ name: String, _ body: () throws -> some Any) throws {
    let before = Meter.anonymousMemory
    let (isDone, peak) = (Flag(), Peak())
    let thread = Thread {
      while !isDone.value.load(ordering: .relaxed) {
        peak.value.max(Meter.anonymousMemory, ordering: .relaxed)
        usleep(2000)
      }
      isDone.ended.signal()
    }
    thread.start()
    let start = Meter.time(CLOCK_MONOTONIC)
    _ = try body()
    let seconds = Meter.time(CLOCK_MONOTONIC) - start
    isDone.value.store(true, ordering: .relaxed)
    isDone.ended.wait()
    let bytes = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    let growth = max(0, peak.value.load(ordering: .relaxed) - before)
    Meter.printLine([name, String(format: "%.3f", seconds), "\(bytes)", "\(growth)"])
  }

  private final class Flag: Sendable {
    let value = Atomic(false)
    let ended = DispatchSemaphore(value: 0)
  }

  private final class Peak: Sendable {
    let value = Atomic(0)
  }
}
