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

/// A difference between fetched results and a fetch.
private struct Contradiction: Error, CustomStringConvertible {
  let description: String
}

/// Contexts with current results and their previous state.
private struct ResultsWorld {
  private let contexts: [ManagedObjectContext]
  private var followed: [any Followed]
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
        followed.append(try FollowedResults(request, path, in: context))
      }
      followed.append(
        try FollowedResults(
          FetchRequest<ManagedObject>(
            entity: "Company", predicate: "employees.@count > 1", sortKeys: ["name"]), nil,
          in: context))
      followed.append(
        try FollowedResults(
          FetchRequest<ManagedObject>(entity: "Person", sortKeys: ["name"]), "name", in: context))
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

private protocol Followed: AnyObject {
  /// Throws if the results differ from a fetch, or the difference doesn't lead to them.
  func compare() throws
  /// Returns new results of the same request.
  func renewed() throws -> any Followed
}

private final class FollowedResults<T: ManagedObject>: Followed, CustomStringConvertible {
  private let results: FetchedResults<T>
  private var objects: [T]
  private var sections: [PropertyValue]
  /// The values of each object.
  private var values: [ObjectID: [String: PropertyValue]] = [:]

  init(
    _ request: FetchRequest<T>, _ path: String?, in context: ManagedObjectContext
  ) throws {
    results = try context.fetchedResults(request, sectionedBy: path)
    objects = results.objects
    sections = results.sections.map(\.value)
    values = Self.values(of: objects)
  }

  func renewed() throws -> any Followed {
    try FollowedResults(results.request, results.sectionKeyPath, in: results.context)
  }

  var description: String { "\(results.request) by \(results.sectionKeyPath ?? "nothing")" }

  private static func values(of objects: [T]) -> [ObjectID: [String: PropertyValue]] {
    var values: [ObjectID: [String: PropertyValue]] = [:]
    for object in objects {
      var own: [String: PropertyValue] = [:]
      for name in object.entity.name == "Company" ? ["name"] : Self.names {
        own[name] = try? object.value(forKey: name)
      }
      values[object.objectID] = own
    }
    return values
  }

  private static var names: [String] {
    ["name", "nick", "age", "salary", "company", "manager", "skills"]
  }

  private func demand(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { throw Contradiction(description: text()) }
  }

  func compare() throws {
    var request = results.request
    if let path = results.sectionKeyPath, request.sortKeys.first?.keyPath != path {
      request.sortKeys.insert(.ascending(path), at: 0)
    }
    // The fetch merges concurrent commits.
    let fetched = try results.context.fetch(request)
    let difference = try results.update()
    let now = results.objects
    try demand(now == fetched, "results \(ids(now)) are not what is fetched: \(ids(fetched))")
    try demand(results.count == now.count, "\(results.count) is no count")
    try demand(!now.contains { $0.isDeleted || $0.context == nil }, "holds a deleted object")
    let applied = difference?.applied(to: objects) ?? objects
    try demand(applied == now, "the difference leads to \(ids(applied)), not to \(ids(now))")
    try compareSections(now, difference)
    try compareUpdates(now, difference)
    objects = now
  }

  private func compareSections(_ now: [T], _ difference: FetchedResults<T>.Difference?) throws {
    let present = results.sections
    try demand(present.flatMap { Array($0.objects) } == now, "sections are not all objects")
    guard results.sectionKeyPath != nil else { return }
    var names = sections
    for position in (difference?.deletedSections ?? []).reversed() { names.remove(at: position) }
    let new = present.map(\.value)
    for position in difference?.insertedSections ?? [] { names.insert(new[position], at: position) }
    // If the order folds case, a section is named by its first object, which may have changed.
    let folds = results.request.sortKeys.first?.options.contains(.caseInsensitive) ?? false
    try demand(folds ? names.count == new.count : names == new, "sections \(names) are not \(new)")
    try demand(folds || zip(new, new.dropFirst()).allSatisfy { $0 != $1 }, "\(new) repeat")
    for section in present where results.sectionKeyPath?.contains(".") == false {
      let values = try section.objects.map {
        try $0.value(forKeyPath: results.sectionKeyPath ?? "")
      }
      try demand(folds || Set(values) == [section.value], "a section of \(values)")
    }
    sections = new
  }

  private func compareUpdates(_ now: [T], _ difference: FetchedResults<T>.Difference?) throws {
    let before = values
    values = Self.values(of: now)
    let told = Set((difference?.updates ?? []).map(\.object.objectID))
      .union((difference?.moves ?? []).map(\.object.objectID))
    for object in now {
      guard let old = before[object.objectID], old != values[object.objectID] else { continue }
      try demand(told.contains(object.objectID), "\(object.objectID) changed, and nobody said so")
    }
    for pair in difference?.updates ?? [] {
      try demand(
        objects[pair.before].objectID == pair.object.objectID && now[pair.after] == pair.object,
        "an update from \(pair.before) to \(pair.after) is of another object")
    }
  }

  private func ids(_ objects: [T]) -> String {
    objects.map { "\($0.objectID.entityName)\($0.objectID.number)" }.joined(separator: " ")
  }
}
