import ArborLocks
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Operations that end soon after their task is cancelled or their deadline passes, without side
/// effects.
@Suite("Cancellation and deadlines of operations", .timeLimit(.minutes(40)))
struct CancellationTests {
  /// An operation that may take long.
  enum Operation: String, CaseIterable, Sendable {
    case fetch, fetchOne, count, exists, ids, rows, groups, aggregate, cursor, page
    case explain, matches, commit

    func run(_ request: FetchRequest<Employee>, in context: ManagedObjectContext) throws {
      var request = request
      switch self {
      case .fetch: _ = try context.fetch(request)
      case .fetchOne: _ = try context.fetchOne(request)
      case .count: _ = try context.count(request)
      case .exists: _ = try context.exists(request)
      case .ids: _ = try context.fetchIDs(request)
      case .rows:
        request.propertiesToFetch = ["name"]
        _ = try context.fetchRows(request)
      case .groups:
        request.propertiesToFetch = ["age", "@count"]
        request.propertiesToGroupBy = ["age"]
        _ = try context.fetchRows(request)
      case .aggregate: _ = try context.aggregate(request, [.sum("salary"), .median("age")])
      case .cursor: while try context.cursor(for: request).next() != nil {}
      case .page: _ = try context.fetchPage(request)
      case .explain: _ = try context.explain(request, analyze: true)
      case .matches:
        let object = try #require(context.registeredObjects.first { $0 is Employee })
        let predicate = request.predicate ?? .true
        _ = try predicate.matches(object)
      case .commit:
        context.insert(Employee.self)
        try context.commit()
      }
    }
  }

  /// A predicate with sixteen nested collections, each of which reads the outermost member.
  /// Evaluating it would take practically forever.
  private static let endless: FetchPredicate = {
    var text = "$x0.age < 0"
    for depth in (1..<16).reversed() {
      text = "SUBQUERY($x\(depth - 1).friends, $x\(depth), \(text)).@count > $x0.age"
    }
    return FetchPredicate(stringLiteral: "SUBQUERY(friends, $x0, \(text)).@count > 0")
  }()

  private func withFriends<R>(
    _ count: Int = 30, _ body: (PersistentStore) async throws -> R
  ) async throws -> R {
    let store = try PersistentStore(for: Office.classes, at: .inMemory)
    defer { store.close() }
    let context = store.makeContext()
    let employees = (0..<count).map { index in
      let employee = context.insert(Employee.self)
      employee.age = -1 - index
      return employee
    }
    for employee in employees { employee.friends = Set(employees) }
    try context.commit()
    let result = try await body(store)
    try store.check()
    return result
  }

  @Test("Draining a store cancels bodies that still run after the given time")
  func aStoreThatIsDrainedEndsWhatItRuns() async throws {
    try await withFriends { store in
      let hasBegun = Flag()
      let work = _Concurrency.Task {
        try await store.perform { context in
          hasBegun.raise()
          return try context.count(FetchRequest<Employee>(predicate: Self.endless))
        }
      }
      while !hasBegun.isRaised { try await _Concurrency.Task.sleep(for: .milliseconds(1)) }
      #expect(await store.drain(within: .milliseconds(5)) == 1)
      let error = await #expect(throws: ArborError.self) { try await work.value }
      #expect(error?.code == .cancelled)
    }
  }

  @Test(
    "Cancelling a task ends an operation that runs in it",
    arguments: Operation.allCases.filter { $0 != .commit })
  func aCancelledTaskEndsWhatItRuns(_ operation: Operation) async throws {
    try await withFriends { store in
      let hasBegun = Flag()
      let work = _Concurrency.Task {
        try await store.perform { context in
          let employees = try context.fetch(Employee.self)
          hasBegun.raise()
          try operation.run(FetchRequest(predicate: Self.endless), in: context)
          return employees.count
        }
      }
      while !hasBegun.isRaised {
        try await _Concurrency.Task.sleep(for: .milliseconds(1))
      }
      try await _Concurrency.Task.sleep(for: .milliseconds(5))
      // Without cancellation, this would exceed the suite's time limit many times over. The delay
      // is measured by `arborbench cancel`.
      work.cancel()
      await #expect { try await work.value } throws: { ($0 as? ArborError)?.code == .cancelled }
    }
  }

  @Test("No operation starts in a cancelled task", arguments: Operation.allCases)
  func operationsOfACancelledTaskDoNotBegin(_ operation: Operation) async throws {
    try await withFriends(2) { store in
      let codes = try await _Concurrency.Task {
        let context = store.makeContext()
        let employees = try context.fetch(Employee.self)
        defer { withExtendedLifetime(employees) {} }
        withUnsafeCurrentTask { $0?.cancel() }
        do {
          try operation.run(FetchRequest(predicate: "age < 0"), in: context)
          return "none"
        } catch let error as ArborError {
          return error.code.rawValue
        }
      }.value
      #expect(codes == "cancelled")
      #expect(try store.makeContext().count(Employee.self) == 2)
    }
  }

  @Test(
    "An operation ends at the deadline of its context, and no other one starts",
    arguments: Operation.allCases.filter { $0 != .commit })
  func deadlinesEndOperations(_ operation: Operation) async throws {
    try await withFriends { store in
      let context = store.makeContext()
      let employees = try context.fetch(Employee.self)
      context.deadline = .now + .milliseconds(5)
      let endless = FetchRequest<Employee>(predicate: Self.endless)
      let late = try failure { try operation.run(endless, in: context) }
      #expect(late.code == .deadlineExceeded)
      // No new operation starts.
      let later = try failure { try operation.run(FetchRequest(), in: context) }
      #expect(later.code == .deadlineExceeded)
      context.deadline = nil
      #expect(try context.count(Employee.self) == employees.count)
    }
  }

  @Test("Requests and predicates have time limits")
  func requestsAndPredicatesHaveTimeLimits() async throws {
    try await withFriends { store in try timeLimitsHold(in: store) }
  }

  private func timeLimitsHold(in store: PersistentStore) throws {
    let context = store.makeContext()
    var request = FetchRequest<Employee>(predicate: Self.endless)
    request.timeLimit = .milliseconds(5)
    #expect(try failure { _ = try context.count(request) }.code == .deadlineExceeded)
    request = FetchRequest()
    request.timeLimit = .seconds(100)
    #expect(try context.count(request) == 30)
    let limits = PredicateLimits(timeLimit: .milliseconds(5))
    let late = try FetchPredicate(format: "\(Self.endless)", limits: limits)
    for predicate in [late, late || "age > 3", !late, late.substituting(["a": 3])] {
      let code = try failure { _ = try context.count(Employee.self, matching: predicate) }.code
      #expect(code == .deadlineExceeded)
    }
    #expect(try context.count(Employee.self) == 30)
  }

  @Test("A predicate may visit a limited number of elements")
  func predicatesHaveABudgetOfElements() async throws {
    try await withFriends { store in
      let context = store.makeContext()
      func count(_ text: String, _ most: Int?) throws -> Int {
        let limits = PredicateLimits(maximumElements: most)
        return try context.count(
          Employee.self, matching: FetchPredicate(format: text, limits: limits))
      }
      let one = "SUBQUERY(friends, $x, $x.age < 0).@count == 30"
      #expect(try count(one, 900) == 30)
      let error = try failure { _ = try count(one, 899) }
      #expect(error.code == .limitExceeded && error.message.contains("its limit of 899."))
      let list = "SUBQUERY({1, 2, 3}, $x, $x > age).@count == 3"
      #expect(try count(list, 90) == 30)
      #expect(try failure { _ = try count(list, 89) }.code == .limitExceeded)
      #expect(try count(one, nil) == 30)
      var limits = PredicateLimits.untrusted
      limits.timeLimit = nil
      let untrusted = try FetchPredicate(format: "\(Self.endless)", limits: limits)
      let stopped = try failure { _ = try context.count(Employee.self, matching: untrusted) }
      #expect(stopped.code == .limitExceeded)
    }
  }

  private func withLetters<R>(
    _ count: Int = 40, _ body: (ManagedObjectContext) throws -> R
  ) throws -> R {
    let store = try PersistentStore(for: Office.classes, at: .inMemory)
    defer { store.close() }
    let context = store.makeContext()
    let employee = context.insert(Employee.self)
    employee.name = String(repeating: "a", count: count)
    try context.commit()
    let result = try withExtendedLifetime(employee) { try body(context) }
    try store.check()
    return result
  }

  /// Patterns that backtrack for about 2^40 steps, each in a form with its own code path.
  static let backtracking = [
    "name MATCHES '(a+)+b'", "name MATCHES[cd] '(a+)+b'", "name + 'a' MATCHES '(a+)+b'",
    "'\(String(repeating: "a", count: 40))' MATCHES '(a+)+b'",
    "SUBQUERY({name}, $x, $x MATCHES '(a+)+b').@count == 1",
    "TERNARY(name MATCHES '(a+)+b', 1, 0) == 1", "NOT (age != nil AND name MATCHES '(a+)+b')",
    "name MATCHES TERNARY(age != nil, '(a+)+b', '')",
  ]

  @Test("A regular expression ends at a deadline", arguments: backtracking)
  func deadlinesEndRegularExpressions(_ text: String) throws {
    try withLetters { context in
      let predicate = try FetchPredicate(format: text)
      context.deadline = .now + .milliseconds(5)
      let late = try failure { _ = try context.count(Employee.self, matching: predicate) }
      #expect(late.code == .deadlineExceeded)
      context.deadline = nil
      let employee = try #require(try context.fetch(Employee.self).first)
      context.deadline = .now + .milliseconds(5)
      #expect(try failure { _ = try predicate.matches(employee) }.code == .deadlineExceeded)
      context.deadline = nil
    }
  }

  @Test("A regular expression ends with its task")
  func cancellationEndsRegularExpressions() async throws {
    let work = _Concurrency.Task {
      try withLetters { context in
        // Each count takes long but terminates on its own.
        while true {
          do {
            _ = try context.count(Employee.self, matching: "name MATCHES '(a+)+b'")
          } catch let error as ArborError where error.code == .limitExceeded {
            continue
          }
        }
      }
    }
    try await _Concurrency.Task.sleep(for: .milliseconds(20))
    work.cancel()
    let error = await #expect(throws: ArborError.self) { try await work.value }
    #expect(error?.code == .cancelled)
  }

  @Test("A regular expression ends after 20 million steps or with 8 MB of memory")
  func regularExpressionsAreBounded() throws {
    try withLetters { context in
      let error = try failure {
        _ = try context.count(Employee.self, matching: "name MATCHES '(a+)+b'")
      }
      #expect(error.code == .limitExceeded && error.message.contains("20 million steps"))
      #expect(try context.count(Employee.self, matching: "name MATCHES 'a+'") == 1)
    }
    try withLetters(3_000_000) { context in
      let error = try failure {
        _ = try context.count(Employee.self, matching: "name MATCHES '(a|aa)+b'")
      }
      #expect(error.code == .limitExceeded)
      #expect(try context.count(Employee.self, matching: "name MATCHES '.+'") == 1)
    }
  }

  @Test("The regular expression of an attribute ends with the commit that checks it")
  func regularExpressionsOfModelsAreBounded() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Note") { AttributeDescription("text", .string, .pattern("(a+)+b")) }
    }
    let store = try PersistentStore(model: model, at: .inMemory)
    let context = store.makeContext()
    let note = try context.insert("Note")
    note["text"] = String(repeating: "a", count: 40)
    context.deadline = .now + .milliseconds(5)
    #expect(try failure { try context.commit() }.code == .deadlineExceeded)
    context.deadline = nil
    #expect(try failure { try context.commit() }.code == .validation)
    note["text"] = "aab"
    try context.commit()
    try store.check()
    store.close()
  }

  @Test("A scan stops soon after its task is cancelled")
  func aScanEndsAfterFewRows() async throws {
    let store = try PersistentStore(for: Office.classes, at: .inMemory)
    let context = store.makeContext()
    for _ in 0..<10_000 { context.insert(Employee.self) }
    try context.commit()
    let rows = Lock(0)
    let name = "cancelAtThousand\(UInt32.random(in: 0...(.max)))"
    FetchPredicate.registerFunction(name) { _ in
      let count = rows.withLock { rows in
        rows += 1
        return rows
      }
      if count == 1000 { withUnsafeCurrentTask { $0?.cancel() } }
      return .boolean(false)
    }
    let work = _Concurrency.Task {
      let predicate = try FetchPredicate(format: "FUNCTION(SELF, '\(name)') == TRUE")
      return try store.makeContext().count(Employee.self, matching: predicate)
    }
    await #expect { try await work.value } throws: { ($0 as? ArborError)?.code == .cancelled }
    #expect(rows.withLock { $0 } < 4000)
    try store.check()
    store.close()
  }

  @Test("A cancelled commit changes nothing")
  func aCancelledCommitChangesNothing() async throws {
    let store = try PersistentStore(for: Office.classes, at: .inMemory)
    try await _Concurrency.Task { () throws in
      let context = store.makeContext()
      context.insert(Employee.self).name = "Ada"
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(try failure { try context.commit() }.code == .cancelled)
      #expect(context.hasChanges && context.insertedObjects.count == 1)
      context.rollback()
      #expect(!context.hasChanges)
    }.value
    let performed = _Concurrency.Task {
      try await store.perform { context in
        context.insert(Employee.self)
        withUnsafeCurrentTask { $0?.cancel() }
      }
    }
    await #expect { try await performed.value } throws: { ($0 as? ArborError)?.code == .cancelled }
    #expect(try store.makeContext().count(Employee.self) == 0)
    try store.check()
    store.close()
  }

  @Test("A cancelled task stops waiting for its turn")
  func aCancelledTaskDoesNotWaitForItsTurn() async throws {
    let store = try PersistentStore(for: Office.classes, at: .inMemory)
    let (mayEnd, hasBegun) = (Flag(), Flag())
    let first = _Concurrency.Task {
      try await store.performBackground { _ in
        hasBegun.raise()
        while !mayEnd.isRaised { usleep(1000) }
      }
    }
    while !hasBegun.isRaised { await _Concurrency.Task.yield() }
    let second = _Concurrency.Task {
      try await store.performBackground { context in _ = context.insert(Employee.self) }
    }
    try await _Concurrency.Task.sleep(for: .milliseconds(2))
    second.cancel()
    await #expect { try await second.value } throws: { ($0 as? ArborError)?.code == .cancelled }
    mayEnd.raise()
    try await first.value
    let count = try await store.performBackground { try $0.count(Employee.self) }
    #expect(count == 0)
    store.close()
  }

  @Test("Checks and index builds end when their task is cancelled")
  func checksAndIndexBuildsEnd() async throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.url.appending(path: "a.arbor"))
    func model(isIndexed: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Note") {
          AttributeDescription("text", .string, options: isIndexed ? [.indexed] : [])
        }
      }
    }
    let store = try PersistentStore(model: model(isIndexed: false), at: location)
    let context = store.makeContext()
    for index in 0..<2000 { try context.insert("Note")["text"] = "\(index)" }
    try context.commit()
    try await _Concurrency.Task { () throws in
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(try failure { try store.check() }.code == .cancelled)
    }.value
    store.close()
    let opening = _Concurrency.Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try PersistentStore(model: model(isIndexed: true), at: location)
    }
    await #expect { try await opening.value } throws: { ($0 as? ArborError)?.code == .cancelled }
    let verifying = _Concurrency.Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try PersistentStore(at: location, options: StoreOptions(verification: .full))
    }
    await #expect { try await verifying.value } throws: { ($0 as? ArborError)?.code == .cancelled }
    let again = try PersistentStore(model: model(isIndexed: true), at: location)
    #expect(try again.makeContext().count("Note", matching: "text == '7'") == 1)
    try again.check()
    again.close()
  }
}

/// A flag that one task raises for another.
private final class Flag: Sendable {
  private let value = Atomic(false)

  var isRaised: Bool { value.load(ordering: .acquiring) }

  func raise() { value.store(true, ordering: .releasing) }
}
