import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ManagedObjectContextFetchingTests {
  private func use(
    _ body: (PersistentStore, ManagedObjectContext, [Employee]) throws -> Void
  ) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let employees: [Employee] = (0..<10).map { index in
        let employee = index < 3 ? context.insert(Manager.self) : context.insert(Employee.self)
        (employee.name, employee.age) = ("e\(index)", 20 + index)
        employee.employeeID = Int64(index)
        return employee
      }
      try context.commit()
      try body(store, context, employees)
    }
  }

  @Test("Fetches apply predicates, orders, limits and offsets")
  func predicatesOrderLimitAndOffset() throws {
    try use { (_, context, employees) throws in
      var request = FetchRequest<Employee>(predicate: "age >= \(22)", sortKeys: ["-age"])
      #expect(try context.fetch(request).map(\.age) == (22...29).reversed())
      #expect(try context.count(request) == 8)
      request.fetchLimit = 2
      request.fetchOffset = 1
      #expect(try context.fetch(request).map(\.age) == [28, 27])
      #expect(try context.fetchOne(request)?.age == 28)
      #expect(try context.fetchIDs(request) == [employees[8].objectID, employees[7].objectID])
      #expect(try context.explain(request, analyze: true).root.actualRows == 2)
    }
  }

  @Test("Distinct results remove duplicate rows, not duplicate objects")
  func distinctResultsAreAboutRowsAndNotAboutObjects() throws {
    try use { (_, context, employees) throws in
      for employee in employees { employee.age = 20 + Int(employee.employeeID) % 2 }
      var request = FetchRequest<Employee>(predicate: "age > 0", sortKeys: ["-age", "employeeID"])
      request.propertiesToFetch = ["age"]
      (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (6, 1, 2)
      func answers(_ isDistinct: Bool) throws -> [[ObjectID]] {
        request.returnsDistinctResults = isDistinct
        let cursor = try context.cursor(for: request)
        var met: [ObjectID] = []
        while let employee = try cursor.next() { met.append(employee.objectID) }
        return [
          try context.fetch(request).map(\.objectID), try context.fetchIDs(request), met,
          try context.fetchPage(request).objects.map(\.objectID),
        ]
      }
      #expect(try answers(true) == answers(false))
      request.returnsDistinctResults = true
      #expect(try context.count(request) == 6 && context.exists(request))
      #expect(try context.aggregate(request, [.count("age")]) == [6])
      // Duplicate rows are removed before the offset is applied.
      #expect(try context.fetchRows(request) == [["age": 20]])
    }
  }

  @Test("Fetching an entity includes its subentities")
  func parentsFindTheirChildren() throws {
    try use { (_, context, employees) throws in
      let people = try context.fetch(Person.self)
      #expect(Set(people) == Set(employees))
      #expect(people.filter { $0 is Manager }.count == 3)
      #expect(try context.fetch(Manager.self).count == 3)
      var alone = FetchRequest<Employee>()
      alone.includesSubentities = false
      #expect(try context.count(alone) == 7)
      let byName = try context.fetch(FetchRequest<Person>(entity: "Manager"))
      #expect(byName.count == 3)
      let wrong = try failure { _ = try context.fetch(FetchRequest<Manager>(entity: "Employee")) }
      #expect(wrong.code == .typeMismatch)
    }
  }

  @Test("Fetches include pending changes")
  func pendingChangesAreSeen() throws {
    try use { (store, context, employees) throws in
      employees[9].age = 3
      context.delete(employees[8])
      let fresh = context.insert(Employee.self)
      fresh.age = 27
      let young = try context.fetch(Employee.self, matching: "age < 10")
      #expect(young == [employees[9]])
      #expect(try context.count(Employee.self, matching: "age > 26") == 2)
      let ordered = try context.fetch(
        Employee.self, matching: "age > 25", sortedBy: ["age", "name"])
      #expect(ordered == [employees[6], fresh, employees[7]])
      var committed = FetchRequest<Employee>(predicate: "age > 26")
      committed.includesPendingChanges = false
      #expect(try context.count(committed) == 3)
      #expect(try store.makeContext().count(Employee.self, matching: "age > 26") == 3)
    }
  }

  @Test("Key paths follow pending changes of related objects")
  func pathsSeePendingTargets() throws {
    try use { (_, context, employees) throws in
      let company = context.insert(Company.self)
      company.name = "Foo"
      employees[4].company = company
      #expect(try context.fetch(Employee.self, matching: "company.name == 'Foo'") == [employees[4]])
      try context.commit()
      company.name = "Bar"
      #expect(try context.count(Employee.self, matching: "company.name == 'Foo'") == 0)
      #expect(
        try context.fetchOne(Employee.self, matching: "company.name == 'Bar'") === employees[4])
      let predicate: FetchPredicate = "company.name == 'Bar' AND age > 20"
      #expect(try predicate.matches(employees[4]))
      #expect(try !predicate.matches(employees[5]))
    }
  }

  @Test("Prefetching loads related objects")
  func prefetchingReadsTargets() throws {
    try use { (store, context, employees) throws in
      let company = context.insert(Company.self)
      for employee in employees { employee.company = company }
      try context.commit()
      let other = store.makeContext()
      var request = FetchRequest<Company>()
      request.relationshipKeyPathsForPrefetching = ["employees"]
      let found = try other.fetch(request)
      #expect(other.registeredObjects.count == 11)
      #expect(other.registeredObjects.allSatisfy { !$0.isFault })
      #expect(found.first?.employees.count == 10)
      request.relationshipKeyPathsForPrefetching = ["employes"]
      #expect(try failure { _ = try other.fetch(request) }.code == .unknownName)
    }
  }

  @Test("A request named in the model is returned as a copy")
  func namedRequestsAreCopies() throws {
    try ObjectStore.use(StaffModel.make()) { store in
      let context = store.makeContext()
      let company = try context.insert("Company")
      for age in [30, 50, 70] {
        let employee = try context.insert("Employee")
        employee["age"] = age
        if age > 40 { employee["company"] = company }
      }
      let values: [String: (any PredicateArgument)?] = ["AGE": 40, "company": company]
      var request = try context.fetchRequest(named: "olderAtCompany", substituting: values)
      request.sortKeys = ["-age"]
      #expect(try context.fetch(request).map { $0["age"] } == [70, 50] as [PropertyValue])
      #expect(try context.fetchRequest(named: "olderAtCompany").sortKeys == [])
      #expect(
        try failure { _ = try context.fetchRequest(named: "oldrAtCompany") }.message
          .contains("olderAtCompany?"))
      let unbound = try context.fetchRequest(named: "olderAtCompany")
      #expect(try failure { _ = try context.fetch(unbound) }.code == .invalidPredicate)
    }
  }

  @Test("Unknown names and invalid predicates are reported")
  func mistakesAreNamed() throws {
    try use { (_, context, _) throws in
      let unknown = try failure { _ = try context.fetch(Employee.self, matching: "agee > 3") }
      #expect(unknown.message.contains("\"age\""))
      #expect(try failure { _ = try context.fetch("Employe") }.code == .unknownName)
      #expect(
        try failure { _ = try context.fetch(Employee.self, sortedBy: ["nme"]) }.code == .unknownName
      )
      #expect(
        try failure { _ = try context.count(Employee.self, matching: "age >") }.location != nil)
    }
  }

  @Test("Classes are bound when they are first used")
  func classesAreBoundWhenTheyAreUsed() throws {
    var model = try ManagedObjectModel(for: Office.classes)
    // A changed model, so that the store doesn't know the classes in advance.
    for index in model.entities.indices { model.entities[index].userInfo = ["origin": "file"] }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      #expect(type(of: employee) == Employee.self)
      let plain = try context.insert("Company")
      #expect(type(of: plain) == ManagedObject.self)
      #expect(try failure { _ = try context.fetch(Company.self) }.code == .notAllowed)
      context.rollback()
      #expect(type(of: context.insert(Company.self)) == Company.self)
      let company = try store.makeContext().insert("Company")
      #expect(type(of: company) == Company.self)
    }
  }

  /// The fast path for unique values returns the same results as a fetch.
  @Test("Unique values are looked up without a fetch")
  func uniqueValuesAreLookedUp() throws {
    final class Guest: ManagedObject {
      override class var entityDescription: EntityDescription {
        EntityDescription(
          name: "Guest", className: "Guest",
          attributes: [AttributeDescription(name: "badge", type: .integer64, defaultValue: 0)],
          uniquenessConstraints: [["badge"]])
      }
      var badge: Int {
        get { _attribute(0) }
        set { _setAttribute(0, newValue) }
      }
      var fetches = 0
      override func awakeFromFetch() { fetches += 1 }
    }
    try ObjectStore.use(ManagedObjectModel(for: [Guest.self]), classes: [Guest.self]) { store in
      let writer = store.makeContext()
      for badge in 1...3 { writer.insert(Guest.self).badge = badge }
      try writer.commit()
      let context = store.makeContext()
      func guest(_ badge: Int) throws -> Guest? {
        try context.fetchOne(Guest.self, matching: "badge == \(badge)")
      }
      let second = try #require(try guest(2))
      #expect(second.badge == 2 && second.fetches == 1)
      #expect(try guest(2) === second && second.fetches == 1)
      #expect(try guest(4) == nil)
      // A fault is populated once.
      let id = try #require(try writer.fetchOne(Guest.self, sortedBy: ["badge"])).objectID
      let first = try #require(try context.object(with: id) as? Guest)
      #expect(first.isFault)
      #expect(try guest(1) === first && !first.isFault && first.fetches == 1)
      // Pending changes are included.
      second.badge = 5
      #expect(try guest(2) == nil)
      #expect(try guest(5) === second)
      context.delete(first)
      #expect(try guest(1) == nil)
      context.rollback()
      #expect(try guest(2) === second)
      var behind = FetchRequest<Guest>(predicate: "badge == \(2)")
      behind.fetchOffset = 1
      #expect(try context.fetchOne(behind) == nil)
    }
  }
}
