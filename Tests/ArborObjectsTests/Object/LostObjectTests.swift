import ArborModel
import ArborObjects
import Testing

/// Objects that a program still holds although another context has deleted them.
@Suite struct LostObjectTests {
  /// Calls `body` with a context, an object of it that another context has deleted, and an object
  /// that still exists.
  private func use(
    _ body: (ManagedObjectContext, Employee, Company) throws -> Void
  ) throws {
    try ObjectStore.useOffice { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      here.mergePolicy = .mergeByPropertyObjectWins
      let (employee, company) = (here.insert(Employee.self), here.insert(Company.self))
      try here.commit()
      try there.delete(there.existingObject(with: employee.objectID))
      try there.commit()
      _ = here.insert(Employee.self)
      try body(here, employee, company)
    }
  }

  private func message(_ employee: Employee) -> String {
    "\(employee.objectID) can no longer be changed or linked to: another commit deleted it. Treat "
      + "it as deleted."
  }

  @Test("The next operation throws after a deleted object was changed")
  func changesAreReported() throws {
    let changes: [(Employee, Company) -> Void] = [
      { employee, _ in employee.name = "Eve" }, { employee, _ in employee["name"] = "Eve" },
      { employee, company in employee.company = company },
      { employee, company in employee["company"] = company },
      { employee, company in company["employees"] = [employee] },
      { employee, company in company["employees"] = .list([.objectID(employee.objectID)]) },
      { employee, company in company.employees = [employee] },
      { employee, _ in employee["company"] = nil as ManagedObject? },
    ]
    for (index, change) in changes.enumerated() {
      try use { context, employee, company in
        #expect(employee.isDeleted)
        change(employee, company)
        let error = try failure { _ = try context.count(Employee.self) }
        #expect(error.code == .objectNotFound && error.objectID == employee.objectID, "\(index)")
        if index != 5 { #expect(error.message == message(employee)) }
        // The error is thrown once, and the other changes can be committed.
        if index != 5 { try context.commit() }
      }
    }
  }

  @Test("The commit throws after a deleted object was changed")
  func commitsThrow() throws {
    try use { context, employee, _ in
      employee.name = "Eve"
      #expect(try failure { try context.commit() }.message == message(employee))
      try context.commit()
    }
  }

  @Test("Throwing setters throw at once")
  func settersThrow() throws {
    try use { context, employee, company in
      for change in [
        { try employee.setValue("Eve", forKey: "name") },
        { try employee.setObject(company, forKey: "company") },
        { try company.objects(forKey: "employees").insert(employee) },
        { try company.objects(forKey: "employees").replaceAll(with: [employee]) },
      ] as [() throws -> Void] {
        let error = try failure(of: change)
        #expect(error.code == .objectNotFound && error.message == message(employee))
      }
      try context.commit()
      #expect(company.employees.isEmpty)
    }
  }
}
