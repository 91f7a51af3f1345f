import ArborModel
import ArborObjects
import TestLength
import TestSupport
import Testing

/// Random changes in several contexts of one store. Fetched results must always equal a fetch, and
/// their differences must lead from each state to the next without spurious changes.
@Suite("Fetched results during random changes") struct RandomResultsTests {
  @Test("Fetched results always equal a fetch")
  func resultsAreAlwaysWhatAFetchGives() throws {
    var seeds = SeededRandom()
    for _ in 0..<TestLength.of(4, long: 60) {
      let seed = seeds.next()
      do {
        try ObjectStore.useOffice { store in
          var world = ResultsWorld(store, seed: seed)
          try world.run(steps: 0..<150)
        }
      } catch {
        Issue.record(error, "seed \(seed)")
        return
      }
    }
  }

  @Test(
    "Known histories lead to results that equal a fetch",
    arguments: [
      1, 2, 3, 15_367_320_732_341_461_570, 14_997_916_955_610_824_109, 15_855_050_736_365_222_173,
    ] as [UInt64])
  func namedHistories(seed: UInt64) throws {
    try ObjectStore.useOffice(inMemory: false) { store in
      var world = ResultsWorld(store, seed: seed)
      try world.run(steps: 0..<250)
    }
  }
}

/// Contexts with current results and their previous state.
private struct ResultsWorld {
  private let contexts: [ManagedObjectContext]
  private var followed: [any FollowedList]
  private let seed: UInt64
  /// The randomness of the current step, so that a step doesn't depend on other steps.
  private var random: SeededRandom
  private var log: [String] = []

  init(_ store: PersistentStore, seed: UInt64) {
    self.seed = seed
    random = SeededRandom(seed: seed)
    contexts = (0..<3).map { _ in store.makeContext() }
    let policies: [MergePolicy] = [
      .mergeByPropertyObjectWins, .mergeByPropertyStoreWins, .overwrite,
    ]
    for (context, policy) in zip(contexts, policies) { context.mergePolicy = policy }
    contexts[0].undoHistory = UndoHistory()
    followed = []
  }

  private static func requests() -> [(FetchRequest<Employee>, String?)] {
    let folded = SortKey.ascending("name", options: .caseInsensitive)
    var limited = FetchRequest<Employee>(predicate: "age > 20", sortKeys: ["age", "name"])
    limited.fetchLimit = 3
    limited.fetchOffset = 1
    var exact = FetchRequest<Employee>(sortKeys: ["-salary"])
    exact.includesSubentities = false
    return [
      (FetchRequest(), nil),
      (FetchRequest(predicate: "age >= 25", sortKeys: ["-age", "name"]), "age"),
      (FetchRequest(sortKeys: [folded]), "name"),
      (FetchRequest(predicate: "company.name BEGINSWITH 'a'", sortKeys: ["name"]), nil),
      (FetchRequest(predicate: "company != nil", sortKeys: ["company", "age"]), "company"),
      (FetchRequest(sortKeys: ["company.name", "name"]), "company.name"),
      (FetchRequest(predicate: "ANY skills.name == 'b'", sortKeys: ["age"]), nil),
      (FetchRequest(predicate: "skills.@count > 0", sortKeys: ["name"]), "rank"),
      (FetchRequest(predicate: "manager.age > age", sortKeys: ["name"]), nil),
      (limited, nil), (exact, nil),
    ]
  }

  mutating func run(steps: some Sequence<Int>) throws {
    do {
      try follow()
      for index in steps {
        random = SeededRandom(seed: seed &+ UInt64(index) &* 0xD6E8_FEB8_6659_FD93)
        try step()
        try look()
      }
    } catch {
      throw Contradiction(description: "\(error)\n" + log.joined(separator: "\n"))
    }
  }

  private mutating func follow() throws {
    for context in contexts.prefix(2) {
      for (request, path) in Self.requests() {
        followed.append(
          try FollowedResults(
            request, path,
            watching: ["name", "nick", "age", "salary", "company", "manager", "skills"],
            in: context))
      }
      followed.append(
        try FollowedResults(
          FetchRequest<ManagedObject>(
            entity: "Company", predicate: "employees.@count > 1", sortKeys: ["name"]), nil,
          watching: ["name"], in: context))
      followed.append(
        try FollowedResults(
          FetchRequest<ManagedObject>(entity: "Person", sortKeys: ["name"]), "name",
          watching: ["name", "nick", "age"], in: context))
    }
  }

  private mutating func look() throws {
    // Results may be replaced at any time.
    if Int.random(in: 0..<10, using: &random) == 0,
      let position = followed.indices.randomElement(using: &random)
    {
      log.append("renewed \(position)")
      followed[position] = try followed[position].renewed()
    }
    // Not after every step, so that some changes are combined.
    guard Int.random(in: 0..<3, using: &random) > 0 else { return }
    log.append("looked")
    for results in followed {
      do { try results.compare() } catch {
        throw Contradiction(description: "\(error)\n\(results)")
      }
    }
  }

  // MARK: Steps

  private mutating func step() throws {
    let position = Int.random(in: 0..<contexts.count, using: &random)
    let context = contexts[position]
    log.append("\(position):")
    switch Int.random(in: 0..<23, using: &random) {
    case 0..<4: insert(in: context)
    case 4..<10: try change(in: context)
    case 10..<12: try delete(Employee.self, in: context)
    case 12: try delete(Company.self, in: context)
    case 13..<16: try commit(context)
    case 16:
      note("rollback")
      context.rollback()
    case 17:
      guard let employee = try pick(Employee.self, in: context) else { return }
      note("refresh \(name(of: employee))")
      context.refresh(employee, mergeChanges: Bool.random(using: &random))
    case 18: interrupt(context)
    case 19...20:
      note("undo")
      context.undo()
    case 21:
      note("redo")
      context.redo()
    default:
      guard Int.random(in: 0..<4, using: &random) == 0 else { return }
      note("reset")
      context.reset()
    }
  }

  /// Appends to the log entry of the current step.
  private mutating func note(_ text: String) { log[log.count - 1] += " \(text)" }

  private func name(of object: ManagedObject?) -> String {
    object.map { "\($0.objectID.entityName)\($0.objectID.number)" } ?? "nil"
  }

  private mutating func delete<T: ManagedObject>(
    _ type: T.Type, in context: ManagedObjectContext
  ) throws {
    guard let object = try pick(type, in: context) else { return }
    note("delete \(name(of: object))")
    context.delete(object)
  }

  private mutating func insert(in context: ManagedObjectContext) {
    let object: ManagedObject
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      let company = context.insert(Company.self)
      company.name = name()
      object = company
    case 1:
      let skill = context.insert(Skill.self)
      skill.name = ["a", "b"].randomElement(using: &random)
      object = skill
    case 2:
      let manager = context.insert(Manager.self)
      manager.age = age()
      object = manager
    default:
      let employee = context.insert(Employee.self)
      employee.name = name()
      employee.age = age()
      object = employee
    }
    note("insert \(name(of: object))")
  }

  private mutating func change(in context: ManagedObjectContext) throws {
    if Int.random(in: 0..<8, using: &random) == 0 {
      let company = try pick(Company.self, in: context)
      note("name of \(name(of: company))")
      company?.name = name()
      return
    }
    if Int.random(in: 0..<10, using: &random) == 0 {
      let skill = try pick(Skill.self, in: context)
      note("name of \(name(of: skill))")
      skill?.name = ["a", "b"].randomElement(using: &random)
      return
    }
    guard let employee = try pick(Employee.self, in: context) else { return }
    note("change \(name(of: employee))")
    switch Int.random(in: 0..<9, using: &random) {
    case 0, 1: employee.age = age()
    case 2: employee.name = name()
    case 3: employee.salary = [nil, 1, 2, 3].randomElement(using: &random) ?? nil
    case 4, 5:
      employee.company = try pick(Company.self, in: context)
      note("company \(name(of: employee.company))")
    case 6:
      guard let skill = try pick(Skill.self, in: context) else { return }
      note("skills \(name(of: skill))")
      if employee.skills.contains(skill) {
        employee.skills.remove(skill)
      } else {
        employee.skills.insert(skill)
      }
    case 7:
      employee.manager = try pick(Manager.self, in: context)
      note("manager \(name(of: employee.manager))")
    default: employee.nick = name()
    }
  }

  /// Commits. If the commit is rejected, rolls everything back.
  private mutating func commit(_ context: ManagedObjectContext) throws {
    note("commit")
    do throws(ArborError) { try context.commit() } catch {
      note("fails: \(error.code)")
      let codes: [ArborError.Code] = [.validation, .conflict, .notUnique]
      guard codes.contains(error.code) else { throw error }
      context.rollback()
    }
  }

  /// Makes changes that are reverted as a whole.
  private mutating func interrupt(_ context: ManagedObjectContext) {
    note("interrupted:")
    var copy = self
    try? context.withSavepoint {
      for _ in 0..<3 {
        copy.insert(in: context)
        try copy.change(in: context)
      }
      try copy.delete(Employee.self, in: context)
      throw Interruption()
    }
    (random, log) = (copy.random, copy.log)
  }

  private mutating func pick<T: ManagedObject>(
    _ type: T.Type, in context: ManagedObjectContext
  ) throws -> T? {
    try context.fetch(type).randomElement(using: &random)
  }

  private mutating func name() -> String {
    ["a", "A", "b", "B", "c", "ab"].randomElement(using: &random) ?? ""
  }

  private mutating func age() -> Int { Int.random(in: 18...32, using: &random) }
}
