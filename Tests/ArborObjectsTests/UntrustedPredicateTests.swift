import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// What predicates from outside can ask for, and what they cost.
@Suite(.timeLimit(.minutes(5))) struct UntrustedPredicateTests {
  private func withFriends<R>(
    _ count: Int = 50, _ body: (ManagedObjectContext) throws -> R
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

  private func predicate(
    _ text: String, _ limits: PredicateLimits = .untrusted
  ) throws -> FetchPredicate {
    try FetchPredicate(format: text, limits: limits)
  }

  // MARK: Long paths

  /// What each hop costs grows with the members before it, beyond what a number counts.
  @Test(arguments: [10, 15]) func nestedCollectionsHaveACost(hops: Int) throws {
    try withFriends { context in
      let path = Array(repeating: "friends", count: hops).joined(separator: ".")
      let any = try predicate("ANY \(path).age == 1")
      #expect(try context.count(Employee.self, matching: any) == 50)
      let none = try predicate("ANY \(path).age == 51")
      #expect(try context.count(Employee.self, matching: none) == 0)
    }
  }

  @Test func longPathsAreRefused() throws {
    let text = "\(String(repeating: "manager.", count: 16))age == 1"
    let error = try failure { _ = try predicate(text) }
    #expect(error.code == .invalidPredicate)
    #expect(
      error.message
        == "The key path has 17 names and the limit is 16; follow fewer relationships.")
    #expect(error.location?.column == 1)
  }

  /// A thread with little room for calls.
  @Test(arguments: [64, 65, 5000]) func noPathOverflowsTheStack(names: Int) throws {
    try withFriends(2) { context in
      let toOne = Array(repeating: "manager", count: names - 1).joined(separator: ".")
      let toMany = Array(repeating: "friends", count: names - 1).joined(separator: ".")
      let values = Array(repeating: "friends", count: names - 2).joined(separator: ".")
      for text in ["\(toOne).age == 1", "ANY \(toMany).age == 1", "\(values).age.@max > 0"] {
        if names <= 64 {
          _ = try context.count(Employee.self, matching: predicate(text, .standard))
        } else {
          let error = try failure { _ = try predicate(text, .standard) }
          #expect(error.message.contains("and the limit is 64; follow fewer relationships."))
        }
      }
      // A path that is put in by %K is counted when it is bound.
      let late = try FetchPredicate(format: "%K == 1", "\(toOne).age")
      if names > 64 {
        let error = try failure { _ = try context.count(Employee.self, matching: late) }
        #expect(error.message.contains("and the limit is 64; follow fewer relationships."))
      }
    }
  }

  // MARK: Names

  @Test func onlyAllowedPropertiesMayBeNamed() throws {
    let limits = PredicateLimits.untrusted(allowing: [
      "Person": ["name"], "Employee": ["age", "company", "friends"], "Company": ["name"],
    ])
    try withFriends(3) { context in
      func count(_ text: String) throws -> Int {
        try context.count(Employee.self, matching: predicate(text, limits))
      }
      #expect(try count("age < 2 AND company.name == 'Foo' AND name == ''") == 2)
      #expect(try count("SUBQUERY(friends, $x, $x.company.name == 'Foo').@count == 3") == 3)
      let allowed = "that may be asked for; ask for age, company, friends, name."
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
            ? ("employees", "Company", "that may be asked for; ask for name.")
            : (name, "Employee", allowed)
          #expect(error.code == .invalidPredicate)
          #expect(error.message == "There is no property \"\(what)\" in \(entity) \(rest)")
        }
      }
      let path = try FetchPredicate(format: "%K == 1", limits: limits, arguments: ["salary"])
      #expect(throws: ArborError.self) { try context.count(Employee.self, matching: path) }
      // The program's own conditions are not bound by the list.
      let own: FetchPredicate = "salary == nil"
      let joined = try own && predicate("age < 2", limits)
      #expect(try context.count(Employee.self, matching: joined) == 2)
      let other = try own && predicate("salary == nil", limits)
      #expect(throws: ArborError.self) { try context.count(Employee.self, matching: other) }
    }
  }

  @Test func listsAreMadeOfKeyPaths() throws {
    var allowed = PredicateAllowList()
    try allowed.allow(\Employee.age)
    try allowed.allow(\Company.name)
    allowed.allow("name", of: "Person")
    #expect(allowed == ["Employee": ["age"], "Company": ["name"], "Person": ["name"]])
    let error = try failure { try allowed.allow(\Employee.company?.name) }
    #expect(error.code == .invalidArgument && error.keyPath == "company.name")
  }

  // MARK: Related objects

  /// What depends on a related object is evaluated once for each of these.
  @Test(arguments: [
    "SUBQUERY(company.employees, $x, $x.age > 3).@count > 3",
    "ANY company.employees.age == 7",
    "company.employees.@avg.age > 3",
    "age < company.employees.@max.age",
    "age < SUBQUERY(company.employees, $x, $x.age > 3).@count",
  ])
  func relatedCollectionsAreEvaluatedOnce(text: String) throws {
    try withFriends(200) { context in
      let limits = PredicateLimits(maximumElements: 400)
      let found = try context.count(Employee.self, matching: predicate(text, limits))
      #expect(found >= 196)
    }
  }
}
