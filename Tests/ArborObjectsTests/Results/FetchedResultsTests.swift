import ArborLocks
import ArborModel
import ArborObjects
import Observation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(40))) struct FetchedResultsTests {
  private func employee(
    _ name: String, _ age: Int, in context: ManagedObjectContext
  ) -> Employee {
    let employee = context.insert(Employee.self)
    employee.name = name
    employee.age = age
    return employee
  }

  @Test("Insertions, deletions, moves and updates are reported with their positions")
  func everyKindOfChangeIsToldWithItsPlaces() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let people = [("Ada", 30), ("Bob", 40), ("Cyd", 50)].map { employee($0, $1, in: context) }
      let results = try context.fetchedResults(
        FetchRequest<Employee>(predicate: "age >= \(30)", sortKeys: ["age"]))
      #expect(Array(results.objects) == people && results.count == 3 && results[1] == people[1])
      #expect(try results.update() == nil)

      people[0].age = 45
      var step = try #require(try results.update())
      #expect(step.moves.map(\.before) == [0] && step.moves.map(\.after) == [1])
      #expect(step.updates.isEmpty && step.insertions.isEmpty && step.deletions.isEmpty)
      #expect(Array(results.objects) == [people[1], people[0], people[2]])

      people[0].name = "Ada L"
      step = try #require(try results.update())
      #expect(step.updates.map(\.before) == [1] && step.updates.map(\.after) == [1])

      // Another key between the same neighbors.
      people[0].age = 46
      step = try #require(try results.update())
      #expect(step.updates.map(\.after) == [1] && step.moves.isEmpty)

      people[1].age = 20
      let dan = employee("Dan", 48, in: context)
      step = try #require(try results.update())
      #expect(step.deletions.map(\.index) == [0] && step.deletions[0].object == people[1])
      #expect(step.insertions.map(\.index) == [1] && step.insertions[0].object == dan)
      context.delete(people[2])
      step = try #require(try results.update())
      #expect(step.deletions.map(\.index) == [2] && Array(results.objects) == [people[0], dan])
      context.rollback()
      #expect(results.objects.isEmpty && people.allSatisfy { $0.context == nil })
    }
  }

  @Test("Changes that don't affect the request or its objects cause no difference")
  func whatDoesNotConcernIsNoChange() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let other = store.makeContext()
      let ada = employee("Ada", 30, in: context)
      let young = employee("Kid", 10, in: context)
      try context.commit()
      let results = try context.fetchedResults(
        FetchRequest<Employee>(predicate: "age >= \(30)", sortKeys: ["age"]))
      context.insert(Company.self)
      young.name = "Kim"
      young.age = 12
      #expect(try results.update() == nil)
      ada.age = 31
      ada.age = 30
      #expect(try results.update() == nil, "changed and changed back")
      context.rollback()
      #expect(try results.update() == nil, "what was rolled back did not concern either")
      // Another context changes an object unknown to this one, and then a known one.
      let kim = try #require(try other.fetchOne(Employee.self, matching: "age == 10"))
      kim.name = "Kit"
      try other.commit()
      _ = try context.count(Company.self)
      #expect(try results.update() == nil)
      let same = try #require(try other.fetchOne(Employee.self, matching: "age == 30"))
      same.name = "Ada L"
      try other.commit()
      _ = try context.count(Company.self)
      #expect(try results.update()?.updates.map(\.object) == [ada])
      #expect(ada.name == "Ada L")
      // The other properties of an object with pending changes follow other commits.
      ada.nick = "A"
      #expect(try results.update()?.updates.map(\.object) == [ada])
      same.age = 60
      try other.commit()
      _ = try context.count(Company.self)
      #expect(try results.update()?.updates.map(\.object) == [ada])
      #expect(ada.age == 60 && ada.nick == "A")
    }
  }

  @Test("Single changes are applied without a fetch")
  func singleChangesAreTakenInWithoutAFetch() throws {
    try ObjectStore.useOffice { store in
      let (context, other) = (store.makeContext(), store.makeContext())
      for age in 20..<60 { _ = employee("E\(age)", age, in: other) }
      try other.commit()
      func uses() throws -> Int { try store.indexes().reduce(0) { $0 + $1.uses } }
      let request = FetchRequest<Employee>(predicate: "age >= 30", sortKeys: ["age"])
      var limited = request
      limited.fetchLimit = 3
      let results = try context.fetchedResults(request)
      let first = try context.fetchedResults(limited)
      let theirs = try other.fetch(request)
      let before = try uses()
      #expect(before > 0)

      let mine = results.objects
      mine[0].age = 80
      _ = employee("New", 33, in: context)
      context.delete(mine[3])
      theirs[9].age = 31
      theirs[10].age = 10
      other.delete(theirs[11])
      _ = employee("Theirs", 34, in: other)
      try other.commit()
      try context.mergeExternalCommits()
      let step = try #require(try results.update())
      #expect(step.insertions.count == 2 && step.deletions.count == 3 && step.moves.count == 2)
      #expect(try uses() == before)
      // A limited request is fetched again, unless only other properties changed.
      #expect(try first.update() != nil)
      let after = try uses()
      #expect(after > before)
      first[1].name = "Else"
      #expect(try first.update()?.updates.map(\.before) == [1])
      #expect(try uses() == after)
      let fetched = try context.fetch(request)
      #expect(results.objects.map(\.name) == fetched.map(\.name))
      #expect(results.objects.map(\.age) == fetched.map(\.age))
    }
  }

  @Test("Changes that a relationship revealed before their commit was merged are reported")
  func whatWasReadAheadOfItsCommitIsToldOf() throws {
    try ObjectStore.useOffice { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      let theirs = there.insert(Company.self)
      let old = employee("Old", 20, in: there)
      old.company = theirs
      try there.commit()
      let company = try #require(try here.existingObject(with: theirs.objectID) as? Company)
      let results = try here.fetchedResults(
        FetchRequest<Employee>(predicate: "age >= \(30)", sortKeys: ["age"]))
      #expect(results.objects.isEmpty)
      old.age = 40
      employee("New", 50, in: there).company = theirs
      try there.commit()
      #expect(Set(company.employees.map(\.age)) == [40, 50])
      #expect(try here.count("Company") == 1)
      #expect(results.objects.map(\.age) == [40, 50])
    }
  }

  @Test("Links to a deleted object that comes back are reported", arguments: [false, true])
  func linksToWhatComesBackAreToldOf(isUndone: Bool) throws {
    try ObjectStore.useOffice { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      here.undoHistory = UndoHistory()
      let (ada, skill) = (employee("Ada", 30, in: here), here.insert(Skill.self))
      try here.commit()
      let results = try here.fetchedResults(FetchRequest<Employee>())
      here.delete(skill)
      here.undoHistory?.closeGroup()
      let same = try #require(try there.existingObject(with: ada.objectID) as? Employee)
      same.skills = [try #require(try there.existingObject(with: skill.objectID) as? Skill)]
      try there.commit()
      #expect(try here.count("Employee") == 1 && ada.skills.isEmpty)
      _ = try results.update()
      if isUndone { here.undo() } else { here.rollback() }
      #expect(ada.skills == [skill])
      #expect(try results.update()?.updates.map(\.object) == [ada])
    }
  }

  @Test("Sections appear and disappear with their objects")
  func sectionsComeAndGo() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let ages = [("Ada", 30), ("Bob", 30), ("Cyd", 50)]
      let people = ages.map { employee($0, $1, in: context) }
      let results = try context.fetchedResults(
        FetchRequest<Employee>(sortKeys: ["name"]), sectionedBy: "age")
      #expect(results.sections.map(\.value) == [.integer(30), .integer(50)])
      #expect(results.sections.map(\.indices) == [0..<2, 2..<3])
      #expect(Array(results.sections[0].objects) == [people[0], people[1]])
      people[2].age = 40
      let step = try #require(try results.update())
      #expect(step.deletedSections == [1] && step.insertedSections == [1])
      people[2].age = 30
      #expect(try results.update()?.deletedSections == [1])
      #expect(results.sections.map(\.count) == [3])
      let whole = try context.fetchedResults(FetchRequest<Employee>())
      #expect(whole.sections.map(\.count) == [3] && whole.sections[0].value == .null)
    }
  }

  @Test("Objects and sections stay as they were while the results change")
  func keptValuesStay() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let people = [("Ada", 30), ("Bob", 30), ("Cyd", 50), ("Dan", 50), ("Eve", 60)]
        .map { employee($0, $1, in: context) }
      try context.commit()
      let results = try context.fetchedResults(
        FetchRequest<Employee>(sortKeys: ["name"]), sectionedBy: "age")
      let (objects, sections) = (results.objects, results.sections)
      for person in sections[0].objects { context.delete(person) }
      #expect(Array(sections[1].objects) == [people[2], people[3]])
      #expect(sections[0].count == 2 && Array(sections[0].objects) == [people[0], people[1]])
      #expect(Array(objects) == people && Array(results.objects) == Array(people[2...]))
      #expect(results.sections.map(\.value) == [.integer(50), .integer(60)])
      // Neither loop stops, or visits objects of another section.
      for section in results.sections {
        for person in section.objects {
          #expect(section.value == .integer(Int64(person.age)))
          person.age = 99
          context.delete(person)
        }
      }
      #expect(results.objects.isEmpty && results.sections.isEmpty)
      #expect(sections.map(\.count) == [2, 2, 1])
      context.rollback()
      #expect(results.objects == objects)
    }
  }

  @Test("A renamed company moves its employees, and nothing is fetched")
  func relatedKeysAreFollowed() throws {
    try ObjectStore.useOffice { store in
      let (context, other) = (store.makeContext(), store.makeContext())
      let companies = ["a", "b", "c"].map { name in
        let company = context.insert(Company.self)
        company.name = name
        return company
      }
      for age in 20..<80 { employee("E\(age)", age, in: context).company = companies[age % 3] }
      try context.commit()
      func uses() throws -> Int { try store.indexes().reduce(0) { $0 + $1.uses } }
      let results = try context.fetchedResults(
        FetchRequest<Employee>(predicate: "company.name != 'z' AND age >= 20", sortKeys: ["age"]),
        sectionedBy: "company.name")
      let before = try uses()
      companies[0].name = "d"
      var step = try #require(try results.update())
      #expect(step.moves.count == 20 && step.updates.isEmpty && step.insertions.isEmpty)
      #expect(step.deletedSections == [0] && step.insertedSections == [2])
      #expect(results.sections.map(\.value) == ["b", "c", "d"].map { .string($0) })
      companies[1].name = "z"
      step = try #require(try results.update())
      #expect(step.deletions.count == 20 && step.moves.isEmpty && step.deletedSections == [0])
      let same = try #require(try other.existingObject(with: companies[2].objectID) as? Company)
      context.rollback()
      same.name = "A"
      try other.commit()
      try context.mergeExternalCommits()
      #expect(try results.update() != nil)
      #expect(results.sections.map(\.value) == ["A", "a", "b"].map { .string($0) })
      #expect(try uses() == before)
    }
  }

  @Test("Several followers receive the differences")
  func differencesAreFollowed() async throws {
    let store = try PersistentStore(for: Office.classes, at: .inMemory)
    defer { store.close() }
    let context = store.makeContext()
    let results = try context.fetchedResults(FetchRequest<Employee>(sortKeys: ["age"]))
    var first = results.changes.makeAsyncIterator()
    var second = results.changes.makeAsyncIterator()
    let ada = employee("Ada", 30, in: context)
    _ = employee("Bob", 20, in: context)
    #expect(await first.next(isolation: nil)?.insertions.map(\.index) == [0, 1])
    context.delete(ada)
    #expect(results.count == 1)
    #expect(await second.next(isolation: nil)?.insertions.map(\.index) == [0, 1])
    #expect(await second.next(isolation: nil)?.deletions.map(\.index) == [1])
    #expect(await first.next(isolation: nil)?.deletions.map(\.object) == [ada])
    for age in 0..<110 {
      _ = employee("N", age, in: context)
      try results.update()
    }
    let missed = try #require(await first.next(isolation: nil))
    #expect(!missed.isComplete && missed.insertions.isEmpty)
    try context.commit()
    try store.check()
    store.close()
    _ = employee("Late", 1, in: context)
    #expect(await first.next(isolation: nil) == nil, "the store is closed")
  }

  @MainActor @Test func aFollowerSleepsUntilSomethingHappens() async throws {
    let store = try PersistentStore(for: Office.classes, at: .inMemory)
    defer { store.close() }
    let context = store.makeContext()
    let results = try context.fetchedResults(FetchRequest<Employee>(sortKeys: ["age"]))
    let follower = _Concurrency.Task { @MainActor in
      var ages: [Int] = []
      for await difference in results.changes {
        ages += difference.insertions.map(\.object.age)
        if ages.count >= 3 { break }
      }
      return ages
    }
    await _Concurrency.Task.yield()
    for age in [1, 2, 3] {
      _ = employee("N", age, in: context)
      await _Concurrency.Task.yield()
    }
    #expect(await follower.value == [1, 2, 3])
    let cancelled = _Concurrency.Task { @MainActor in
      for await _ in results.changes {}
    }
    await _Concurrency.Task.yield()
    cancelled.cancel()
    await cancelled.value
    try context.commit()
    try store.check()
  }

  @Test("Observers of the results are notified")
  func objectsAreObserved() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let results = try context.fetchedResults(
        FetchRequest<Employee>(predicate: "age >= \(30)", sortKeys: ["age"]))
      let calls = Counter()
      func observe() -> Int {
        withObservationTracking {
          results.objects.count
        } onChange: {
          calls.add()
        }
      }
      #expect(observe() == 0)
      context.insert(Company.self)
      #expect(calls.count == 0)
      _ = employee("Ada", 30, in: context)
      #expect(calls.count == 1)
      _ = employee("Bob", 40, in: context)
      #expect(calls.count == 1, "told once")
      #expect(observe() == 2)
      _ = employee("Cyd", 50, in: context)
      #expect(calls.count == 2)
    }
  }

  /// Returns the code of the error that following a request throws.
  private func refusal(
    of request: FetchRequest<Employee>, sectionedBy path: String? = nil,
    in context: ManagedObjectContext
  ) -> ArborError.Code? {
    do throws(ArborError) {
      let results = try context.fetchedResults(request, sectionedBy: path)
      return results.count < 0 ? .invalidArgument : nil
    } catch {
      return error.code
    }
  }

  @Test("Invalid requests are rejected")
  func badRequestsAreRefused() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let wrong = FetchRequest<Employee>(predicate: "nme == 1")
      #expect(refusal(of: wrong, in: context) == .invalidPredicate)
      let right = FetchRequest<Employee>()
      #expect(refusal(of: right, sectionedBy: "nothing", in: context) == .unknownName)
      #expect(refusal(of: right, in: context) == nil)
      #expect(context.insert(Employee.self).isInserted)
    }
  }
}

private final class Counter: Sendable {
  private let value = Lock(0)
  var count: Int { value.withLock { $0 } }
  func add() { value.withLock { $0 += 1 } }
}
