import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

@Suite struct SessionPrefetchingTests {
  /// Creates companies with employees, who have managers, skills and ordered tasks.
  private func use(
    _ body: (PersistentStore, ManagedObjectContext) throws -> Void
  ) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let skills = (0..<5).map { _ in context.insert(Skill.self) }
      let companies = (0..<6).map { index in
        let company = context.insert(Company.self)
        company.name = "c\(index)"
        return company
      }
      for index in 0..<60 {
        let employee = index % 6 == 0 ? context.insert(Manager.self) : context.insert(Employee.self)
        (employee.name, employee.employeeID) = ("e\(index)", Int64(index))
        if index % 7 != 0 { employee.company = companies[index % 5] }
        employee.skills = Set((0..<(index % 4)).map { skills[(index + $0) % 5] })
        employee.tasks = (0..<(index % 3)).map { _ in context.insert(Task.self) }
      }
      try context.commit()
      try body(store, store.makeContext())
    }
  }

  /// Returns the members of all relationships that are reachable from some companies.
  private func portrait(_ companies: [Company]) -> [String] {
    companies.flatMap { company in
      company.employees.sorted { $0.employeeID < $1.employeeID }.map { employee in
        "\(company.name) \(employee.name) \(employee.skills.map(\.objectID.number).sorted()) "
          + "\(employee.tasks.map(\.objectID.number))"
      }
    }
  }

  @Test("Prefetched relationships equal the stored ones and need no further reads")
  func prefetchedRelationshipsAreThoseOfTheStore() throws {
    try use { (store, context) throws in
      var request = FetchRequest<Company>(sortKeys: ["name"])
      let other = store.makeContext()
      let expected = try portrait(other.fetch(request))
      request.relationshipKeyPathsForPrefetching = ["employees.skills", "employees.tasks"]
      let companies = try context.fetch(request)
      #expect(context.registeredObjects.allSatisfy { !$0.isFault })
      let count = context.registeredObjects.count
      // Nothing more is read: the store is closed.
      store.close()
      #expect(portrait(companies) == expected)
      #expect(context.registeredObjects.count == count)
    }
  }

  @Test("Prefetching follows to-one and mixed key paths")
  func toOneAndMixedPathsAreFollowed() throws {
    try use { (store, context) throws in
      var request = FetchRequest<Employee>(predicate: "employeeID IN {1, 2, 3, 8}")
      request.relationshipKeyPathsForPrefetching = ["company.employees", "badge"]
      let employees = try context.fetch(request)
      let companies = Set(employees.compactMap(\.company))
      #expect(companies.count == 3 && companies.allSatisfy { !$0.isFault })
      let colleagues = companies.reduce(0) { $0 + $1.employees.count }
      #expect(context.registeredObjects.filter { $0 is Employee }.count >= colleagues)
      #expect(
        colleagues
          == (try store.makeContext().count(
            Employee.self, matching: "company.name IN {'c1', 'c2', 'c3'}")))
      request.relationshipKeyPathsForPrefetching = ["company.employes"]
      #expect(try failure { _ = try context.fetch(request) }.message.contains("employees?"))
      request.relationshipKeyPathsForPrefetching = ["company.name"]
      #expect(try failure { _ = try context.fetch(request) }.code == .unknownName)
    }
  }

  @Test("Pending changes apply to prefetched members")
  func pendingChangesLieOverWhatWasPrefetched() throws {
    try use { (_, context) throws in
      var request = FetchRequest<Company>(sortKeys: ["name"])
      request.relationshipKeyPathsForPrefetching = ["employees.skills"]
      let companies = try context.fetch(request)
      let moved = try #require(companies[1].employees.first)
      moved.company = companies[2]
      #expect(!companies[1].employees.contains(moved))
      #expect(companies[2].employees.contains(moved))
      let fresh = context.insert(Employee.self)
      fresh.company = companies[2]
      let gone = try #require(companies[3].employees.first)
      context.delete(gone)
      #expect(companies[2].employees.contains(fresh))
      #expect(!companies[3].employees.contains(gone))
      // Prefetches again with pending changes.
      let again = try context.fetch(request)
      #expect(again == companies)
      #expect(companies[2].employees.isSuperset(of: [fresh, moved]))
      context.rollback()
      #expect(companies[1].employees.contains(moved))
      #expect(!companies[2].employees.contains(moved))
    }
  }

  @Test("Prefetched members reflect later commits")
  func commitsAreSeenByWhoPrefetched() throws {
    try use { (store, context) throws in
      var request = FetchRequest<Company>(sortKeys: ["name"])
      request.relationshipKeyPathsForPrefetching = ["employees"]
      let companies = try context.fetch(request)
      let before = companies[1].employees.count
      let other = store.makeContext()
      let one = try #require(try other.fetchOne(Employee.self, matching: "company.name == 'c1'"))
      one.company = nil
      try other.commit()
      // The next operation merges the commit.
      #expect(try context.count(Company.self) == 6)
      #expect(companies[1].employees.count == before - 1)
      // The same holds for the context's own commit.
      _ = try context.fetch(request)
      let moved = try #require(companies[1].employees.first)
      moved.company = companies[2]
      try context.commit()
      #expect(companies[1].employees.count == before - 2)
      #expect(companies[2].employees.contains(moved))
    }
  }

  @Test("Prefetching reads the members of any number of owners")
  func manyOwnersAreReadInOnePass() throws {
    var random = SeededRandom()
    try use { (store, context) throws in
      // From few to all owners, so that the pass both seeks and scans.
      let other = store.makeContext()
      let plain = try other.objects(Employee.self).fetch()
      let expected = Dictionary(
        uniqueKeysWithValues: plain.map { ($0.objectID, $0.skills.map(\.objectID.number).sorted()) }
      )
      for count in [1, 2, 5, 20, 60] {
        let ids = plain.map(\.objectID).shuffled(using: &random).prefix(count)
        var request = FetchRequest<Employee>(predicate: "SELF IN \(Array(ids))")
        request.relationshipKeyPathsForPrefetching = ["skills"]
        for employee in try context.fetch(request) {
          #expect(
            employee.skills.map(\.objectID.number).sorted() == expected[employee.objectID],
            "seed \(random.seed)")
        }
        context.reset()
      }
    }
  }
}
