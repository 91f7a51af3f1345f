import ArborData
import Dispatch
import Foundation

/// How reads scale with processors. Not part of the workload.
extension Benchmark {
  /// Reads on one thread and then on several at once, each with its own context: look-ups by a unique
  /// attribute, and a fetch of all objects. Prints `op readers wall_s_per_reader`, in which the same
  /// time for several readers as for one is perfect scaling. First, prints `26_fetch_all_memory` with
  /// the peak of anonymous memory during a fetch of all objects, in bytes per object.
  func readConcurrently(rounds: Int) throws {
    let store = try store()
    let present = Meter.anonymousMemory
    _ = Meter()
    _ = try store.makeContext().fetch(FetchRequest<Employee>())
    let peak = (Meter.peakAnonymousMemory - present) * 1024
    Meter.printLine(["26_fetch_all_memory", "1", "\(peak / count)"])
    let ids = Workload.keys(seed: 44, range: count, count: Self.lookups)
    let lookUp: @Sendable (ManagedObjectContext) throws -> Void = { context in
      for id in ids {
        _ = try context.fetchOne(Employee.self, matching: "employeeID == \(id)")
      }
    }
    let work: [(name: String, body: @Sendable (ManagedObjectContext) throws -> Void)] = [
      ("25_lookup_unique", lookUp),
      (
        "25_lookup_unique_in_snapshot",
        { context in try context.withSnapshot { try lookUp(context) } }
      ), ("25_fetch_all", { _ = try $0.fetch(FetchRequest<Employee>()) }),
    ]
    for _ in 0..<rounds {
      for (name, body) in work {
        for readers in [1, ProcessInfo.processInfo.activeProcessorCount] {
          let start = Meter.time(CLOCK_MONOTONIC)
          DispatchQueue.concurrentPerform(iterations: readers) { _ in
            do { try body(store.makeContext()) } catch {
              print(error)
              exit(1)
            }
          }
          let wall = Meter.time(CLOCK_MONOTONIC) - start
          Meter.printLine([name, "\(readers)", String(format: "%.6f", wall)])
        }
      }
    }
  }
}
