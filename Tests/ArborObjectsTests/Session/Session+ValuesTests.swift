import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

@Suite struct SessionValuesTests {
  private func use(
    _ body: (PersistentStore, ManagedObjectContext, [Employee]) throws -> Void
  ) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let companies = ["Foo", "Bar", "Zoo"].map { name in
        let company = context.insert(Company.self)
        company.name = name
        return company
      }
      let employees: [Employee] = (0..<12).map { index in
        let employee = context.insert(Employee.self)
        (employee.name, employee.age) = ("e\(index % 4)", 20 + index % 3)
        employee.employeeID = Int64(index)
        if index % 5 != 0 { employee.salary = Double(index) * 10 }
        if index < 11 { employee.company = companies[index % 2] }
        return employee
      }
      try context.commit()
      try body(store, context, employees)
    }
  }

  private func rows(
    _ context: ManagedObjectContext, _ properties: [PropertyPath], by groups: [PropertyPath] = [],
    having: FetchPredicate? = nil, where predicate: FetchPredicate? = nil,
    sorted keys: [SortKey] = [], distinct: Bool = false, limit: Int = 0, offset: Int = 0
  ) throws -> [[String: PropertyValue]] {
    var request = FetchRequest<Employee>(predicate: predicate, sortKeys: keys)
    request.propertiesToFetch = properties
    request.propertiesToGroupBy = groups
    request.havingPredicate = having
    request.returnsDistinctResults = distinct
    (request.fetchLimit, request.fetchOffset) = (limit, offset)
    return try context.fetchRows(request)
  }

  @Test("Every object is a row with the requested properties")
  func everyObjectIsARow() throws {
    try use { (_, context, employees) throws in
      let found = try rows(
        context,
        ["name", "company.name AS firm", "age * 2 AS twice", "company", "skills.@count"],
        where: "age == 21", sorted: ["-employeeID"], limit: 2)
      #expect(found[0]["name"] == "e2" && found[0]["twice"] == 42)
      #expect(found[0]["skills.@count"] == 0)
      #expect(found.map { $0["firm"] } == ["Foo", "Bar"])
      #expect(found[0]["company"] == employees[10].company.map { .objectID($0.objectID) })
    }
  }

  @Test("Without properties, a row contains all attributes")
  func withoutPropertiesARowHasAllAttributes() throws {
    try use { (_, context, _) throws in
      let row = try #require(try rows(context, [], where: "employeeID == 3").first)
      #expect(Set(row.keys) == ["name", "nick", "employeeID", "age", "salary", "rank"])
      #expect(row["salary"] == .double(30) && row["nick"] == .null && row["employeeID"] == 3)
    }
  }

  @Test("Rows can be sorted by any key and deduplicated")
  func rowsComeInAnyOrderAndEachOnce() throws {
    try use { (_, context, _) throws in
      let names = try rows(context, ["name"], sorted: ["-name"], distinct: true)
      #expect(names.map { $0["name"] } == ["e3", "e2", "e1", "e0"])
      let some = try rows(
        context, ["name", "age"], sorted: ["age", "-name"], distinct: true, limit: 3, offset: 1)
      #expect(
        some == [
          ["name": "e2", "age": 20], ["name": "e1", "age": 20], ["name": "e0", "age": 20],
        ])
      // By a computed column, by an expression, and by an attribute that isn't fetched.
      let twice = try rows(
        context, ["name", "0 - employeeID AS less"], sorted: ["less"], limit: 2)
      #expect(twice.map { $0["less"] } == [-11, -10])
      let other = try rows(context, ["employeeID"], sorted: ["-age", "employeeID"], limit: 2)
      #expect(other == [["employeeID": 2], ["employeeID": 5]])
    }
  }

  /// A model in which entity numbers and names are ordered differently.
  private static func menagerie() throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifier: "1") {
      EntityDescription("Animal", isAbstract: true) {
        AttributeDescription("age", .integer64)
        RelationshipDescription("friend", to: "Animal")
      }
      EntityDescription("Zebra", parent: "Animal") {}
      EntityDescription("Ant", parent: "Animal") {}
    }
  }

  @Test("Object IDs in rows are ordered by number")
  func objectsAreOrderedByNumberHoweverRowsAreMade() throws {
    try ObjectStore.use(Self.menagerie()) { store in
      let context = store.makeContext()
      let names = ["Ant", "Zebra", "Zebra", "Ant", "Ant", "Zebra"]
      let animals = try names.enumerated().map { index, name in
        let animal = try context.insert(name)
        try animal.setValue(.integer(Int64(index % 2)), forKey: "age")
        return animal
      }
      for (index, animal) in animals.enumerated() where index != 4 {
        try animal.setValue(.objectID(animals[5 - index].objectID), forKey: "friend")
      }
      try context.commit()
      for isAscending in [true, false] {
        let key = SortKey("friend", isAscending: isAscending)
        var request = FetchRequest<ManagedObject>(entity: "Animal", sortKeys: [key])
        let expected = try context.fetch(request).map { try $0.value(forKey: "friend") }
        request.propertiesToFetch = ["friend", "age + 1 AS next"]
        #expect(try context.fetchRows(request).map { $0["friend"] } == expected)
        request.sortKeys = [key, "next"]
        #expect(try context.fetchRows(request).map { $0["friend"] } == expected)
        request.propertiesToFetch = ["friend", "@count AS n"]
        request.propertiesToGroupBy = ["friend"]
        request.sortKeys = [key]
        #expect(try context.fetchRows(request).map { $0["friend"] } == expected)
      }
    }
  }

  @Test("Aggregates without groups are a single row")
  func aggregatesWithoutGroupsAreOneRow() throws {
    try use { (_, context, _) throws in
      let properties: [PropertyPath] = [
        "@count AS all", "count(salary)", "sum(salary) AS total", "average(age)", "min(name)",
        "max:(employeeID)", "count(distinct(age)) AS ages", "@sum.age", "median(employeeID)",
        "sum(salary) / count(salary) AS mean", "stddev(age)",
      ]
      let row = try #require(try rows(context, properties).first)
      #expect(row["all"] == 12 && row["count(salary)"] == 9)
      #expect(row["total"] == .double(510) && row["average(age)"] == .double(21))
      #expect(row["min(name)"] == "e0" && row["max:(employeeID)"] == 11 && row["ages"] == 3)
      #expect(row["@sum.age"] == 252 && row["median(employeeID)"] == .double(5.5))
      guard case .double(let mean)? = row["mean"] else {
        Issue.record("\(row)")
        return
      }
      #expect(abs(mean - 510.0 / 9) < 1e-9)
      let none = try rows(context, properties, where: "age > 100")
      #expect(none.count == 1)
      #expect(none[0]["all"] == 0 && none[0]["total"] == 0 && none[0]["average(age)"] == .null)
    }
  }

  @Test("Groups can be filtered and sorted")
  func groupsHaveConditionsAndAnOrder() throws {
    try use { (_, context, _) throws in
      let properties: [PropertyPath] = [
        "company.name AS company", "@count AS people", "sum(salary) AS total",
      ]
      let all = try rows(context, properties, by: ["company.name"], sorted: ["-company"])
      #expect(all.map { $0["company"] } == ["Foo", "Bar", .null])
      #expect(all.map { $0["people"] } == [6, 5, 1])
      #expect(all.map { $0["total"] } == [.double(200), .double(200), .double(110)])
      let large = try rows(
        context, properties, by: ["company.name"], having: "people > \(3) AND max(age) == 22",
        sorted: ["-people"])
      #expect(large.map { $0["company"] } == ["Foo", "Bar"])
      let named = try rows(
        context, properties, by: ["company.name"], having: "company BEGINSWITH[c] 'f'")
      #expect(named.map { $0["people"] } == [6])
      let part = try rows(
        context, properties, by: ["company.name"], sorted: ["-@count"], limit: 1, offset: 1)
      #expect(part.map { $0["company"] } == ["Bar"])
      let computed = try rows(context, ["age % 2 AS odd", "@count AS n"], by: ["age % 2"])
      #expect(computed == [["odd": 0, "n": 8], ["odd": 1, "n": 4]])
      let empty = try rows(context, properties, by: ["company.name"], where: "age > 100")
      #expect(empty.isEmpty)
    }
  }

  @Test("Rows include pending changes")
  func pendingChangesAreSeen() throws {
    try use { (_, context, employees) throws in
      employees[0].age = 99
      context.delete(employees[1])
      employees[2].company = nil
      let fresh = context.insert(Employee.self)
      fresh.company = employees[3].company
      let found = try rows(
        context, ["company.name AS company", "@count AS n", "max(age) AS oldest"],
        by: ["company.name"], sorted: ["company"])
      #expect(found.map { $0["n"] } == [2, 5, 5])
      #expect(found.map { $0["oldest"] } == [22, 22, 99])
      employees[3].company?.name = "Baz"
      let names = try rows(context, ["company.name"], sorted: ["company.name"], distinct: true)
      #expect(names.map { $0["company.name"] } == [.null, "Baz", "Foo"])
    }
  }

  @Test("Invalid properties and groups are reported")
  func mistakesAreNamed() throws {
    try use { (_, context, _) throws in
      func code(_ properties: [PropertyPath], by groups: [PropertyPath] = []) throws -> ArborError {
        try failure { _ = try rows(context, properties, by: groups) }
      }
      #expect(try code(["agee"]).code == .invalidPredicate)
      #expect(try code(["age +"]).location != nil)
      #expect(try code(["name", "age AS name"]).code == .invalidArgument)
      #expect(try code(["name", "@count"]).keyPath == "name")
      #expect(try code(["age", "@count"], by: ["name"]).code == .invalidArgument)
      #expect(try code(["sum(name)"]).code == .invalidPredicate)
      #expect(try code(["name AS"]).code == .invalidPredicate)
      #expect(try code(["name age"]).code == .invalidPredicate)
      let unknown = try failure {
        _ = try rows(context, ["@count AS n"], by: ["name"], having: "m > 3")
      }
      #expect(unknown.keyPath == "m")
    }
  }

  @Test("Random groups agree with an oracle")
  func randomGroupsAgreeWithAnOracle() throws {
    var random = SeededRandom()
    try use { (_, context, employees) throws in
      for index in 0..<200 {
        let employee = context.insert(Employee.self)
        employee.employeeID = Int64(100 + index)
        employee.age = Int.random(in: 18...25, using: &random)
        employee.nick = Int.random(in: 0..<3, using: &random) == 0 ? nil : "n\(index % 4)"
        employee.salary = Bool.random(using: &random) ? Double(index % 9) : nil
        employee.company = employees[index % 2].company
      }
      try context.commit()
      let all = try context.fetch(Employee.self)
      let keys: [(text: String, of: (Employee) -> PropertyValue)] = [
        ("age", { .integer(Int64($0.age)) }),
        ("nick", { $0.nick.map(PropertyValue.string) ?? .null }),
        ("company.name", { $0.company.map { .string($0.name) } ?? .null }),
      ]
      for _ in 0..<30 {
        let chosen = keys.shuffled(using: &random).prefix(.random(in: 1...3, using: &random))
        let least = Int.random(in: 0..<20, using: &random)
        let expected = Dictionary(grouping: all) { employee in chosen.map { $0.of(employee) } }
          .filter { $0.value.count > least }
        let found = try rows(
          context, chosen.map { PropertyPath($0.text) } + ["@count AS n", "sum(salary) AS total"],
          by: chosen.map { PropertyPath($0.text) }, having: "n > \(least)", sorted: ["-n"])
        #expect(found.count == expected.count, "seed \(random.seed)")
        var last = Int64.max
        for row in found {
          let key = chosen.map { row[$0.text] ?? .null }
          let members = expected[key] ?? []
          #expect(row["n"] == .integer(Int64(members.count)), "seed \(random.seed)")
          let salaries = members.compactMap(\.salary)
          #expect(
            row["total"] == (salaries.isEmpty ? 0 : .double(salaries.reduce(0, +))),
            "seed \(random.seed)")
          guard case .integer(let count)? = row["n"] else { continue }
          #expect(count <= last)
          last = count
        }
      }
    }
  }
}
