import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Predicates over relationships with pending changes. A fetch, `matches`, and a fetch after the
/// commit must agree.
@Suite struct FetchPredicateMatchingTests {
  static let predicates: [FetchPredicate] = [
    "ANY skills.name == 'swift'", "ALL skills.name != 'swift'", "NONE tasks.title == 'a'",
    "skills.@count > 1", "tasks.@count == 2", "tasks[0].title == 'a'", "tasks[LAST].title == 'b'",
    "tasks.title == {'a', 'b'}", "company.employees.@count > 2",
    "friends.@count > friends.age.@sum",
    "ANY company.employees.age > 30", "company.employees.@max.age > age",
    "SUBQUERY(company.employees, $e, $e.age < age).@count > 0", "SELF IN company.employees",
    "ANY friends.skills.name == 'swift'", "ANY friends == manager", "manager IN friends",
    "manager.reports CONTAINS SELF", "ALL manager.reports.company == company",
    "SUBQUERY(friends, $f, ANY $f.tasks.title == 'a').@count > 0", "friends.@count == 0",
    "company.founded != nil AND ANY company.employees.manager == SELF",
    "age * 2 > company.employees.@count",
  ]

  @Test("Predicates over relationships agree before and after a commit", arguments: 0..<8)
  func pendingChangesCount(round: Int) throws {
    let seed = UInt64(900 + round)
    var random = SeededRandom(seed: seed)
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      var staff: [Employee] = []
      let skills = ["swift", "c", "go"].map { name in
        let skill = context.insert(Skill.self)
        skill.name = name
        return skill
      }
      let companies = (0..<2).map { index in
        let company = context.insert(Company.self)
        company.name = "c\(index)"
        return company
      }
      for index in 0..<6 {
        let employee = index < 2 ? context.insert(Manager.self) : context.insert(Employee.self)
        employee.employeeID = Int64(index)
        staff.append(employee)
      }
      try context.commit()
      for step in 0..<6 {
        for _ in 0..<8 { change(&staff, skills, companies, context, &random) }
        let answers = try answers(context, staff, "seed \(seed) step \(step)")
        guard step.isMultiple(of: 2) else { continue }
        try context.commit()
        let other = store.makeContext()
        for (predicate, expected) in zip(Self.predicates, answers) {
          let found = Set(try other.fetch(Employee.self, matching: predicate).map(\.employeeID))
          #expect(found == expected, "seed \(seed) step \(step): \(predicate)")
        }
      }
    }
  }

  /// Returns the results of each predicate, which must be those of evaluating it on each object.
  private func answers(
    _ context: ManagedObjectContext, _ staff: [Employee], _ comment: String
  ) throws -> [Set<Int64>] {
    try Self.predicates.map { predicate in
      let found = Set(try context.fetch(Employee.self, matching: predicate).map(\.employeeID))
      var matching: Set<Int64> = []
      for employee in staff where try predicate.matches(employee) {
        matching.insert(employee.employeeID)
      }
      #expect(found == matching, "\(comment): \(predicate)")
      return found
    }
  }

  private func change(
    _ staff: inout [Employee], _ skills: [Skill], _ companies: [Company],
    _ context: ManagedObjectContext, _ random: inout SeededRandom
  ) {
    let employee = random.pick(staff)
    switch random.below(11) {
    case 0: employee.age = random.below(60)
    case 1: employee.company = random.below(4) == 0 ? nil : random.pick(companies)
    case 2: employee.manager = random.pick(staff) as? Manager
    case 3: employee.skills.insert(random.pick(skills))
    case 4: employee.skills.remove(random.pick(skills))
    case 5: employee.friends.insert(random.pick(staff))
    case 6: employee.friends.remove(random.pick(staff))
    case 7:
      let task = context.insert(Task.self)
      task.title = random.below(2) == 0 ? "a" : "b"
      employee.tasks.insert(task, at: random.below(employee.tasks.count + 1))
    case 8: if let task = employee.tasks.first { context.delete(task) }
    case 9:
      random.pick(companies).founded =
        random.below(2) == 0 ? nil : Date(timeIntervalSinceReferenceDate: 5)
    default:
      guard staff.count > 4 else { return }
      staff.removeAll { $0 === employee }
      context.delete(employee)
    }
  }

  @Test("A changed link is matched even if its objects are unchanged")
  func aLinkWithoutAChangedObjectCounts() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      let skill = context.insert(Skill.self)
      skill.name = "swift"
      try context.commit()
      employee.skills = [skill]
      #expect(try context.count(Employee.self, matching: "ANY skills.name == 'swift'") == 1)
      #expect(try context.count(Skill.self, matching: "holders.@count == 1") == 1)
      employee.skills = []
      #expect(try context.count(Employee.self, matching: "skills.@count == 0") == 1)
      try context.commit()
    }
  }

  @Test("Matching an object without a context throws")
  func anObjectOfNoContextIsRefused() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      context.reset()
      let predicate: FetchPredicate = "age > 1"
      let error = try failure { _ = try predicate.matches(employee) }
      #expect(error.code == .notAllowed)
    }
  }
}

extension SeededRandom {
  fileprivate mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }
  fileprivate mutating func pick<T>(_ elements: [T]) -> T { elements[below(elements.count)] }
}
