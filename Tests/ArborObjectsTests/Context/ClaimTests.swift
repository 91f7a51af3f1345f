import ArborLocks
import ArborLog
import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// Claims: the first object of a query is chosen and changed by the transaction that commits it.
@Suite("Claiming objects") struct ClaimTests {
  private static let model = Result {
    try ManagedObjectModel {
      EntityDescription(
        "Job", isAbstract: true,
        fetchIndexes: [
          FetchIndexDescription("next", on: "-priority", "number", where: "state == 0")
        ]
      ) {
        AttributeDescription("number", .integer64, .unique)
        AttributeDescription("priority", .integer64, .default(0))
        AttributeDescription(
          "state", .integer64, .default(0), .bounds(0...5))
        AttributeDescription("slot", .integer64, .optional, .unique)
        AttributeDescription("worker", .string, .optional)
        AttributeDescription("expires", .date, .optional, .indexed)
        AttributeDescription("share", .float, .optional)
        AttributeDescription("draft", .string, .optional, .transient)
        AttributeDescription("photo", .binary, .optional, .externalStorage)
        AttributeDescription("label", .string, .optional, .derived("uppercase(worker)"))
        RelationshipDescription("team", to: "Team", inverse: "jobs")
        RelationshipDescription("seat", to: "Seat", inverse: "job")
        RelationshipDescription("list", to: "List", inverse: "jobs")
      }
      EntityDescription("Print", parent: "Job")
      EntityDescription("Mail", parent: "Job") { AttributeDescription("to", .string, .optional) }
      EntityDescription("Team") {
        AttributeDescription("name", .string, .optional)
        AttributeDescription("size", .integer64, .default(0), .derived("jobs.@count"))
        AttributeDescription("work", .integer64, .optional, .derived("jobs.@sum.state"))
        RelationshipDescription("jobs", to: "Job", inverse: "team", .toMany)
      }
      EntityDescription("Seat") { RelationshipDescription("job", to: "Job", inverse: "seat") }
      EntityDescription("List") {
        RelationshipDescription("jobs", to: "Job", inverse: "list", .toMany, .ordered)
      }
    }
  }

  private func use(
    _ options: StoreOptions = StoreOptions(), _ body: (PersistentStore) async throws -> Void
  ) async throws {
    let store = try PersistentStore(model: Self.model.get(), at: .inMemory, options: options)
    defer { store.close() }
    try await body(store)
    try store.check()
  }

  private static func insert(_ count: Int, _ store: PersistentStore) throws {
    let context = store.makeContext()
    for number in 0..<count {
      let job = try context.insert(number % 2 == 0 ? "Print" : "Mail")
      job["number"] = number
      job["priority"] = number % 3
    }
    try context.commit()
  }

  private static func open(_ context: ManagedObjectContext) -> ObjectQuery<ManagedObject> {
    context.objects("Job").filter("state == 0").order(by: "-priority", "number")
  }

  private static func number(_ job: ManagedObject?) -> Int? { job.map { $0["number"] as Int } }

  // MARK: Choosing

  @Test("Objects are claimed in the order of the query, until there are none")
  func objectsAreClaimedInOrder() async throws {
    try await use { store throws in
      try Self.insert(7, store)
      let context = store.makeContext()
      (context.author, context.name) = ("worker 7", "claims")
      var claimed: [Int] = []
      while let job = try Self.open(context).claim(["state": 1, "worker": "w"]) {
        claimed.append(job["number"])
        #expect(job["state"] == 1 && job["worker"] == "w" && job["label"] == "W")
        #expect(!job.hasChanges && !context.hasChanges)
      }
      #expect(claimed == [2, 5, 1, 4, 0, 3, 6])
      // One commit each, and none for the claim that found nothing.
      #expect(store.sequence == 8)
      #expect(try store.makeContext().objects("Job").filter("worker == 'w'").count() == 7)
      // A limit is ignored, an offset isn't.
      let done = context.objects("Job").filter("state == 1").order(by: "number")
      #expect(try Self.number(done.limit(0).offset(2).claim(["state": 2])) == 2)
      #expect(try Self.number(done.limit(9).claim(["state": 2])) == 0)
    }
  }

  @Test("Concurrent claims don't conflict, and each object is claimed once")
  func claimsDontConflict() async throws {
    let failures = Atomic(0)
    var options = StoreOptions()
    options.instrument = StoreInstrument(onCommit: { _ in
      { if $0.conflicts > 0 || $0.error != nil { failures.add(1, ordering: .relaxed) } }
    })
    let count = TestLength.of(300, long: 3000)
    try await use(options) { store async throws in
      try Self.insert(count, store)
      let claimed = try await withThrowingTaskGroup(of: [Int].self) { group in
        for worker in 0..<8 {
          group.addTask {
            var claimed: [Int] = []
            while let number = try await store.perform({ context in
              try Self.number(Self.open(context).claim(["state": 1, "worker": "\(worker)"]))
            }) {
              claimed.append(number)
            }
            return claimed
          }
        }
        var all: [Int] = []
        for try await claimed in group { all += claimed }
        return all
      }
      #expect(claimed.sorted() == Array(0..<count))
      #expect(failures.load(ordering: .relaxed) == 0)
      // Each one is a commit of its own.
      #expect(store.sequence == UInt64(count) + 1)
    }
  }

  @Test("A claim is judged by the newest commit, whatever the context has read")
  func theNewestStateCounts() async throws {
    try await use { store throws in
      try Self.insert(2, store)
      let context = store.makeContext()
      context.automaticallyMergesCommits = false
      let known = try #require(try Self.open(context).first())
      #expect(Self.number(known) == 1)
      #expect(try Self.number(Self.open(store.makeContext()).claim(["state": 1])) == 1)
      #expect(known["state"] == 0)
      #expect(try Self.number(Self.open(context).claim(["state": 1])) == 0)
      #expect(known["state"] == 1)
      #expect(try Self.open(context).claim(["state": 1]) == nil)
    }
  }

  @Test("With its own values in the query, a claim renews a lease or notices that it is lost")
  func claimsAreConditionalUpdates() async throws {
    try await use { store throws in
      try Self.insert(1, store)
      let context = store.makeContext()
      let mine = context.objects("Job").filter("worker == 'a'")
      #expect(try mine.claim(["expires": Date.now]) == nil)
      _ = try Self.open(context).claim(["state": 1, "worker": "a"])
      let later = Date(timeIntervalSinceReferenceDate: 1000)
      #expect(try mine.claim(["expires": later])?["expires"] == later)
      _ = try context.objects("Job").filter("state == 1").claim(["worker": "b"])
      #expect(try mine.claim(["expires": Date.now]) == nil)
      // A float that is stored with less precision is the object's value all the same.
      #expect(try context.objects("Job").claim(["share": 0.1]) != nil)
    }
  }

  // MARK: Like any other commit

  @Test("Derived values, inverses, results and histories follow a claim")
  func everythingFollows() async throws {
    try await use { store throws in
      try Self.insert(3, store)
      let context = store.makeContext()
      let team = try context.insert("Team")
      try context.commit()
      let observer = store.makeContext()
      let results = try observer.fetchedResults(Self.open(observer).request)
      #expect(results.objects.count == 3)
      let token = try store.currentHistoryToken()
      let undo = UndoHistory()
      context.undoHistory = undo
      context.author = "worker"
      let job = try #require(
        try Self.open(context).claim(["state": 3, "worker": "w", "team": team.objectID]))
      #expect(!undo.canUndo)
      #expect(team["size"] == 1 && team["work"] == 3)
      #expect(try team.objects(forKey: "jobs").fetch().map(\.objectID) == [job.objectID])
      #expect(try observer.mergeExternalCommits())
      #expect(results.objects.map { Self.number($0) } == [1, 0])
      let commits = try store.commits(after: token)
      #expect(commits.map(\.author) == ["worker"])
      #expect(commits.first?.updated == [job.objectID, team.objectID])
      // To no team.
      _ = try context.objects("Job").filter("state == 3").claim(["team": nil])
      #expect(team["size"] == 0 && (team["work"] as Int?) ?? 0 == 0)
    }
  }

  @Test("Values that break a rule are refused, and nothing is claimed")
  func rulesHold() async throws {
    try await use { store throws in
      try Self.insert(2, store)
      let context = store.makeContext()
      let open = Self.open(context)
      let outside = try failure { _ = try open.claim(["state": 9]) }
      #expect(outside.code == .validation)
      #expect(outside.message == "Mail.state exceeds the maximum of 5.")
      let null = try failure { _ = try open.claim(["state": nil]) }
      #expect(null.code == .validation)
      _ = try open.claim(["state": 1, "slot": 7])
      let taken = try failure { _ = try open.claim(["state": 1, "slot": 7]) }
      #expect(taken.code == .notUnique)
      #expect(try open.count() == 1 && !context.hasChanges)
      #expect(store.sequence == 2)
    }
  }

  @Test("What a claim can't do is refused with an explanation")
  func refusalsExplain() async throws {
    try await use { store throws in
      try Self.insert(1, store)
      let context = store.makeContext()
      let open = Self.open(context)
      for name in ["draft", "photo", "seat", "list"] {
        let error = try failure { _ = try open.claim(["state": 1, PropertyPath(name): nil]) }
        #expect(error.code == .notAllowed)
        #expect(
          error.message
            == "A claim can't set Job.\(name), which isn't stored in the object's record alone. Set "
            + "it on the claimed object, and commit.")
      }
      let members = try failure { _ = try context.objects("Team").claim(["jobs": nil]) }
      #expect(members.code == .notAllowed)
      let derived = try failure { _ = try open.claim(["label": "W"]) }
      #expect(derived.code == .notAllowed)
      #expect(try failure { _ = try open.claim(["colour": 1]) }.code == .unknownName)
      #expect(try failure { _ = try open.claim(["state": "x"]) }.code == .typeMismatch)
      _ = try context.insert("Team")
      let pending = try failure { _ = try open.claim(["state": 1]) }
      #expect(pending.code == .notAllowed)
      #expect(
        pending.message
          == "The context has changes that a claim doesn't see. Commit or roll them back before.")
      context.rollback()
      try context.withSnapshot {
        let pinned = try failure { _ = try open.claim(["state": 1]) }
        #expect(
          pinned.message
            == "claim() was called inside withSnapshot(_:), which doesn't see the newest commits. "
            + "Claim the object before.")
      }
      #expect(store.sequence == 1)
      #expect(try open.claim(["state": 1]) != nil)
    }
  }

  /// A job that forbids the state 2, and records its validations.
  private final class StrictJob: ManagedObject {
    override class var entityDescription: EntityDescription { description }
    private static let description = EntityDescription(
      name: "StrictJob", className: "StrictJob",
      attributes: [
        AttributeDescription(name: "number", type: .integer64, defaultValue: 0),
        AttributeDescription(name: "state", type: .integer64, defaultValue: 0),
      ])
    static let validations = Atomic(0)
    var number: Int {
      get { _attribute(0) }
      set { _setAttribute(0, newValue) }
    }
    var state: Int {
      get { _attribute(1) }
      set { _setAttribute(1, newValue) }
    }
    override func validateForUpdate() throws {
      Self.validations.add(1, ordering: .relaxed)
      if state == 2 { throw ArborError(.validation, "State 2 is forbidden") }
      try super.validateForUpdate()
    }
  }

  @Test("Hooks validate the object that is claimed")
  func hooksValidate() async throws {
    let store = try PersistentStore(for: [StrictJob.self], at: .inMemory)
    defer { store.close() }
    try await store.perform { context in
      for number in 0..<100 { context.insert(StrictJob.self).number = number }
    }
    let context = store.makeContext()
    let refused = try failure {
      _ = try context.objects(StrictJob.self).filter("state == 0").claim(["state": 2])
    }
    #expect(refused.code == .validation && store.sequence == 1)
    let before = StrictJob.validations.load(ordering: .relaxed)
    let claimed = try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<4 {
        group.addTask {
          var claimed: [Int] = []
          while let number = try await store.perform({ context in
            try context.objects(StrictJob.self).filter("state == 0").order(by: "number")
              .claim(["state": 1])?.number
          }) {
            claimed.append(number)
          }
          return claimed
        }
      }
      var all: [Int] = []
      for try await claimed in group { all += claimed }
      return all
    }
    #expect(claimed.sorted() == Array(0..<100))
    #expect(StrictJob.validations.load(ordering: .relaxed) - before >= 100)
    try store.check()
  }

  // MARK: Shared stores

  @Test("Stores that share a log claim each object once")
  func sharedStoresClaimOnce() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let log = SimulatedLog()
    let model = try Self.model.get()
    let stores = try ["a", "b", "c"].map { name in
      try PersistentStore(
        model: model, at: .path(folder.path("\(name).arbor")), following: log,
        every: .seconds(3600))
    }
    defer { for store in stores { store.close() } }
    let count = 60
    try Self.insert(count, stores[0])
    for store in stores { try store.catchUp() }
    let claimed = try await withThrowingTaskGroup(of: [Int].self) { group in
      for store in stores {
        for _ in 0..<2 {
          group.addTask {
            var claimed: [Int] = []
            while let number = try await store.perform({ context in
              try Self.number(Self.open(context).claim(["state": 1]))
            }) {
              claimed.append(number)
            }
            return claimed
          }
        }
      }
      var all: [Int] = []
      for try await claimed in group { all += claimed }
      return all
    }
    #expect(claimed.sorted() == Array(0..<count))
    for store in stores {
      try store.catchUp()
      #expect(try Self.open(store.makeContext()).isEmpty())
      try store.check()
    }
  }

  // MARK: Random histories

  /// A job as the oracle knows it.
  private struct Plain {
    var number: Int
    var priority: Int
    var state: Int
    var worker: String?
  }

  @Test("Random claims, insertions, changes and deletions agree with an oracle")
  func randomHistories() async throws {
    for _ in 0..<TestLength.of(10, long: 500) {
      var random = SeededRandom()
      let seed = random.seed
      try await use { store throws in
        var jobs: [Plain] = []
        let contexts = (0..<3).map { _ in store.makeContext() }
        for step in 0..<60 {
          let context = contexts.randomElement(using: &random) ?? contexts[0]
          let pick = Int.random(in: 0..<10, using: &random)
          let state = Int.random(in: 0...2, using: &random)
          switch pick {
          case 0...2:
            let job = try context.insert(Bool.random(using: &random) ? "Print" : "Mail")
            let plain = Plain(
              number: step, priority: .random(in: 0...2, using: &random), state: state)
            job["number"] = plain.number
            job["priority"] = plain.priority
            job["state"] = plain.state
            jobs.append(plain)
            try context.commit()
          case 3:
            guard let index = jobs.indices.randomElement(using: &random) else { continue }
            let found = try context.objects("Job").filter("number == \(jobs[index].number)").first()
            let job = try #require(found)
            if Bool.random(using: &random) {
              context.delete(job)
              jobs.remove(at: index)
            } else {
              job["state"] = state
              jobs[index].state = state
            }
            try context.commit()
          default:
            let least = Int.random(in: 0...2, using: &random)
            let isDescending = Bool.random(using: &random)
            let query = context.objects("Job").filter("state == \(state) AND priority >= \(least)")
              .order(by: isDescending ? "-priority" : "priority", "-number")
            let expected = jobs.indices
              .filter { jobs[$0].state == state && jobs[$0].priority >= least }
              .min {
                let (left, right) = (jobs[$0], jobs[$1])
                if left.priority != right.priority {
                  return (left.priority < right.priority) != isDescending
                }
                return left.number > right.number
              }
            let next = Int.random(in: 0...2, using: &random)
            let claimed = try query.claim(["state": next, "worker": "\(step)"])
            #expect(
              Self.number(claimed) == expected.map { jobs[$0].number }, "seed \(seed), step \(step)"
            )
            if let expected { (jobs[expected].state, jobs[expected].worker) = (next, "\(step)") }
          }
        }
        let stored = try store.makeContext().objects("Job").order(by: "number").fetch().map {
          "\($0["number"] as Int) \($0["priority"] as Int) \($0["state"] as Int) "
            + "\(($0["worker"] as String?) ?? "-") \(($0["label"] as String?) ?? "-")"
        }
        let expected = jobs.sorted { $0.number < $1.number }.map {
          "\($0.number) \($0.priority) \($0.state) \($0.worker ?? "-") \($0.worker ?? "-")"
        }
        #expect(stored == expected, "seed \(seed)")
      }
    }
  }
}
