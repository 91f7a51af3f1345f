import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct QueryTests {
  private func use(
    _ body: (PersistentStore, ManagedObjectContext, [Employee]) throws -> Void
  ) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let company = context.insert(Company.self)
      company.name = "Foo"
      let employees: [Employee] = (0..<10).map { index in
        let employee = index > 6 ? context.insert(Manager.self) : context.insert(Employee.self)
        (employee.name, employee.age) = ("e\(index)", 20 + index / 2)
        employee.employeeID = Int64(index)
        if index > 0 { employee.salary = Double(index) * 100 }
        if index % 2 == 0 { employee.company = company }
        return employee
      }
      try context.commit()
      try body(store, context, employees)
    }
  }

  @Test("Averages and medians of decimals are decimals")
  func averagesOfDecimalsAreExact() throws {
    try use { (_, context, employees) throws in
      for (employee, bonus) in zip(employees.suffix(3), [10, 20, 11] as [Decimal]) {
        let manager = try #require(employee as? Manager)
        manager.bonus = bonus
      }
      let all = context.objects(Manager.self)
      let mean = try all.value(of: .average(\.bonus))
      let middle = try all.value(of: .median(\.bonus))
      let named: PropertyValue? = try all.value(of: .average("bonus"))
      #expect(mean == Decimal(41) / 3 && middle == 11)
      #expect(named == mean.map(PropertyValue.decimal))
      #expect(mean.map { "\($0)".count > 30 } == true)
      // Averages of other numbers are floating-point numbers.
      let age = try all.value(of: .average(\.age))
      #expect(age == 71.0 / 3)
    }
  }

  @Test("Each query step returns a new query")
  func everyStepIsANewQuery() throws {
    try use { (_, context, employees) throws in
      let all = context.objects(Employee.self)
      let old = all.filter("age >= \(22)")
      let sorted = old.order(by: "-age", "name")
      #expect(try all.fetch() == employees)
      #expect(try old.count() == 6)
      #expect(try sorted.fetch().map(\.name) == ["e8", "e9", "e6", "e7", "e4", "e5"])
      #expect(try sorted.limit(2).fetch().map(\.name) == ["e8", "e9"])
      #expect(try sorted.offset(1).limit(2).fetch().map(\.name) == ["e9", "e6"])
      #expect(
        try sorted.filter("age < 24").exclude("name == 'e7'").fetch().map(\.name) == [
          "e6", "e4", "e5",
        ])
      #expect(try sorted.order(by: []).fetch() == Array(employees[4...]))
      #expect(try sorted.fetchIDs() == sorted.fetch().map(\.objectID))
      #expect(try context.objects("Employee").order(by: "name").first() === employees[0])
      #expect(try all.includingSubentities(false).count() == 7)
      #expect(try all.explain().access.kind == .scan)
    }
  }

  @Test("Excluding returns the objects that filtering omits")
  func excludingIsTheOppositeOfFiltering() throws {
    try use { (_, context, employees) throws in
      let all = context.objects(Employee.self)
      // The salary of the first employee is `nil`, which isn't greater than anything.
      #expect(try all.exclude("salary > 100").fetch() == Array(employees[0...1]))
      for text in ["salary > 100", "age == 22 OR name == 'e1'", "company == nil"] {
        let predicate = try FetchPredicate(format: text)
        let both = try all.filter(predicate).fetch() + all.exclude(predicate).fetch()
        #expect(Set(both) == Set(employees) && both.count == 10)
      }
    }
  }

  @Test("The first and last objects are those of the fetched array")
  func firstAndLastAreThoseOfTheArray() throws {
    try use { (_, context, _) throws in
      let all = context.objects(Employee.self)
      for keys: [SortKey] in [[], ["age"], ["-age"], ["salary"], ["-salary", "age"], ["company"]] {
        for predicate: FetchPredicate in ["age > 21", "age < 0", "name != 'e9'"] {
          for (limit, offset) in [(0, 0), (3, 0), (0, 2), (2, 1), (2, 50)] {
            let query = all.filter(predicate).order(by: keys).limit(limit).offset(offset)
            let array = try query.fetch()
            #expect(try query.first() === array.first, "\(keys) \(predicate) \(limit) \(offset)")
            #expect(try query.last() === array.last, "\(keys) \(predicate) \(limit) \(offset)")
            #expect(try query.isEmpty() == array.isEmpty)
            #expect(try query.count() == array.count)
          }
        }
      }
    }
  }

  @Test("Aggregates are returned as values or as Swift types")
  func aggregatesAreValuesOrSwiftTypes() throws {
    try use { (_, context, _) throws in
      let all = context.objects(Employee.self)
      #expect(try all.value(of: .minimum("age")) == 20)
      #expect(try all.value(of: .maximum("age")) == .integer(24))
      #expect(try all.value(of: .average("age")) == .double(22))
      #expect(try all.limit(3).value(of: .average("age")) == .double(61.0 / 3))
      #expect(try all.value(of: .sum("salary")) == .double(4500))
      let oldest: Int? = try all.value(of: .maximum("age"))
      let mean: Double? = try all.value(of: .average("age"))
      let total: Double? = try all.value(of: .sum("age"))
      let whole: Int? = try all.value(of: .sum("salary"))
      let exact: Decimal? = try all.value(of: .sum("salary"))
      let name: String? = try all.value(of: .minimum("name"))
      let chief: String? = try all.value(of: .maximum("company.name"))
      #expect(oldest == 24 && mean == 22 && total == 220 && whole == 4500 && exact == 4500)
      #expect(name == "e0" && chief == "Foo")
      #expect(try all.value(of: .function("average", of: "salary")) == .double(500))
      #expect(try all.value(of: .function("count", of: "salary")) == .integer(9))
      let least: Int64? = try all.value(of: .minimum("employeeID"))
      #expect(least == 0)
      let figures = try all.values(
        of: .count, .countDistinct("age"), .count("company"), .maximum("age"))
      #expect(figures.0 == 10 && figures.1 == 5 && figures.2 == 5 && figures.3 == 24)
    }
  }

  @Test("Statistics agree with the functions of the predicate language")
  func statisticsAreThoseOfTheLanguage() throws {
    try use { (_, context, employees) throws in
      let all = context.objects(Employee.self)
      employees[0].age = 23
      for path in ["age", "salary", "employeeID", "company.employees.@count", "age * 2"] {
        let row = try #require(
          try all.rows("median(\(path)) AS m", "mode(\(path)) AS o", "stddev(\(path)) AS s").first)
        #expect(try all.value(of: .median(path)) == row["m"])
        #expect(try .list(all.value(of: .mode(path))) == row["o"])
        #expect(try all.value(of: .standardDeviation(path)) == row["s"])
        let figures = try all.values(of: .median(path), .mode(path), .standardDeviation(path))
        #expect(figures.0 == row["m"] && .list(figures.1) == row["o"] && figures.2 == row["s"])
        #expect(try all.value(of: .function("stddev", of: path)) == row["s"])
      }
      #expect(try all.limit(3).value(of: .median("employeeID")) == 1)
      let ages = try all.value(of: .mode(\.age))
      let salaries = try all.value(of: .mode(\.salary))
      #expect(ages == [23] && salaries.count == 9)
      let middle = try all.value(of: .median(\.employeeID))
      let some = try all.value(of: .median(\.salary))
      let spread = try all.value(of: .standardDeviation(\.salary))
      #expect(middle == 4.5 && some == 500)
      #expect(try spread == all.value(of: .standardDeviation("salary")))
      let names: [String] = try all.value(of: .mode("company.name"))
      #expect(names == ["Bar", "Foo"] || names == ["Foo"] || names == ["Bar"])
      let whole: Int? = try all.filter("employeeID < 3").value(of: .median("employeeID"))
      #expect(whole == 1)
      #expect(try failure { _ = try all.value(of: .median("name")) }.code == .typeMismatch)
      let none = all.filter("age > 100")
      #expect(try none.value(of: .median("age")) == nil && none.value(of: .mode("age")).isEmpty)
      #expect(try none.value(of: .standardDeviation(\.age)) == nil)
    }
  }

  @Test("Aggregates of no objects are zero or nil")
  func aggregatesOfNothing() throws {
    try use { (_, context, _) throws in
      let none = context.objects(Employee.self).filter("age > 100")
      #expect(try none.value(of: .sum("age")) == 0)
      #expect(try none.value(of: .sum("salary")) == 0)
      #expect(try none.value(of: .minimum("age")) == nil)
      #expect(try none.value(of: .average("salary")) == nil)
      let oldest: Int? = try none.value(of: .maximum("age"))
      let total: Double? = try none.value(of: .sum("salary"))
      #expect(oldest == nil && total == 0)
      #expect(
        try none.isEmpty() && none.first() == nil && none.last() == nil && none.fetchIDs().isEmpty)
    }
  }

  @Test("Aggregates include pending changes")
  func aggregatesSeePendingChanges() throws {
    try use { (_, context, employees) throws in
      employees[9].age = 90
      employees[8].salary = nil
      context.delete(employees[7])
      context.insert(Employee.self).age = 3
      let all = context.objects(Employee.self)
      let (people, least, greatest) = try all.values(of: .count, .minimum(\.age), .maximum(\.age))
      #expect(people == 10 && least == 3 && greatest == 90)
      #expect(try all.value(of: .sum("salary")) == .double(4500 - 800 - 700))
    }
  }

  @Test("Unknown names and type mismatches are reported")
  func mistakesAreNamed() throws {
    try use { (_, context, _) throws in
      let all = context.objects(Employee.self)
      #expect(try failure { _ = try all.value(of: .minimum("agee")) }.code == .unknownName)
      #expect(try failure { _ = try all.value(of: .sum("name")) }.code == .typeMismatch)
      #expect(
        try failure { _ = try all.value(of: .function("medium", of: "age")) }.message.contains(
          "medium")
      )
      #expect(try failure { _ = try all.filter("age >").count() }.location != nil)
      #expect(try failure { _ = try all.order(by: "nme").first() }.code == .unknownName)
      #expect(try failure { _ = try all.grouped(by: "nme") }.code == .unknownName)
      #expect(try failure { _ = try context.objects("Employe").isEmpty() }.code == .unknownName)
      let wrong = try failure {
        let text: String? = try all.value(of: .maximum("age"))
        Issue.record("\(text ?? "nil") is no number.")
      }
      #expect(wrong.code == .typeMismatch)
    }
  }

  @Test("Groups keep the order of the query")
  func groupsKeepTheOrder() throws {
    try use { (_, context, employees) throws in
      let byAge = try context.objects(Employee.self).order(by: "-name").grouped(by: "age")
      #expect(byAge.count == 5)
      #expect(byAge[22] == [employees[5], employees[4]])
      let typed = try context.objects(Employee.self).grouped(by: \.age)
      #expect(typed[22] == [employees[4], employees[5]])
      let byCompany = try context.objects(Employee.self).grouped(by: "company")
      let company = try #require(employees[0].company)
      #expect(byCompany[.objectID(company.objectID)]?.count == 5)
      #expect(byCompany[.null]?.count == 5)
      let byName = try context.objects(Employee.self).grouped(by: "company.name")
      #expect(byName["Foo"]?.count == 5)
    }
  }

  @Test(
    "A plan notes a LIKE with the wildcard of SQL, which is an ordinary character",
    arguments: ["%x%", "x%", "%x", "%"])
  func foreignWildcardsAreNoted(_ pattern: String) throws {
    try use { (_, context, employees) throws in
      employees[3].name = pattern
      let all = context.objects(Employee.self)
      let named = all.filter("name LIKE \(pattern)")
      #expect(try named.fetch() == [employees[3]])
      let queries = [
        named, all.filter("NOT (age > 20 AND name LIKE[c] \(pattern))"),
        all.filter(try FetchPredicate(format: "name LIKE '\(pattern)'")),
        all.filter("SUBQUERY(friends, $f, $f.name LIKE \(pattern)).@count == 0"),
        all.filter("ANY friends.name LIKE \(pattern)"),
      ]
      let note = "In a LIKE pattern, % is an ordinary character. Write * for any run of characters."
      for query in queries {
        let plan = try query.explain()
        #expect(plan.notes == [note], "\(plan)")
        #expect("\(plan)".hasSuffix("\nnote: \(note)"))
      }
    }
  }

  @Test("A plan has no note about patterns with wildcards, and about other operators")
  func ordinaryPatternsAreNotNoted() throws {
    try use { (_, context, _) throws in
      for text in [
        "name LIKE 'x'", "name LIKE '*x*'", "name LIKE '50%*'", "name LIKE '%?'",
        "name LIKE 'x%y'", "name == '%x%'", "name CONTAINS '%'", "name LIKE nick",
      ] {
        let query = context.objects(Employee.self).filter(try FetchPredicate(format: text))
        #expect(try query.explain().notes == [], "\(text)")
      }
    }
  }

  @Test("Updates are visible at once and stored by the next commit")
  func updatesAreSeenAtOnceAndCommitted() throws {
    try use { (store, context, employees) throws in
      let young = context.objects(Employee.self).filter("age < 22")
      #expect(try young.update(["age": 41, "nick": "old", "salary": nil]) == 4)
      #expect(try young.isEmpty())
      #expect(try context.objects(Employee.self).filter("age == 41").count() == 4)
      #expect(employees[0].nick == "old" && employees[1].salary == nil)
      #expect(try store.makeContext().objects(Employee.self).filter("age == 41").isEmpty())
      try context.commit()
      #expect(try store.makeContext().objects(Employee.self).filter("age == 41").count() == 4)

      let other = context.insert(Company.self)
      try context.objects(Employee.self).filter("age == 41").update(["company": other])
      #expect(other.employees == Set(employees[0..<4]))
      try context.objects(Employee.self).update(["company": PropertyValue.null])
      #expect(other.employees.isEmpty)
      context.delete(other)
      try context.commit()
    }
  }

  @Test("A property path can be used wherever a string names a property")
  func propertyPaths() throws {
    try use { (_, context, employees) throws in
      let all = context.objects(Employee.self)
      let age = PropertyPath(\Employee.age)
      let ages = try all.rows(age, "@count AS n", groupedBy: [age], having: "n > 1")
      #expect(Set(ages.map { $0["age"]?.int }) == [20, 21, 22, 23, 24])
      let names = try all.filter("age == 20").rows(PropertyPath(\Employee.company?.name))
      #expect(names.map { $0["company.name"] } == ["Foo", .null])
      #expect(
        try context.insertOrFetch(Employee.self, where: [PropertyPath(\Employee.name): "e3"])
          === employees[3])
      let changed = try context.upsert(
        Employee.self, matching: ["name": "e3"], values: [age: 60, "salary": nil])
      #expect(changed === employees[3] && changed.age == 60 && changed.salary == nil)
      #expect(employees[3].committedValues(for: [age]) == ["age": 21])
      #expect(try all.filter("age == 60").update([age: 61]) == 1 && employees[3].age == 61)
      let wrong = PropertyPath(\Employee.name.count)
      let refused: [() throws -> Void] = [
        { _ = try all.rows(wrong) }, { _ = try all.rows("@count", groupedBy: [wrong]) },
        { _ = try all.update([wrong: 3]) },
        { _ = try context.insertOrFetch(Employee.self, where: [wrong: 3]) },
        { _ = try context.upsert(Employee.self, matching: [age: 61], values: [wrong: 3]) },
      ]
      for operation in refused {
        #expect(try failure(of: operation).code == .invalidPredicate)
      }
      #expect(employees[3].committedValues(for: [wrong]).isEmpty)
    }
  }

  @Test("A failing update changes nothing")
  func anUpdateThatFailsChangesNothing() throws {
    try use { (_, context, employees) throws in
      let all = context.objects(Employee.self)
      for values: [PropertyPath: PropertyValue] in [
        ["agee": 3], ["age": "old"], ["age": 100_000], ["company": 3], ["name": "x", "age": "y"],
        ["skills": [1]], ["tasks": "x"],
      ] {
        let error = try failure { _ = try all.update(values) }
        #expect(error.code == .unknownName || error.code == .typeMismatch)
        #expect(try failure { _ = try all.filter("age < 0").update(values) }.code == error.code)
      }
      // A company isn't a badge, which is detected at the first object.
      let company = try #require(employees[0].company)
      #expect(throws: ArborError.self) { try all.update(["name": "x", "badge": company]) }
      #expect(!context.hasChanges && employees[0].name == "e0")
    }
  }

  @Test("Deleting the objects of a query follows the delete rules")
  func deletingFollowsTheRules() throws {
    try use { (store, context, employees) throws in
      let badge = context.insert(Badge.self)
      employees[0].badge = badge
      try context.commit()
      let first = context.objects(Employee.self).filter("employeeID < 3")
      #expect(try first.delete() == 3)
      #expect(try context.objects(Employee.self).count() == 7)
      #expect(badge.isDeleted)
      #expect(try store.makeContext().objects(Employee.self).count() == 10)
      context.rollback()
      #expect(try first.count() == 3)
      try context.objects(Employee.self).order(by: "-employeeID").limit(2).delete()
      try context.commit()
      #expect(try store.makeContext().objects(Employee.self).count() == 8)
      #expect(try context.objects("Employee").filter("age > 100").delete() == 0)
    }
  }

  @Test("Queries accept typed predicates, orders and aggregates")
  func typedStepsAndAggregates() throws {
    try use { (_, context, employees) throws in
      let all = context.objects(Employee.self)
      let limit = 23
      let some = all.filter(#Predicate { $0.age < limit }).exclude(#Predicate { $0.name == "e1" })
      #expect(try some.fetch() == [employees[0]] + employees[2..<6])
      #expect(try some.order(by: "-age").first() === employees[4])
      let oldest = try all.value(of: .maximum(\.age))
      let least = try all.value(of: .minimum(\.salary))
      let total: Double = try all.value(of: .sum(\.salary))
      let ages = try all.value(of: .sum(\.age))
      let mean = try all.value(of: .average(\.age))
      #expect(oldest == 24 && least == 100 && total == 4500 && ages == 220 && mean == 22)
      #expect(try all.filter("age > 100").value(of: .sum(\.age)) == 0)
      #expect(try all.filter("age > 100").value(of: .average(\.salary)) == nil)
      // Unsupported conditions throw when a result is requested.
      let calls = all.filter(#Predicate { $0.calls.isEmpty })
      #expect(try failure { _ = try calls.count() }.code == .invalidPredicate)
      #expect(
        try failure {
          _ = try all.exclude("age > 3").filter(#Predicate { $0.calls.isEmpty }).fetch()
        }
        .code == .invalidPredicate)
      #expect(
        try failure { _ = try all.value(of: .maximum(\.name.count)) }.code == .invalidPredicate)
    }
  }

  @Test("Expressions and members can be aggregated")
  func aggregatesOfExpressionsAndCollections() throws {
    try use { (_, context, employees) throws in
      let companies = context.objects(Company.self)
      #expect(try companies.value(of: .maximum("employees.@count")) == 5)
      #expect(try companies.value(of: .sum("employees.@sum.age")) == .integer(110))
      #expect(try companies.value(of: .average("employees.@avg.age")) == .double(22))
      #expect(try context.objects(Employee.self).value(of: .maximum("age * 2 + 1")) == 49)
      employees[0].company = nil
      #expect(try companies.value(of: .maximum("employees.@count")) == 4)
      #expect(
        try failure { _ = try companies.value(of: .sum("employees.age")) }.code == .invalidArgument)
      #expect(
        try failure { _ = try companies.value(of: .sum("@nothing")) }.code == .invalidPredicate)
      #expect(
        try failure { _ = try companies.value(of: .sum("employees.@count AS n")) }.code
          == .invalidArgument)
      let rows = try context.objects(Employee.self).order(by: "age")
        .rows("age", "@count AS n", groupedBy: ["age"], having: "n > 1")
      #expect(rows.map { $0["age"] } == [20, 21, 22, 23, 24])
    }
  }

  @Test("Key paths and typed predicates are accepted wherever names and texts are")
  func typedSpellings() throws {
    try use { (_, context, employees) throws in
      let all = context.objects(Employee.self)
      let company = try #require(employees[0].company)
      #expect(try context.count(Employee.self, matching: #Predicate { $0.company == company }) == 5)
      #expect(
        try context.fetch(
          Employee.self, matching: #Predicate { $0.age > 23 },
          sortedBy: [.descending(\Employee.name)])
          == [employees[9], employees[8]])
      #expect(
        try context.fetchOne(Employee.self, matching: #Predicate { $0.name == "e3" })
          == employees[3])
      var request = FetchRequest(
        predicate: #Predicate<Employee> { $0.company == company },
        sortKeys: [SortKey(\Employee.age)])
      request.limitPerGroup = GroupLimit(
        2, per: \Employee.company, by: [.descending(\Employee.age)])
      request.relationshipKeyPathsForPrefetching = [
        PropertyPath(\Employee.company), PropertyPath(\Employee.manager?.company),
      ]
      #expect(request.relationshipKeyPathsForPrefetching == ["company", "manager.company"])
      #expect(try context.fetch(request) == [employees[6], employees[8]])
      let oldest = all.top(1, per: \.company, by: .descending(\Employee.age), "-name")
      #expect(try Set(oldest.prefetching(\.company).fetch()) == [employees[8], employees[9]])
      let counts = try all.values(of: .count(\.company), .countDistinct(\.age))
      #expect(counts.0 == 5 && counts.1 == 5)
      let results = try context.fetchedResults(
        FetchRequest<Employee>(sortKeys: ["name"]), sectionedBy: \.company)
      #expect(results.sections.map(\.count) == [5, 5])
      #expect(try all.filter(#Predicate { $0.age == 20 }).update(\.age, to: 41) == 2)
      #expect(try all.filter(#Predicate { $0.age == 41 }).update(\.salary, to: nil) == 2)
      #expect(employees[1].age == 41 && employees[1].salary == nil)
    }
  }

  @Test("A key path of an unmodelled property makes its operation throw")
  func unmodelledKeyPaths() throws {
    try use { (_, context, _) throws in
      let all = context.objects(Employee.self)
      let refused: [() throws -> Void] = [
        { _ = try all.prefetching(\.calls).fetch() },
        { _ = try all.top(1, per: \.calls).fetch() },
        { _ = try all.value(of: .count(\.calls)) },
        { _ = try context.fetchedResults(all.request, sectionedBy: \.calls) },
        { _ = try context.count(Employee.self, matching: #Predicate { $0.calls.isEmpty }) },
      ]
      for operation in refused {
        #expect(try failure(of: operation).code == .invalidPredicate)
      }
    }
  }

  @Test("A query keeps its context alive")
  func aQueryKeepsItsContext() throws {
    try use { (store, _, _) throws in
      let names = try store.makeContext().objects(Employee.self).order(by: "name").fetch().map(
        \.name)
      #expect(names.first == "e0" && names.count == 10)
    }
  }

  @Test("A query's cursor visits every object once")
  func everyObjectIsMetOnce() throws {
    try use { (_, context, employees) throws in
      var query = context.objects(Employee.self)
      var met: [Employee] = []
      var cursor = try query.cursor()
      while let employee = try cursor.next() { met.append(employee) }
      #expect(met == employees)
      met = []
      query = query.order(by: "-age", "name").filter("age > 20")
      cursor = try query.cursor()
      while let employee = try cursor.next() { met.append(employee) }
      #expect(try met == query.fetch())
    }
  }
}
