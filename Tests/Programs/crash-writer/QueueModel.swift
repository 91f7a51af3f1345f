import ArborData
import Foundation

/// A job of a queue that several processes work through.
final class Job: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Job.self) }
  private static let description = EntityDescription(
    name: "Job", className: "Job",
    attributes: [
      AttributeDescription(name: "number", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "priority", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "state", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "token", type: .string, isOptional: true),
      AttributeDescription(name: "expires", type: .date, isOptional: true),
    ],
    fetchIndexes: [
      FetchIndexDescription("next", on: "-priority", "number", where: "state == 0"),
      FetchIndexDescription("leases", on: "expires", where: "state == 1"),
    ],
    uniquenessConstraints: [["number"]])

  /// The states of a job.
  enum State {
    static let open = 0
    static let claimed = 1
    static let done = 2
  }

  var number: Int {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var priority: Int {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var state: Int {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  /// Identifies the claim that has the job.
  var token: String? {
    get { _attribute(3) }
    set { _setAttribute(3, newValue) }
  }
  /// The time at which another worker may claim the job.
  var expires: Date? {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
}

/// The result of a job. Two results of one job would mean that it was done twice, so nothing but the
/// workers' protocol prevents them.
final class Outcome: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Outcome", className: "Outcome",
    attributes: [
      AttributeDescription(name: "number", type: .integer64, defaultValue: 0, isIndexed: true),
      AttributeDescription(name: "token", type: .string, isOptional: true),
    ])

  var number: Int {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var token: String? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
}

/// The faults that are built into a worker, for the negative controls.
enum QueueFault {
  /// Reads the next job and writes the claim later, without comparing.
  case claimsWithoutJudging
  /// Finishes a job without checking whether the lease is still its own.
  case finishesWithoutFence
}

enum Queue {
  /// The time for which a worker waits for other processes.
  static let timeout = Duration.seconds(30)

  static func open(_ path: String) throws -> PersistentStore {
    var options = StoreOptions()
    options.durability = .relaxed
    options.busyTimeout = timeout
    return try PersistentStore(
      for: [Job.self, Outcome.self], at: .file(URL(filePath: path)), options: options)
  }

  /// Creates a queue with open jobs.
  static func create(_ path: String, jobs: Int) throws {
    let store = try open(path)
    let context = store.makeContext()
    for number in 0..<jobs {
      let job = context.insert(Job.self)
      job.number = number
      job.priority = number % 10
    }
    try context.commit()
    store.close()
  }

  /// Returns the faults of a queue: jobs that aren't done exactly once, by the claim that has them.
  static func faults(of store: PersistentStore) throws -> [String] {
    let context = store.makeContext()
    let outcomes = Dictionary(grouping: try context.fetch(Outcome.self), by: \.number)
    return try context.fetch(FetchRequest<Job>(sortKeys: ["number"])).compactMap { job in
      let tokens = (outcomes[job.number] ?? []).map(\.token)
      if job.state == Job.State.done, tokens == [job.token] { return nil }
      return "job \(job.number), state \(job.state): \(tokens.count) outcomes"
    }
  }
}
