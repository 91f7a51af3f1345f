import ArborLocks
import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

@Suite("Untrusted predicates", .timeLimit(.minutes(40))) struct UntrustedPredicateTests {
  private func withFriends<R>(
    _ count: Int = 30, _ body: (ManagedObjectContext) throws -> R
  ) throws -> R {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let company = context.insert(Company.self)
      company.name = "Foo"
      let employees = (0..<count).map { index in
        let employee = context.insert(Employee.self)
        employee.age = index
        employee.company = company
        return employee
      }
      for employee in employees { employee.friends = Set(employees) }
      try context.commit()
      return try body(context)
    }
  }

  /// The limits for untrusted predicates without a time limit, because tests may run on a busy
  /// machine.
  private static let untrusted: PredicateLimits = {
    var limits = PredicateLimits.untrusted
    limits.timeLimit = nil
    return limits
  }()

  private func predicate(
    _ text: String, _ limits: PredicateLimits = untrusted
  ) throws -> FetchPredicate {
    try FetchPredicate(format: text, limits: limits)
  }

  // MARK: Long paths

  @Test("Existence tests on deeply nested collections are fast", arguments: [10, 15])
  func nestedCollectionsHaveACost(hops: Int) throws {
    try withFriends { context in
      let path = Array(repeating: "friends", count: hops).joined(separator: ".")
      let any = try predicate("ANY \(path).age == 1")
      #expect(try context.count(Employee.self, matching: any) == 30)
      let none = try predicate("ANY \(path).age == 31")
      #expect(try context.count(Employee.self, matching: none) == 0)
    }
  }

  @Test("A path that exceeds the limit is rejected")
  func longPathsAreRefused() throws {
    let text = "\(String(repeating: "manager.", count: 16))age == 1"
    let error = try failure { _ = try predicate(text) }
    #expect(error.code == .invalidPredicate)
    #expect(
      error.message
        == "The key path has 17 names, which exceeds the limit of 16. Follow fewer relationships.")
    #expect(error.location?.column == 1)
  }

  /// Runs a body on a thread with a small stack.
  private func onThread(stack: Int, _ body: @escaping @Sendable () throws -> Void) throws {
    let outcome = Lock<Result<Void, any Error>>(.success(()))
    let isDone = DispatchSemaphore(value: 0)
    let thread = Thread {
      let result = Result { try body() }
      outcome.withLock { $0 = result }
      isDone.signal()
    }
    thread.stackSize = stack
    thread.start()
    isDone.wait()
    try outcome.withLock { $0 }.get()
  }

  @Test("A long path is rejected and doesn't overflow the stack", arguments: [64, 65, 5000])
  func noPathOverflowsTheStack(names: Int) throws {
    try onThread(stack: 512 << 10) {
      try withFriends(1) { context in
        let path = Array(repeating: "manager", count: names - 1).joined(separator: ".")
        guard names > 64 else {
          _ = try context.count(Employee.self, matching: predicate("\(path).age == 1", .standard))
          return
        }
        let error = try failure { _ = try predicate("\(path).age == 1", .standard) }
        #expect(
          error.message.contains("which exceeds the limit of 64. Follow fewer relationships."))
        // A path inserted by `%K` is checked when the predicate is bound.
        let late = try FetchPredicate(format: "%K == 1", "\(path).age")
        let other = try failure { _ = try context.count(Employee.self, matching: late) }
        #expect(
          other.message.contains("which exceeds the limit of 64. Follow fewer relationships."))
      }
    }
  }

  @Test("The number of nested collections is limited")
  func nestedCollectionsHaveALimit() throws {
    func nested(_ count: Int) -> [(text: String, stack: Int)] {
      let path = Array(repeating: "friends", count: count).joined(separator: ".")
      let inner = (1..<count).reduce("$x.age == 1") { text, _ in
        "SUBQUERY($x.friends, $x, \(text)).@count > 0"
      }
      return [
        ("ANY \(path).age == 1", 512 << 10), ("\(path).age.@max > 0", 512 << 10),
        ("SUBQUERY(friends, $x, \(inner)).@count > 0", 1 << 20),
      ]
    }
    let limits = PredicateLimits(maximumDepth: 200)
    for (text, stack) in nested(16) {
      try onThread(stack: stack) {
        try withFriends(1) { context in
          _ = try context.count(Employee.self, matching: predicate(text, limits))
        }
      }
    }
    try withFriends(1) { context in
      for (text, _) in nested(17) {
        let error = try failure {
          _ = try context.count(Employee.self, matching: predicate(text, limits))
        }
        #expect(
          error.message
            == "The predicate's collections are nested 17 levels deep, which exceeds the limit of "
            + "16. Follow fewer to-many relationships.")
      }
    }
  }

  @Test("The elements of lists that are joined along a path are counted")
  func joinedListsAreCounted() throws {
    try withFriends { context in
      let path = Array(repeating: "friends", count: 10).joined(separator: ".")
      for text in ["\(path).age.@max > 3", "\(path).@count > 3", "company IN \(path).company"] {
        let error = try failure {
          _ = try context.count(Employee.self, matching: predicate(text))
        }
        #expect(
          error.message
            == "The predicate evaluates more collection elements than its limit of 1000000. "
            + "Simplify it, or raise maximumElements in its limits.")
      }
    }
  }

  private static let tooLarge =
    "The predicate's computed values exceed its limit of 16777216, counting bytes and collection "
    + "elements. Simplify it, or raise maximumValueSize in its limits."

  @Test("The size of joined lists is limited", .enabled(if: TestLength.isLong))
  func noListIsLongerThanMemory() throws {
    try withFriends(20) { context in
      let path = Array(repeating: "friends", count: 16).joined(separator: ".")
      let error = try failure {
        _ = try context.count(Employee.self, matching: predicate("\(path).@count > 3", .standard))
      }
      #expect(error.code == .limitExceeded)
      #expect(error.message == Self.tooLarge)
    }
  }

  // MARK: Computed values

  private static func list(_ element: String, _ count: Int) -> String {
    "{" + Array(repeating: element, count: count).joined(separator: ",") + "}"
  }

  /// Returns expressions that multiply a constant or stored value at each level.
  private static func growing() -> [String] {
    let blanks = list("\"\"", 11)
    func joined(_ seed: String) -> String {
      (0..<10).reduce(seed) { text, _ in "join(\(blanks), \(text))" }
    }
    func doubled(
      _ seed: String, _ twice: (String) -> String, _ test: (String) -> String
    ) -> String {
      let inner = (1..<30).reversed().reduce(test("$v30")) { text, level in
        "SUBQUERY({\(twice("$v\(level)"))}, $v\(level + 1), \(text)).@count > 0"
      }
      return "SUBQUERY({\(seed)}, $v1, \(inner)).@count > 0"
    }
    return [
      joined("\"xxxxxxxx\"") + " == name", joined("concat(name, \"xxxxxxxx\")") + " == name",
      "length(\(joined("concat(name, \"xxxxxxxx\")"))) == 3",
      doubled("concat(name, \"ab\")", { "\($0) + \($0)" }, { "\($0) == name" }),
      doubled("{age, age}", { "{\($0), \($0)}" }, { "\($0) == {1}" }),
    ]
  }

  @Test("The size of computed values is limited", arguments: growing())
  func computedValuesAreBounded(text: String) throws {
    try withFriends(1) { context in
      for var limits in [Self.untrusted, .standard] {
        limits.maximumDepth = 200
        limits.maximumWork = nil
        // Doubling would need many steps to reach the usual limit.
        let isDoubling = text.hasPrefix("SUBQUERY")
        if isDoubling { limits.maximumValueSize = 1 << 18 }
        let error = try failure {
          _ = try context.count(Employee.self, matching: predicate(text, limits))
        }
        #expect(error.code == .limitExceeded)
        #expect(
          error.message
            == (isDoubling
              ? Self.tooLarge.replacing("16777216", with: "262144") : Self.tooLarge))
        let employee = try #require(context.fetch(Employee.self).first)
        let other = try failure { _ = try predicate(text, limits).matches(employee) }
        #expect(other.code == .limitExceeded)
      }
    }
  }

  @Test("The limit of computed values can be set")
  func theBoundOfComputedValuesIsChosen() throws {
    try withFriends(1) { context in
      func count(_ text: String, _ size: Int) throws -> Int {
        try context.count(
          Employee.self, matching: predicate(text, PredicateLimits(maximumValueSize: size)))
      }
      let seed = "concat(name, \"\(String(repeating: "x", count: 1000))\")"
      let text = "length(join(\(Self.list("name", 21)), \(seed))) == 20000"
      func refusal(_ text: String, _ size: Int) throws -> ArborError {
        try failure { _ = try count(text, size) }
      }
      let large = (0..<3).reduce(seed) { text, _ in "join(\(Self.list("name", 31)), \(text))" }
      let counts = try [count(text, 21_100), count("length(\(large)) == 27000000", 64 << 20)]
      #expect(counts == [1, 1])
      let codes = try [refusal(text, 19_999), refusal("length(\(large)) > 3", 16 << 20)].map(\.code)
      #expect(codes == [.limitExceeded, .limitExceeded])
    }
  }

  @Test(
    "A deadline applies to the elements of literal lists",
    arguments: [
      "SUBQUERY(\(list("1", 2000)), $a, $a IN \(list("2", 2000))).@count > 0",
      "SUBQUERY(\(list("1", 2000)), $a, $a + 0 IN \(list("age", 2000))).@count > 0",
      "SUBQUERY(\(list("1", 2000)), $a, median(\(list("age", 2000))) > 5).@count > 0",
      "SUBQUERY(\(list("1", 2000)), $a, \(list("2", 2000)) CONTAINS $a).@count > 0",
      "SUBQUERY(\(list("1", 2000)), $a, concat(name, \(list("name", 2000).dropFirst().dropLast())) "
        + "== \"x\").@count > 0",
      "SUBQUERY(\(list("\"a\"", 2000)), $a, $a IN[l] \(list("\"b\"", 2000))).@count > 0",
    ])
  func elementsOfLiteralListsAreCounted(text: String) throws {
    try withFriends(1) { context in
      let error = try failure { _ = try context.count(Employee.self, matching: predicate(text)) }
      #expect(error.code == .limitExceeded)
      #expect(
        error.message
          == "The predicate evaluates more collection elements than its limit of 1000000. Simplify "
          + "it, or raise maximumElements in its limits.")
      // The program's own predicates are limited only by a deadline.
      context.deadline = .now + .milliseconds(50)
      let clock = ContinuousClock()
      let took = try clock.measure {
        let late = try failure {
          _ = try context.count(Employee.self, matching: predicate(text, .standard))
        }
        #expect(late.code == .deadlineExceeded)
      }
      #expect(took < .seconds(3))
      context.deadline = nil
    }
  }

  @Test(
    "Text searches take linear time",
    arguments: [
      "\"\(String(repeating: "a", count: 30_000))\" CONTAINS[l] name + \""
        + "\(String(repeating: "a", count: 15_000))b\"",
      "\"\(String(repeating: "a ", count: 15_000))\" CONTAINS[w] name + \""
        + "\(String(repeating: "a ", count: 7_000))b\"",
      "\"\((0..<5_000).map { "x\($0)" }.joined(separator: " "))\" TOKENMATCHES name + \""
        + "\((0..<4_000).map { "x\($0)" }.joined(separator: " ")) y\"",
      "\"\(String(repeating: "a", count: 30_000))\" LIKE name + \""
        + "*\(String(repeating: "a", count: 1_000))?b*\"",
    ])
  func searchesAreLinear(text: String) throws {
    try withFriends(1) { context in
      let clock = ContinuousClock()
      let took = try clock.measure {
        let found = try context.count(Employee.self, matching: predicate(text))
        #expect(found == 0)
      }
      #expect(took < .seconds(3))
    }
  }

  @Test("A long LIKE pattern with question marks is rejected")
  func longPatternsWithQuestionMarksAreRefused() throws {
    try withFriends(1) { context in
      let error = try failure {
        let text = "name LIKE \"*\(String(repeating: "a?", count: 600))*\""
        _ = try context.count(Employee.self, matching: predicate(text))
      }
      #expect(error.code == .invalidPredicate)
      #expect(
        error.message
          == "A LIKE pattern has 1200 characters, including a question mark, between two "
          + "asterisks, which exceeds the limit of 1024. Use fewer characters or more asterisks.")
      let many = "name LIKE \"\(String(repeating: "a?*", count: 600))\""
      #expect(try context.count(Employee.self, matching: predicate(many)) == 0)
    }
  }

  @Test(
    "Nested predicates are compiled in linear time",
    arguments: [
      ("SUBQUERY(friends, $x, *).@count > age", 15),
      ("SUBQUERY(friends, $x, *).@count + age > age", 15),
      ("age < SUBQUERY(friends, $x, *).@count", 15),
      ("SUBQUERY(friends, $x, *)[age].age == age", 15),
      ("TERNARY(*, age, 2) < SUBQUERY(friends, $x, age < 1).@count", 40),
    ])
  func nestedPredicatesAreCompiledOnce(level: String, count: Int) throws {
    // Each level is true of a single employee of age 0 who is their own friend.
    try withFriends(1) { context in
      var text = "age < 1"
      for _ in 0..<count { text = level.replacing("*", with: text) }
      let limits = PredicateLimits(maximumDepth: 200)
      let found = try context.count(Employee.self, matching: predicate(text, limits))
      #expect(found == 1)
    }
  }

  @Test("Long disjunctions are compiled without recursion")
  func conditionsAreGatheredInALoop() throws {
    try withFriends(3) { context in
      var either = FetchPredicate.false
      for age in 0..<5000 { either = either || "age == \(age)" }
      let counts = try [either, either && either].map {
        try context.count(Employee.self, matching: $0)
      }
      #expect(counts == [3, 3])
    }
  }

  // MARK: Names

  @Test("A predicate with an allow list can use only the allowed properties")
  func onlyAllowedPropertiesMayBeNamed() throws {
    let limits = PredicateLimits.untrusted(allowing: [
      "Person": ["name"], "Employee": ["age", "company", "friends"], "Company": ["name"],
    ])
    try withFriends(3) { context in
      func count(_ text: String) throws -> Int {
        try context.count(Employee.self, matching: predicate(text, limits))
      }
      #expect(try count("age < 2 AND company.name == 'Foo' AND name == ''") == 2)
      #expect(try count("SUBQUERY(friends, $x, $x.company.name == 'Foo').@count == 3") == 3)
      let allowed = "doesn't exist or isn't allowed. Use age, company, friends, name."
      for name in ["salary", "agee", "secret", "objectID", "entity"] {
        let texts = [
          "\(name) == 1", "ANY friends.\(name) == 1",
          "SUBQUERY(friends, $x, $x.\(name) == 1).@count > 0",
          "company.employees.\(name).@max == 1",
        ]
        for text in texts {
          let error = try failure { _ = try count(text) }
          let (what, entity, rest) =
            text.hasPrefix("company")
            ? ("employees", "Company", "doesn't exist or isn't allowed. Use name.")
            : (name, "Employee", allowed)
          #expect(error.code == .invalidPredicate)
          #expect(error.message == "The property \"\(what)\" of \(entity) \(rest)")
        }
      }
      let path = try FetchPredicate(format: "%K == 1", limits: limits, arguments: ["salary"])
      #expect(throws: ArborError.self) { try context.count(Employee.self, matching: path) }
      // The list doesn't apply to the program's own conditions.
      let own: FetchPredicate = "salary == nil"
      let joined = try own && predicate("age < 2", limits)
      #expect(try context.count(Employee.self, matching: joined) == 2)
      let other = try own && predicate("salary == nil", limits)
      #expect(throws: ArborError.self) { try context.count(Employee.self, matching: other) }
    }
  }

  @Test("An allow list can be built from key paths")
  func listsAreMadeOfKeyPaths() throws {
    var allowed = PredicateAllowList()
    try allowed.allow(\Employee.age)
    try allowed.allow(\Company.name)
    allowed.allow("name", of: "Person")
    #expect(allowed == ["Employee": ["age"], "Company": ["name"], "Person": ["name"]])
    let error = try failure { try allowed.allow(\Employee.company?.name) }
    #expect(error.code == .invalidArgument && error.keyPath == "company.name")
  }

  // MARK: Related objects

  @Test(
    "An expression that depends on a related object is evaluated once per related object",
    arguments: [
      "SUBQUERY(company.employees, $x, $x.age > 3).@count > 3",
      "ANY company.employees.age == 7",
      "company.employees.@avg.age > 3",
      "age < company.employees.@max.age",
      "age < SUBQUERY(company.employees, $x, $x.age > 3).@count",
    ])
  func relatedCollectionsAreEvaluatedOnce(text: String) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let company = context.insert(Company.self)
      for age in 0..<200 {
        let employee = context.insert(Employee.self)
        employee.age = age
        employee.company = company
      }
      try context.commit()
      let limits = PredicateLimits(maximumElements: 400)
      let found = try context.count(Employee.self, matching: predicate(text, limits))
      #expect(found >= 196)
    }
  }
}
