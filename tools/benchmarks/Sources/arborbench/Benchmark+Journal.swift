import ArborData
import Foundation

/// The cost of single durable commits with and without a journal.
extension Benchmark {
  /// A store whose commits are timed one by one.
  private struct Committer {
    let name: String
    let store: PersistentStore
    let context: ManagedObjectContext
    let path: String
    var times: [Double] = []

    init(_ name: String, at path: String, _ durability: StoreOptions.Durability) throws {
      self.name = name
      self.path = "\(path).\(name)"
      Self.remove(self.path)
      var options = StoreOptions()
      options.durability = durability
      store = try PersistentStore(
        for: [Company.self, Employee.self], at: .path(self.path), options: options)
      context = store.makeContext()
    }

    mutating func commit(_ rows: ArraySlice<Workload.EmployeeRow>) throws {
      for row in rows {
        context.insert(Employee.self).fill(from: row, company: nil)
        let start = Meter.time(CLOCK_MONOTONIC)
        try context.commit()
        times.append(Meter.time(CLOCK_MONOTONIC) - start)
      }
    }

    /// Prints `op median_s 99th_percentile_s file_bytes commits`.
    func report() throws {
      let sorted = times.sorted()
      let bytes = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      Meter.printLine([
        "24_\(name)", String(format: "%.6f", sorted[sorted.count / 2]),
        String(format: "%.6f", sorted[sorted.count * 99 / 100]), "\(bytes)", "\(sorted.count)",
      ])
    }

    func end() {
      store.close()
      Self.remove(path)
    }

    private static func remove(_ path: String) {
      for suffix in ["", "-lock", "-journal"] {
        try? FileManager.default.removeItem(atPath: path + suffix)
      }
    }
  }

  /// Measures commits of one object with both kinds of durability, in alternating blocks of 100.
  func journal(rounds: Int) throws {
    let rows = Workload(count: max(1000, count)).employees
    for _ in 0..<rounds {
      var committers = try [
        Committer("classic", at: path, .fullClassic), Committer("full", at: path, .full),
      ]
      defer { for committer in committers { committer.end() } }
      for start in stride(from: 0, to: rows.count, by: 100) {
        let part = rows[start..<min(start + 100, rows.count)]
        for index in (start / 100).isMultiple(of: 2) ? [0, 1] : [1, 0] {
          try committers[index].commit(part)
        }
      }
      for committer in committers { try committer.report() }
    }
  }
}
