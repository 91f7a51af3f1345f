import ArborModel
import ArborObjects
import TestSupport
import Testing

/// Faults of objects that another context deletes before their values are loaded.
@Suite struct MissingObjectTests {
  /// Calls `body` with a context that holds a fault of an employee whom another context has deleted.
  private func use(_ body: (ManagedObjectContext, Employee, Company) throws -> Void) throws {
    try ObjectStore.useOffice { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      let (company, ada) = (there.insert(Company.self), there.insert(Employee.self))
      (ada.name, ada.company) = ("Ada", company)
      try there.commit()
      let same = try #require(try here.object(with: company.objectID) as? Company)
      _ = same.name
      let fault = try #require(try here.object(with: ada.objectID) as? Employee)
      there.delete(ada)
      try there.commit()
      try body(here, fault, same)
    }
  }

  @Test("A fault whose object is gone reads as blank and deleted, and nothing else fails")
  func faultsBecomeBlank() throws {
    try use { context, fault, company in
      #expect(fault.isFault && !fault.isDeleted)
      #expect(fault.name == "" && fault.age == 18 && fault.company == nil && fault.skills.isEmpty)
      #expect(fault.isDeleted && fault["name"] == PropertyValue.string(""))
      company.name = "one"
      #expect(try context.count(Employee.self) == 0)
      #expect(try context.mergeExternalCommits() == false)
      #expect(fault.isDeleted && fault.context == nil)
      try context.commit()
      #expect(try context.store.makeContext().fetch(Company.self).map(\.name) == ["one"])
    }
  }

  @Test("Merging commits goes on after a fault was found to be gone")
  func mergingGoesOn() throws {
    try use { context, fault, company in
      let results = try context.fetchedResults(FetchRequest<Employee>(sortKeys: ["name"]))
      for round in 0..<3 {
        #expect(fault.name == "" && fault.isDeleted)
        let other = context.store.makeContext()
        let new = other.insert(Employee.self)
        new.name = "\(round)"
        new.company = try other.object(with: company.objectID) as? Company
        try other.commit()
        #expect(try context.mergeExternalCommits())
        #expect(results.objects.map(\.name) == (0...round).map(String.init))
        #expect(company.employees.count == round + 1)
      }
    }
  }

  @Test("Accessors that throw report an object that is gone")
  func throwingAccessorsReport() throws {
    try use { context, fault, _ in
      for _ in 0..<2 {
        let error = try failure { _ = try fault.value(forKey: "name") }
        #expect(error.code == .objectNotFound && error.objectID == fault.objectID)
      }
      #expect(try context.count(Employee.self) == 0)
    }
  }

  @Test("A change of an object that is gone is reported by the next operation")
  func lostChangesAreReported() throws {
    try use { context, fault, _ in
      fault.name = "Eve"
      #expect(try failure { try context.commit() }.code == .objectNotFound)
      context.rollback()
      try context.commit()
      #expect(fault.isDeleted)
    }
  }

  @Test("An object that another context restores is alive again")
  func restoredObjectsAreAlive() throws {
    try ObjectStore.useOffice { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      there.undoHistory = UndoHistory()
      let ada = there.insert(Employee.self)
      ada.name = "Ada"
      try there.commit()
      here.automaticallyMergesCommits = false
      let fault = try #require(try here.object(with: ada.objectID) as? Employee)
      there.delete(ada)
      try there.commit()
      #expect(fault.name == "" && fault.isDeleted)
      there.undo()
      try there.commit()
      #expect(fault.name == "Ada" && !fault.isDeleted)
      #expect(try here.fetch(Employee.self) == [fault])
    }
  }
}
