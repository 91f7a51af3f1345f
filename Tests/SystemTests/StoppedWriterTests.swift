#if os(Linux)
  import ArborData
  import Foundation
  import TestLength
  import TestSupport
  import Testing

  @testable import crash_writer

  /// A process that is stopped while it writes keeps other processes from writing. Their commits end
  /// at their limits, and succeed once the process continues or dies.
  @Suite("Processes that are stopped while they write", .serialized) struct StoppedWriterTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
      folder = try TemporaryFolder()
      path = folder.path("ledger.arbor")
      try LedgerWriter(path: path) { _ in }.store.close()
    }

    /// Starts a process that is stopped in a transaction.
    private func seize(times: Int = 1) throws -> CrashWriterRun {
      let writer = try CrashWriterRun(["seize", path, "0", "\(times)"])
      #expect(writer.read(until: 1, "seized"))
      return writer
    }

    private func open(busyTimeout: Duration?) throws -> PersistentStore {
      var options = StoreOptions()
      options.busyTimeout = busyTimeout
      return try PersistentStore(
        for: LedgerClasses.all, at: .file(URL(filePath: path)), options: options)
    }

    @Test("A commit that waits for a stopped process ends at its deadline")
    func deadlinesHold() throws {
      let store = try open(busyTimeout: nil)
      let context = store.makeContext()
      // The first insertion reserves numbers, which waits like a commit.
      context.insert(Entry.self).entryID = 1
      let writer = try seize()
      context.deadline = .now + .milliseconds(100)
      let error = #expect(throws: ArborError.self) { try context.commit() }
      #expect(error?.code == .deadlineExceeded)
      context.deadline = nil
      // Readers don't wait.
      #expect(try store.makeContext().fetch(FetchRequest<Entry>()).isEmpty)
      writer.resume()
      try context.commit()
      #expect(try store.makeContext().fetch(FetchRequest<Entry>()).count == 1)
      #expect(writer.finish().status == 0)
      try store.check()
      store.close()
    }

    @Test("An insertion that waits while another thread reserves numbers ends at its deadline")
    func insertionsEndAtTheirOwnDeadlines() async throws {
      let store = try open(busyTimeout: nil)
      let writer = try seize()
      let patient = Task {
        try await store.perform { context in context.insert(Entry.self).entryID = 1 }
      }
      try await Task.sleep(for: .milliseconds(50))
      let context = store.makeContext()
      context.deadline = .now + .milliseconds(100)
      context.insert(Entry.self).entryID = 2
      let error = #expect(throws: ArborError.self) { try context.commit() }
      #expect(error?.code == .deadlineExceeded)
      writer.resume()
      try await patient.value
      #expect(writer.finish().status == 0)
      let found = try store.makeContext().fetch(FetchRequest<Entry>())
      #expect(found.map(\.entryID) == [1])
      try store.check()
      store.close()
    }

    @Test("The error names the process and the time since when it has been writing")
    func theErrorNamesTheProcess() throws {
      let store = try open(busyTimeout: .milliseconds(100))
      let context = store.makeContext()
      // The first insertion reserves numbers, which waits like a commit.
      context.insert(Entry.self).entryID = 1
      let start = Date.now
      let writer = try seize()
      let seized = Date.now
      let error = try #require(throws: ArborError.self) { try context.commit() }
      #expect(error.code == .busy)
      // The time has a resolution of a second.
      let seconds = Int(start.timeIntervalSince1970 - 1)...Int(seized.timeIntervalSince1970)
      let canonical = try #require(store.url).path
      let messages = seconds.map { second in
        let since = Date(timeIntervalSince1970: Double(second)).formatted(.iso8601)
        return "Process \(writer.processID) (crash-writer) has been writing to \(canonical) since "
          + "\(since), longer than StoreOptions.busyTimeout. Nothing was written. Try again later, "
          + "or resume or end that process if it is stopped."
      }
      #expect(messages.contains(error.message), "\(error.message)")
      // The system releases the gate of a process that dies.
      writer.kill()
      try context.commit()
      #expect(try store.makeContext().fetch(FetchRequest<Entry>()).count == 1)
      try store.check()
      store.close()
    }

    @Test("A commit that waits for a stopped process ends when its task is cancelled")
    func cancellationHolds() async throws {
      let writer = try seize()
      let store = try open(busyTimeout: nil)
      // The first one leads the queue of commits, and the others wait for it.
      let tasks = (1...3).map { id in
        Task {
          try await store.perform { context in context.insert(Entry.self).entryID = Int64(id) }
        }
      }
      try await Task.sleep(for: .milliseconds(100))
      for task in tasks { task.cancel() }
      for task in tasks {
        let result = await task.result
        let error = #expect(throws: ArborError.self) { try result.get() }
        #expect(error?.code == .cancelled)
      }
      writer.resume()
      #expect(writer.finish().status == 0)
      #expect(try store.makeContext().fetch(FetchRequest<Entry>()).isEmpty)
      try store.check()
      store.close()
    }

    /// Commits of many threads, each with a deadline of its own or none, while another process is
    /// stopped again and again. Each commit that returned is in the store, each that threw isn't.
    @Test("Of concurrent commits, those without a deadline outlast a stopped process")
    func eachWaitsForItself() async throws {
      let seed = UInt64.random(in: 0...(.max))
      var random = RandomNumbers(seed: seed)
      let store = try open(busyTimeout: nil)
      for round in 0..<TestLength.of(6, long: 200) {
        let writer = try seize(times: 3)
        let waits = (0..<12).map { _ in Int.random(in: -60...120, using: &random) }
        let outcome = try await withThrowingTaskGroup(of: (Int64, Bool).self) { group in
          for (index, wait) in waits.enumerated() {
            let id = Int64(round * 100 + index + 1)
            group.addTask {
              do {
                try await store.perform { context in
                  if wait > 0 { context.deadline = .now + .milliseconds(wait) }
                  context.insert(Entry.self).entryID = id
                }
                return (id, true)
              } catch {
                guard (error as? ArborError)?.code == .deadlineExceeded, wait > 0 else {
                  throw error
                }
                return (id, false)
              }
            }
          }
          for number in 1...3 {
            _ = writer.read(until: number, "seized")
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...60, using: &random)))
            if number == 3, Bool.random(using: &random) { writer.kill() } else { writer.resume() }
          }
          var outcome: [Int64: Bool] = [:]
          for try await (id, isWritten) in group { outcome[id] = isWritten }
          return outcome
        }
        _ = writer.finish()
        let written = Set(outcome.filter(\.value).keys)
        let found = try store.makeContext().fetch(FetchRequest<Entry>()).map { Int64($0.entryID) }
        let ofRound = Set(found.filter { $0 / 100 == Int64(round) })
        #expect(ofRound == written, "seed \(seed), round \(round)")
        for (index, wait) in waits.enumerated() where wait <= 0 {
          #expect(written.contains(Int64(round * 100 + index + 1)), "seed \(seed), round \(round)")
        }
      }
      try store.check()
      store.close()
    }

    @Test("A store can be opened and read while a process is stopped in a transaction")
    func readersAreIndependent() throws {
      let writer = try seize()
      for _ in 0..<3 {
        let store = try open(busyTimeout: .milliseconds(50))
        #expect(
          try store.makeContext().fetch(FetchRequest<Label>()).count == LedgerState.labelCount)
        store.close()
      }
      writer.kill()
    }
  }
#endif
