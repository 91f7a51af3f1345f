#if os(Linux)
  import ArborData
  import ArborStore
  import Foundation
  import TestLength
  import TestSupport
  import Testing

  @testable import crash_writer

  /// Processes that claim jobs of one queue while one after another is stopped or killed.
  @Suite("Queues of several processes", .serialized, .timeLimit(.minutes(40))) struct QueueTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
      folder = try TemporaryFolder()
      path = folder.path("queue.arbor")
    }

    private func start(_ mode: String, lease: Int, count: Int = 1) throws -> CrashWriterRun {
      try CrashWriterRun([mode, path, "\(lease)", "\(count)"])
    }

    private func expectSuccess(_ run: CrashWriterRun, _ what: String = "") {
      let end = run.finish()
      #expect(end.status == 0 && end.errors.isEmpty, "\(end), \(what)")
    }

    /// At any time, one of the processes is stopped, for shorter or longer than a lease. Its jobs are
    /// claimed by others once their leases have expired. A process that waits for longer than its
    /// timeout ends with an error.
    @Test("Jobs of stopped and killed workers are done once, by others")
    func jobsAreDoneOnce() throws {
      let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
      let seed = given ?? .random(in: 0...(.max))
      print("jobsAreDoneOnce: ARBOR_SEED=\(seed)")
      var random = RandomNumbers(seed: seed)
      try Queue.create(path, jobs: TestLength.of(600, long: 10_000))
      let store = try Queue.open(path)
      defer { store.close() }
      let left = store.makeContext().objects(Job.self).filter("state != \(Job.State.done)")
      let lease = 150
      var workers = try (0..<5).map { _ in try start("queue", lease: lease) }
      var (kills, stopped) = (0, 0)
      while try !left.isEmpty() {
        stopped = (stopped + Int.random(in: 1..<5, using: &random)) % 5
        let worker = workers[stopped]
        worker.stop()
        usleep(.random(in: 5000...(2000 * UInt32(lease)), using: &random))
        if Int.random(in: 0..<3, using: &random) == 0 {
          worker.kill()
          let errors = worker.finish().errors
          #expect(errors.isEmpty, "\(errors), seed \(seed)")
          workers[stopped] = try start("queue", lease: lease)
          kills += 1
        } else {
          worker.resume()
        }
      }
      for worker in workers { expectSuccess(worker, "seed \(seed)") }
      #expect(try Queue.faults(of: store) == [], "seed \(seed)")
      try store.check()
      print("\(kills) workers were killed")
    }

    /// One worker stops with a job; another one does all jobs meanwhile.
    private func overtake(_ mode: String) throws -> (first: CrashWriterRun, faults: [String]) {
      try Queue.create(path, jobs: 3)
      let first = try start(mode, lease: 1)
      #expect(first.read(until: 1, "stopping"))
      let second = try start("queue", lease: 10_000)
      expectSuccess(second)
      #expect(second.acknowledged("done").sorted() == [0, 1, 2])
      first.resume()
      expectSuccess(first)
      let store = try Queue.open(path)
      defer { store.close() }
      try store.check()
      return (first, try Queue.faults(of: store))
    }

    @Test("A worker whose lease has expired can't finish its job")
    func fencesHold() throws {
      let (first, faults) = try overtake("lapse")
      #expect(first.acknowledged("lost") == [2] && first.acknowledged("done") == [])
      #expect(faults == [])
    }

    @Test(
      "Negative control: without judging or fencing, a job is done twice",
      arguments: ["careless", "unfenced"])
    func faultsAreFound(mode: String) throws {
      let (first, faults) = try overtake(mode)
      #expect(first.acknowledged("done") == [2])
      #expect(faults == ["job 2, state 2: 2 outcomes"])
    }

    @Test(
      "A claim ends at its limits if a writer is stopped, and an empty queue doesn't wait")
    func limitsHold() throws {
      try Queue.create(path, jobs: 1)
      let writer = try start("seize", lease: 0)
      #expect(writer.read(until: 1, "seized"))
      var options = StoreOptions()
      options.busyTimeout = .milliseconds(100)
      let store = try PersistentStore(
        for: [Job.self, Outcome.self], at: .file(URL(filePath: path)), options: options)
      defer { store.close() }
      let context = store.makeContext()
      let open = context.objects(Job.self).filter("state == 0")
      let busy = #expect(throws: ArborError.self) { _ = try open.claim(["state": 1]) }
      #expect(busy?.code == .busy)
      context.deadline = .now + .milliseconds(50)
      let late = #expect(throws: ArborError.self) { _ = try open.claim(["state": 1]) }
      #expect(late?.code == .deadlineExceeded)
      context.deadline = nil
      #expect(try context.objects(Job.self).filter("state == 1").claim(["state": 2]) == nil)
      writer.resume()
      expectSuccess(writer)
      #expect(try open.claim(["state": 1])?.state == 1)
      #expect(try open.claim(["state": 1]) == nil)
      try store.check()
    }

    // MARK: Retries

    /// Each process reads and increments the same number, so all of their commits conflict.
    @Test(
      "Bodies of several processes that change one object succeed while one is stopped")
    func bodiesDontGiveUp() throws {
      let seed = UInt64.random(in: 0...(.max))
      var random = RandomNumbers(seed: seed)
      try Queue.create(path, jobs: 1)
      let count = TestLength.of(60, long: 1000)
      let workers = try (0..<6).map { _ in try start("contend", lease: 0, count: count) }
      for round in 0..<8 {
        let worker = workers[round % workers.count]
        worker.stop()
        usleep(.random(in: 1000...200_000, using: &random))
        worker.resume()
      }
      for worker in workers { expectSuccess(worker, "seed \(seed)") }
      let store = try Queue.open(path)
      defer { store.close() }
      let sum = try store.makeContext().objects(Job.self).first()?.priority
      #expect(sum == workers.count * count, "seed \(seed)")
      try store.check()
    }

    @Test("The turn of a stopped process expires, and that of a dead one ends")
    func turnsExpire() throws {
      try Queue.create(path, jobs: 1)
      let engine = try StoreEngine.open(StoreOpening(.file(path), model: nil))
      // On a busy machine, a turn may expire before it is looked at.
      let isExclusive = (0..<100).contains { _ in
        guard let own = engine.takeTurn() else { return false }
        defer { engine.endTurn(own) }
        return engine.isTurnTaken && engine.takeTurn() == nil
      }
      #expect(isExclusive && !engine.isTurnTaken)
      for isKilled in [false, true] {
        let holder = try start("turn", lease: 0)
        #expect(holder.read(until: 1, "taken"))
        if isKilled { holder.kill() }
        let start = ContinuousClock.now
        var turn = engine.takeTurn()
        while turn == nil, start.duration(to: .now) < .seconds(20) {
          usleep(1000)
          turn = engine.takeTurn()
        }
        #expect(turn != nil)
        if let turn { engine.endTurn(turn) }
        if !isKilled {
          holder.resume()
          expectSuccess(holder)
        }
      }
      engine.close()
      try TemporaryStore.check(path: path)
    }
  }
#endif
