import ArborData
import ArborStore
import Foundation

/// A worker that takes jobs from a queue under leases.
struct QueueWorker {
  private let store: PersistentStore
  private let lease: Duration
  private let fault: QueueFault?
  /// Called between the claim and the end of each job.
  private let work: (Int) -> Void
  private let acknowledge: (String) -> Void

  init(
    _ path: String, lease: Duration, fault: QueueFault? = nil, work: @escaping (Int) -> Void,
    acknowledge: @escaping (String) -> Void
  ) throws {
    store = try Queue.open(path)
    self.lease = lease
    self.fault = fault
    self.work = work
    self.acknowledge = acknowledge
  }

  /// Does jobs until all are done.
  func run() async throws {
    let context = store.makeContext()
    while true {
      if try await doNext() { continue }
      guard try context.objects(Job.self).filter("state != \(Job.State.done)").isEmpty() else {
        // The other jobs are leased.
        usleep(.random(in: 1000...10_000))
        continue
      }
      store.close()
      return
    }
  }

  /// Does one job. Returns `false` if there is none.
  func doNext() async throws -> Bool {
    let token = UUID().uuidString
    guard let number = try claim(token) else { return false }
    work(number)
    acknowledge("\(try await finish(number, token) ? "done" : "lost") \(number)")
    return true
  }

  private func claim(_ token: String) throws -> Int? {
    let context = store.makeContext()
    let jobs = context.objects(Job.self)
    let next = jobs.filter("state == \(Job.State.open)").order(by: "-priority", "number")
    if fault == .claimsWithoutJudging {
      context.mergePolicy = .mergeByPropertyObjectWins
      guard let job = try next.first() else { return nil }
      acknowledge("read \(job.number)")
      work(job.number)
      (job.state, job.token) = (Job.State.claimed, token)
      try context.commit()
      return job.number
    }
    let values: [PropertyPath: (any PredicateArgument)?] = [
      "state": Job.State.claimed, "token": token, "expires": Date.now + lease / .seconds(1),
    ]
    if let job = try next.claim(values) { return job.number }
    let lapsed = jobs.filter("state == \(Job.State.claimed) AND expires < \(Date.now)")
    return try lapsed.order(by: "expires").claim(values)?.number
  }

  /// Stores the outcome of a job, unless another worker has claimed it since.
  private func finish(_ number: Int, _ token: String) async throws -> Bool {
    let hasFence = fault == nil
    return try await store.perform(deadline: .now + Queue.timeout) { context in
      guard let job = try context.objects(Job.self).filter("number == \(number)").first() else {
        return false
      }
      if hasFence, job.token != token || job.state != Job.State.claimed { return false }
      job.state = Job.State.done
      let outcome = context.insert(Outcome.self)
      (outcome.number, outcome.token) = (number, token)
      return true
    }
  }
}

/// Increments of one object by several processes, each of which reads before it writes.
enum QueueContention {
  static func run(_ path: String, count: Int, acknowledge: (String) -> Void) async throws {
    let store = try Queue.open(path)
    for number in 1...count {
      try await store.perform { context in
        guard let job = try context.objects(Job.self).filter("number == 0").first() else { return }
        job.priority += 1
      }
      acknowledge("added \(number)")
    }
    store.close()
  }

  /// Takes the turn of retries and stops this process while it has it.
  static func holdTurn(_ path: String, acknowledge: (String) -> Void) throws {
    let engine = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    guard engine.takeTurn() != nil else { return }
    acknowledge("taken 1")
    raise(SIGSTOP)
    engine.close()
  }
}
