import ArborData
import Foundation
import TestSupport
import Testing

@testable import crash_writer

/// Sixteen tasks share four long-lived contexts of one store while another process writes to it.
///
/// No commit is lost or partially visible, and the two sides of every relationship agree. Under
/// ThreadSanitizer (`tools/test --sanitize thread`) this also shows that there are no data races.
@Suite("Many tasks and contexts", .serialized, .timeLimit(.minutes(40))) struct ConcurrencyTests {
  @Test("Sixteen tasks and another process lose no commit and see none partially")
  func sixteenTasksFourContextsTwoProcesses() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    // Accounts and labels are created first, so that no task or process sees them partially
    // created.
    _ = try LedgerWriter(path: path) { _ in }.store.close()
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    let work = try ConcurrentWork(store)
    let changes = [store.changes, store.changes]
    let other = try CrashWriterRun(["append", path, "0", "\(ConcurrentWork.foreignEntries)"])
    try await withThrowingTaskGroup(of: Void.self) { everybody in
      for task in 0..<16 where ConcurrentWork.follows(task) {
        everybody.addTask { try await work.run(task, changes[task % 2]) }
      }
      everybody.addTask {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for task in 0..<16 where !ConcurrentWork.follows(task) {
            group.addTask { try await work.run(task, changes[0]) }
          }
          try await group.waitForAll()
        }
        // A context merges external commits when it is used, and this one is idle.
        try await work.desks[1].look()
      }
      try await everybody.waitForAll()
    }
    let end = other.finish()
    #expect(end.status == 0, "\(end.errors)")
    try verify(store)
  }

  /// Compares records, indexes, both sides of relationships, and sums with each other and with the
  /// work that the tasks did.
  private func verify(_ store: PersistentStore) throws {
    let state = try #require(try LedgerState(reading: store))
    #expect(
      state.round == ConcurrentWork.counts + ConcurrentWork.foreignEntries / 10,
      "the common number was counted up once for each time")
    #expect(state.labels == ConcurrentWork.labels)
    #expect(state.entries.count == ConcurrentWork.entries)
    let rounds = Dictionary(grouping: state.entries, by: \.note)
      .mapValues { $0.map(\.round).sorted() }
    let each = Array(1...ConcurrentWork.rounds)
    for task in [0, 1, 2, 3, 8, 9, 10] {
      #expect(rounds[ConcurrentWork.note(of: task)] == each, "task \(task)")
    }
    for task in ConcurrentWork.movers {
      #expect(rounds[ConcurrentWork.note(of: task)] == each.flatMap { [$0, $0] }, "task \(task)")
    }
    #expect(rounds[ConcurrentWork.note(of: 11)] == each.reversed().map { -$0 } + each)
    #expect(rounds["passing"] == nil)
    #expect(rounds[""] == Array(1...ConcurrentWork.foreignEntries))
    try store.check()
  }
}
