#if os(Linux)
  import ArborData
  import ArborStore
  import Foundation
  import TestSupport
  import Testing

  @testable import crash_writer

  /// Writes past the system's cache.
  private enum DirectWrites {
    /// Whether files in temporary folders can be written past the cache.
    static let isSupported: Bool = {
      guard let folder = try? TemporaryFolder() else { return false }
      let descriptor = open(folder.path("direct"), O_RDWR | O_CREAT | __O_DIRECT, 0o600)
      guard descriptor >= 0 else { return false }
      close(descriptor)
      let contexts = try? String(contentsOfFile: "/proc/sys/fs/aio-max-nr", encoding: .utf8)
      return contexts.flatMap { Int($0.filter(\.isNumber)) } ?? 0 > 0
    }()
  }

  /// Processes that end or stop while an entry of the journal is being written and LMDB has already
  /// committed.
  @Suite(
    "Entries in flight", .serialized,
    .enabled(if: FaultTests.canFail, "sanitizers intercept the calls"),
    .enabled(if: DirectWrites.isSupported, "the file system has no direct writes"))
  struct FlightTests {
    private static let seed: UInt64 = 17
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
      folder = try TemporaryFolder()
      path = folder.url.resolvingSymlinksInPath().appending(path: "ledger.arbor").path
    }

    /// Starts a process that commits rounds with a journal.
    private func writer(rounds: Int, interrupted how: String? = nil) throws -> CrashWriterRun {
      var environment = [LedgerJournal.variable: "3", "SWIFT_BACKTRACE": "enable=no"]
      environment["ARBOR_FAULTS_FLIGHT"] = how
      return try CrashWriterRun(
        ["rounds", path, "\(Self.seed)", "\(rounds)"], environment: environment)
    }

    private func verify(_ store: PersistentStore, rounds: ClosedRange<Int>) throws {
      try store.check()
      let state = try #require(try LedgerState(reading: store))
      #expect(rounds.contains(state.round))
      #expect(state == LedgerState(seed: Self.seed, rounds: state.round))
    }

    @Test("The commit of a process that is killed before its entry has landed is whole or absent")
    func killedInFlight() throws {
      var acknowledged = 0
      for flight in 1...12 {
        let killed = try writer(rounds: 20, interrupted: "kill \(flight % 6 + 1)")
        #expect(killed.finish().status == SIGKILL)
        acknowledged = max(acknowledged, Int(killed.acknowledged("round").last ?? 0))
        // Another process follows at once every other time.
        if flight % 2 == 0 {
          let next = try writer(rounds: 1)
          #expect(next.finish().status == 0)
          let reached = Int(try #require(next.acknowledged("round").last))
          #expect((acknowledged + 1...acknowledged + 2).contains(reached))
          acknowledged = reached
        }
        let store = try LedgerWriter.open(path)
        try verify(store, rounds: acknowledged...acknowledged + 1)
        acknowledged = try #require(try LedgerState(reading: store)).round
        store.close()
      }
      #expect(acknowledged > 12)
    }

    /// Waits until a process is stopped.
    private func waitUntilStopped(_ run: CrashWriterRun) throws {
      let end = ContinuousClock.now + .seconds(60)
      while ContinuousClock.now < end {
        let status = try String(contentsOfFile: "/proc/\(run.processID)/stat", encoding: .utf8)
        if status.split(separator: ")").last?.hasPrefix(" T") == true { return }
        usleep(1_000)
      }
      Issue.record("The process was not stopped.")
    }

    @Test(
      "While a process is stopped in flight, others read its commit but don't commit on top of it")
    func stoppedInFlight() throws {
      let stopped = try writer(rounds: 8, interrupted: "stop 4")
      try waitUntilStopped(stopped)
      var options = StoreOptions()
      options.busyTimeout = .milliseconds(100)
      var limits = JournalLimits()
      limits.beginning = 0
      limits.patience = 0.05
      options.journalLimits = limits
      let store = try PersistentStore(for: LedgerClasses.all, at: .path(path), options: options)
      let visible = try #require(try LedgerState(reading: store)).round
      let waiting = #expect(throws: ArborError.self) { try store.waitUntilDurable() }
      #expect(waiting?.code == .busy)
      #expect(
        waiting?.message
          == "A process has been writing an entry of the journal \(path)-journal for "
          + "0.05 s. It may be stopped. Continue or end it.")
      let copying = #expect(throws: ArborError.self) {
        try store.copy(to: folder.url.appending(path: "copy.arbor"))
      }
      #expect(copying?.code == .busy)
      let context = store.makeContext()
      context.insert(Entry.self).entryID = 1_000_000
      let committing = #expect(throws: ArborError.self) { try context.commit() }
      #expect(committing?.code == .busy)
      context.rollback()
      stopped.resume()
      #expect(stopped.finish().status == 0)
      let reached = Int(try #require(stopped.acknowledged("round").last))
      #expect(reached == 8 && visible < reached)
      try store.waitUntilDurable()
      try store.copy(to: folder.url.appending(path: "copy.arbor"))
      try verify(store, rounds: reached...reached)
      store.close()
    }
  }
#endif
