import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ManagedObjectDynamicTests {
  @Test("Properties are accessed by name")
  func valuesByName() throws {
    try ObjectStore.use(StaffModel.make()) { store in
      let context = store.makeContext()
      let employee = try context.insert("Employee")
      let company: ManagedObject? = try context.insert("Company")
      #expect(employee["name"] == "nobody")
      #expect(employee["age"] == 18)
      employee["age"] = 41
      let name = "Mary"
      employee["name"] = name
      employee["company"] = company
      employee["salary"] = 3
      let age: Int = employee["age"]
      let salary: Double? = employee["salary"]
      let hired: Date? = employee["hired"]
      #expect(age == 41 && salary == 3 && hired == nil)
      let same: ManagedObject? = employee["company"]
      #expect(same === company)
      let staff: [ManagedObject] = try #require(company)["employees"]
      #expect(staff == [employee])
      #expect(try employee.value(forKey: "company") == .objectID(try #require(company).objectID))
      employee["company"] = nil
      #expect(employee["company"] == PropertyValue.null)
      try company?.objects(forKey: "employees").replaceAll(with: [employee])
      #expect(try employee.object(forKey: "company") === company)
      try context.commit()
      #expect(try context.fetchOne("Employee", matching: "name == \(name)") === employee)
    }
  }

  @Test("Unknown names and values of the wrong type throw")
  func mistakesThrow() throws {
    try ObjectStore.use(StaffModel.make()) { store in
      let context = store.makeContext()
      let employee = try context.insert("Employee")
      let company = try context.insert("Company")
      let unknown = try failure { _ = try employee.value(forKey: "agee") }
      #expect(unknown.code == .unknownName && unknown.message.contains("age?"))
      let type = try failure { try employee.setValue("x", forKey: "age") }
      #expect(type.code == .typeMismatch && type.keyPath == "age" && type.entity == "Employee")
      #expect(!type.message.contains("x\""))
      #expect(try failure { try employee.setValue(70000, forKey: "age") }.code == .typeMismatch)
      let wrong = try failure { try employee.setObject(employee, forKey: "company") }
      #expect(wrong.code == .typeMismatch)
      let foreign = store.makeContext()
      #expect(
        try failure { try employee.setObject(foreign.insert("Company"), forKey: "company") }.code
          == .invalidArgument)
      #expect(
        try failure { try company.objects(forKey: "employees").insert(company) }.code
          == .typeMismatch)
      #expect(
        try failure { _ = try employee.objects(forKey: "company").fetch() }.code == .typeMismatch)
      #expect(employee["age"] == 18 && employee["company"] == PropertyValue.null)
      #expect(try failure { _ = try context.insert("Employe") }.message.contains("Employee?"))
    }
  }

  @Test("A list of object IDs sets the members of a relationship")
  func listsOfIDsAreMembers() throws {
    try ObjectStore.use(StaffModel.make()) { store in
      let context = store.makeContext()
      let company = try context.insert("Company")
      let staff = try (0..<3).map { _ in try context.insert("Employee") }
      company["employees"] = .list(staff.map { .objectID($0.objectID) })
      #expect(staff.allSatisfy { $0["company"] == .objectID(company.objectID) })
      #expect(company["employees"] == .list(staff.map { .objectID($0.objectID) }))
      try company.objects(forKey: "employees").remove(staff[1])
      #expect(try company.objects(forKey: "employees").count() == 2)
      company["employees"] = .null
      #expect(try company.objects(forKey: "employees").fetch() == [])
      #expect(
        try failure { try company.setValue(.list([1]), forKey: "employees") }.code == .typeMismatch)
    }
  }

  @Test("Values are read along key paths")
  func keyPathsWalk() throws {
    try ObjectStore.use(StaffModel.make()) { store in
      let context = store.makeContext()
      let company = try context.insert("Company")
      company["companyName"] = "Foo"
      for age in [20, 30] {
        let employee = try context.insert("Employee")
        employee["age"] = age
        employee["company"] = company
      }
      let employee = try #require(try company.objects(forKey: "employees").fetch().first)
      #expect(try employee.value(forKeyPath: "company.companyName") == "Foo")
      #expect(try employee.value(forKeyPath: "company.employees.age") == [20, 30])
      #expect(try company.value(forKeyPath: "employees.@count") == 2)
      employee["company"] = nil
      #expect(try employee.value(forKeyPath: "company.companyName") == .null)
      #expect(try failure { _ = try employee.value(forKeyPath: "age.x") }.code == .typeMismatch)
      #expect(try failure { _ = try employee.value(forKeyPath: "agg.x") }.code == .unknownName)
    }
  }

  @Test("An unknown name in a subscript stops the process")
  func unknownNamesStopTheSubscript() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = try PersistentStore(model: StaffModel.make(), at: .inMemory)
      _ = try store.makeContext().insert("Employee")["nam"] as PropertyValue
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("no property nam"))
  }
}
