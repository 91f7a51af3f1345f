import ArborModel
import ArborObjects
import Foundation
import Testing

/// Translation of Foundation predicates.
@Suite struct PredicateTranslationTests {
  private func expect(
    _ predicate: Predicate<Employee>, is text: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let translated = try FetchPredicate(predicate)
    #expect(translated.description == text, sourceLocation: sourceLocation)
    #expect(FetchPredicate(stringLiteral: text) == translated, sourceLocation: sourceLocation)
  }

  @Test("Comparisons and logical operators are translated")
  func comparisonsAndLogic() throws {
    try expect(#Predicate { $0.age == 5 }, is: "age == 5")
    try expect(#Predicate { $0.age != 5 }, is: "age != 5")
    try expect(#Predicate { $0.age < 5 || $0.age >= 7 }, is: "age < 5 OR age >= 7")
    try expect(
      #Predicate { !($0.age > 5 && $0.name <= "x") }, is: #"NOT (age > 5 AND name <= "x")"#)
    try expect(#Predicate { $0.salary == nil }, is: "salary == NIL")
    try expect(#Predicate { $0.salary != nil && $0.age > 1 }, is: "salary != NIL AND age > 1")
    try expect(#Predicate { $0.nick == "x" }, is: #"nick == "x""#)
    try expect(
      #Predicate { ($0.age > 3) == ($0.age < 7) },
      is: "TERNARY(age > 3, TRUE, FALSE) == TERNARY(age < 7, TRUE, FALSE)")
    try expect(#Predicate { _ in true }, is: "TRUEPREDICATE")
    try expect(
      #Predicate { $0.age > 1 ? $0.name == "x" : $0.nick == "y" },
      is: #"age > 1 AND name == "x" OR NOT (age > 1) AND nick == "y""#)
    try expect(#Predicate { ($0.age > 1 ? $0.age : 7) == 7 }, is: "TERNARY(age > 1, age, 7) == 7")
  }

  @Test("Captured values become constants")
  func capturedValues() throws {
    let (age, name, id) = (40, "it's", ObjectID(storeID: UUID(), entityName: "Company", number: 3))
    let (salary, day, rank) = (1.5, Date(timeIntervalSinceReferenceDate: 9), Rank.senior)
    let nobody: String? = nil
    let ages: Set = [3, 1]
    try expect(
      #Predicate { $0.age == age && $0.name == name && $0.company?.objectID == id },
      is: #"age == 40 AND name == "it's" AND company.objectID == objectID("\#(id)")"#)
    try expect(
      #Predicate { $0.salary == salary && $0.nick == nobody },
      is: "salary == 1.5 AND nick == NIL")
    try expect(
      #Predicate { $0.company?.founded == day },
      is: #"company.founded == CAST(9.0, "NSDate")"#)
    try expect(
      #Predicate { $0.companyID == id && $0.manager?.companyID != nil },
      is: #"company == objectID("\#(id)") AND manager.company != NIL"#)
    try expect(#Predicate { $0.rank == rank }, is: #"rank == "senior""#)
    try expect(#Predicate { ages.contains($0.age) }, is: "age IN {1, 3}")
  }

  @Test("Captured objects are compared by their identity")
  func capturedObjects() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      try populate(context)
      let companies = try context.fetch(Company.self, sortedBy: ["name"])
      let (first, second) = (companies[0], companies[1])
      let nobody: Company? = nil
      let some = [first, second]
      let set = Set(some)
      let withNil: [Company?] = [first, nil]
      let friend = try #require(try context.fetchOne(Employee.self, matching: "friends.@count > 0"))
      let popular = try #require(friend.friends.first)
      let cases: [(Predicate<Employee>, FetchPredicate)] = [
        (#Predicate { $0.company == first }, "company.name == 'c0'"),
        (#Predicate { $0.company != first }, "company.name != 'c0'"),
        (#Predicate { first == $0.company && $0.age > 25 }, "company.name == 'c0' AND age > 25"),
        (#Predicate { $0.company == nobody }, "company == nil"),
        (#Predicate { $0.company != nil }, "company != nil"),
        (#Predicate { some.contains($0.company) }, "company.name IN {'c0', 'c1'}"),
        (#Predicate { set.contains($0.company) }, "company.name IN {'c0', 'c1'}"),
        (#Predicate { !some.contains($0.company) }, "NOT (company.name IN {'c0', 'c1'})"),
        (#Predicate { withNil.contains($0.company) }, "company.name == 'c0' OR company == nil"),
        (#Predicate { $0.manager?.company == second }, "manager.company.name == 'c1'"),
        (#Predicate { $0.friends.contains(popular) }, "ANY friends == \(popular)"),
        (#Predicate { $0 == friend }, "objectID == \(friend.objectID)"),
      ]
      for (predicate, text) in cases {
        let found = try context.fetchIDs(FetchRequest<Employee>(predicate: predicate))
        let expected = try context.fetchIDs(
          FetchRequest<Employee>(predicate: text))
        #expect(Set(found) == Set(expected), "\(text)")
        #expect(!found.isEmpty, "\(text)")
      }
    }
  }

  @Test("Predicates with different constants share one shape")
  func oneShapeServesAllConstants() throws {
    func older(than age: Int) throws -> FetchPredicate {
      try FetchPredicate(#Predicate<Employee> { $0.age > age && $0.name != "x" })
    }
    #expect(try older(than: 3).shape === older(than: 4).shape)
    #expect(try older(than: 3) == "age > 3 AND name != 'x'")
  }

  @Test("Key paths are translated")
  func paths() throws {
    try expect(#Predicate { $0.company?.name == "x" }, is: #"company.name == "x""#)
    try expect(#Predicate { $0.manager?.company?.name == "x" }, is: #"manager.company.name == "x""#)
    try expect(#Predicate { $0.company!.name == "x" }, is: #"company.name == "x""#)
    try expect(#Predicate { $0.manager == nil }, is: "manager == NIL")
    try expect(#Predicate { $0.badge?.isActive == true }, is: "badge.isActive == TRUE")
    try expect(
      #Predicate { $0.badge!.isActive && $0.age > 1 },
      is: "badge.isActive == TRUE AND age > 1")
    let managers = try FetchPredicate(#Predicate<Manager> { $0.name == "x" && $0.age > 3 })
    #expect(managers == #"name == "x" AND age > 3"#)
  }

  @Test("Arithmetic is translated")
  func arithmetic() throws {
    try expect(#Predicate { ($0.age + 1) * 2 - 3 == 7 }, is: "(age + 1) * 2 - 3 == 7")
    try expect(#Predicate { -$0.age < -5 }, is: "-age < -5")
    try expect(#Predicate { $0.age / 2 == 3 }, is: "age / 2 == 3")
    try expect(#Predicate { $0.age % 2 == 1 }, is: "age % 2 == 1")
    try expect(#Predicate { $0.salary! / 2 > 1.5 }, is: "salary / 2.0 > 1.5")
  }

  @Test("Operations on optionals are translated")
  func optionals() throws {
    try expect(
      #Predicate { ($0.salary ?? 0) > 5 },
      is: "TERNARY(salary != NIL, salary, 0.0) > 5.0")
    try expect(
      #Predicate { $0.salary.flatMap { $0 > 5 } ?? false },
      is: "salary != NIL AND salary > 5.0")
    try expect(
      #Predicate { $0.salary.flatMap { $0 > 5 } ?? true },
      is: "NOT (salary != NIL) OR salary > 5.0")
    try expect(
      #Predicate { $0.salary.flatMap { $0 > 5 } == true },
      is: "TERNARY(salary != NIL, TERNARY(salary > 5.0, TRUE, FALSE), NIL) == TRUE")
    try expect(
      #Predicate { $0.nick?.starts(with: "x") ?? false },
      is: #"nick != NIL AND nick BEGINSWITH "x""#)
    try expect(
      #Predicate { $0.company?.employees.contains { $0.age > 3 } ?? false },
      is: "company != NIL AND ANY company.employees.age > 3")
    try expect(
      #Predicate { $0.salary.flatMap { $0 + 1 } == 5 },
      is: "TERNARY(salary != NIL, salary + 1.0, NIL) == 5.0")
  }

  @Test("Operations on strings are translated")
  func texts() throws {
    try expect(#Predicate { $0.name.contains("x") }, is: #"name CONTAINS "x""#)
    try expect(#Predicate { $0.name.starts(with: "x") }, is: #"name BEGINSWITH "x""#)
    try expect(#Predicate { $0.name.count > 3 }, is: "length(name) > 3")
    try expect(#Predicate { $0.name.isEmpty }, is: "length(name) == 0")
  }

  @Test("Operations on collections are translated")
  func collections() throws {
    try expect(#Predicate { $0.skills.contains { $0.name == "x" } }, is: #"ANY skills.name == "x""#)
    try expect(#Predicate { $0.friends.allSatisfy { $0.age > 3 } }, is: "ALL friends.age > 3")
    try expect(
      #Predicate { $0.friends.contains { $0.age > 3 && $0.name == "x" } },
      is: #"SUBQUERY(friends, $v1, $v1.age > 3 AND $v1.name == "x").@count > 0"#)
    try expect(
      #Predicate { employee in employee.friends.contains { $0.age > employee.age } },
      is: "SUBQUERY(friends, $v1, $v1.age > age).@count > 0")
    try expect(
      #Predicate { $0.friends.allSatisfy { $0.age > 3 || $0.age < 1 } },
      is: "SUBQUERY(friends, $v1, NOT ($v1.age > 3 OR $v1.age < 1)).@count == 0")
    try expect(
      #Predicate { $0.friends.filter { $0.age > 3 }.count == 2 },
      is: "SUBQUERY(friends, $v1, $v1.age > 3).@count == 2")
    try expect(#Predicate { $0.friends.isEmpty }, is: "friends.@count == 0")
    try expect(#Predicate { $0.tasks.count > 3 }, is: "tasks.@count > 3")
    try expect(
      #Predicate { $0.friends.contains { $0.friends.contains { $0.age > 3 && $0.age < 9 } } },
      is: "SUBQUERY(friends, $v1, SUBQUERY($v1.friends, $v2, $v2.age > 3 AND $v2.age < 9).@count "
        + "> 0).@count > 0")
    try expect(#Predicate { $0.tasks.first?.title == "x" }, is: #"tasks[FIRST].title == "x""#)
    try expect(#Predicate { $0.tasks[0].title == "x" }, is: #"tasks[0].title == "x""#)
  }

  @Test("Ranges are translated")
  func ranges() throws {
    let captured = 3..<7
    try expect(#Predicate { (18..<30).contains($0.age) }, is: "age >= 18 AND age < 30")
    try expect(#Predicate { (18...30).contains($0.age) }, is: "age BETWEEN {18, 30}")
    try expect(#Predicate { captured.contains($0.age) }, is: "age >= 3 AND age < 7")
    try expect(#Predicate { ($0.age...30).contains(20) }, is: "20 BETWEEN {age, 30}")
    let open = 5...
    try expect(#Predicate { open.contains($0.age) }, is: "age >= 5")
  }

  @Test("Expressions without a counterpart throw")
  func whatHasNoCounterpartThrows() throws {
    func refuses(
      _ predicate: Predicate<Employee>, _ words: String,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      let error = #expect(throws: ArborError.self, sourceLocation: sourceLocation) {
        try FetchPredicate(predicate)
      }
      #expect(error?.code == .invalidPredicate, sourceLocation: sourceLocation)
      #expect(
        error?.message.contains(words) == true, "\(error?.message ?? "")",
        sourceLocation: sourceLocation)
    }
    refuses(#Predicate { $0 is Manager }, "TypeCheck")
    refuses(#Predicate { ($0 as? Manager)?.bonus != nil }, "ConditionalCast")
    refuses(#Predicate { $0.calls.isEmpty }, "entityDescription")
    refuses(#Predicate { $0.name.hashValue == 1 }, "key path")
  }

  /// Inserts employees with and without friends, skills, tasks, companies and managers.
  private func populate(_ context: ManagedObjectContext) throws {
    let companies = (0..<3).map { index in
      let company = context.insert(Company.self)
      company.name = "c\(index)"
      return company
    }
    var employees: [Employee] = []
    for index in 0..<14 {
      let manager = context.insert(Manager.self)
      let employee: Employee = index < 3 ? manager : context.insert(Employee.self)
      if index >= 3 { context.delete(manager) }
      (employee.name, employee.age) = ("n\(index % 4)", 20 + index)
      employee.salary = index.isMultiple(of: 3) ? nil : Double(index)
      employee.nick = index.isMultiple(of: 2) ? "x\(index)" : nil
      employee.rank = index.isMultiple(of: 2) ? .junior : .senior
      employee.company = index.isMultiple(of: 5) ? nil : companies[index % 3]
      employee.manager = index > 4 ? employees[index % 3] as? Manager : nil
      employee.friends = Set(employees.suffix(index % 4))
      for number in 0..<index % 3 {
        let task = context.insert(Task.self)
        task.title = "t\(number)"
        task.assignee = employee
      }
      employees.append(employee)
    }
    try context.commit()
  }

  private static var oracles: [Predicate<Employee>] {
    let senior = Rank.senior
    let names = ["n1", "n3"]
    return [
      #Predicate { $0.age > 25 && $0.name == "n1" }, #Predicate { $0.salary == nil },
      #Predicate { $0.rank == senior || $0.age < 22 }, #Predicate { !($0.age == 25) },
      #Predicate { (22...28).contains($0.age) && $0.name.starts(with: "n2") },
      #Predicate { (22..<28).contains($0.age) }, #Predicate { names.contains($0.name) },
      #Predicate { $0.salary.flatMap { $0 > 5 } ?? false }, #Predicate { $0.name.contains("3") },
      #Predicate { ($0.salary ?? 100) > 8 }, #Predicate { $0.age % 3 == 1 },
      #Predicate { $0.age / 4 == 6 }, #Predicate { ($0.age + 1) * 2 > 60 },
      #Predicate { -$0.age < -25 }, #Predicate { $0.name.count == 2 && $0.age < 25 },
      #Predicate { $0.company?.name == "c1" }, #Predicate { $0.manager?.company?.name == "c1" },
      #Predicate { $0.company == nil }, #Predicate { $0.nick?.starts(with: "x1") ?? false },
      #Predicate { $0.friends.contains { $0.age > 28 } },
      #Predicate { $0.friends.allSatisfy { $0.age > 24 } }, #Predicate { $0.tasks.isEmpty },
      #Predicate { $0.friends.contains { $0.age > 24 && $0.name == "n1" } },
      #Predicate { $0.friends.filter { $0.age > 24 }.count == 2 },
      #Predicate { me in me.friends.contains { $0.age == me.age - 1 } },
      #Predicate { $0.tasks.count == 2 }, #Predicate { $0.tasks.first?.title == "t0" },
      #Predicate { $0.company?.employees.contains { $0.age > 32 } ?? false },
      #Predicate { $0.friends.contains { $0.friends.contains { $0.age > 26 && $0.age < 29 } } },
      #Predicate { ($0.age > 25 ? $0.age : 7) == 7 },
      #Predicate { $0.age > 25 ? $0.name == "n1" : $0.name == "n2" },
      #Predicate { ($0.age > 23) == ($0.age < 27) },
    ]
  }

  @Test("A fetch in the store finds the same objects as evaluating the predicate in Swift")
  func fetchesWhatThePredicateFinds() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      try populate(context)
      let everyone = try context.fetch(Employee.self)
      for predicate in Self.oracles {
        let expected = try everyone.filter { try predicate.evaluate($0) }
        let condition = try FetchPredicate(predicate)
        let found = try context.fetch(FetchRequest<Employee>(predicate: condition))
        #expect(Set(found) == Set(expected), "\(condition)")
        #expect(!found.isEmpty && found.count < everyone.count, "\(condition)")
        #expect(try everyone.filter { try condition.matches($0) } == expected, "\(condition)")
      }
    }
  }
}
