import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ManagedObjectTests {
  @Test("Typed properties survive a commit")
  func typedPropertiesSurviveACommit() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let company = context.insert(Company.self)
      company.name = "Foo Inc."
      company.founded = Date(timeIntervalSinceReferenceDate: 1234.5)
      let boss = context.insert(Manager.self)
      boss.name = "Ada"
      boss.bonus = Decimal(string: "1234.5678")
      boss.company = company
      let employee = context.insert(Employee.self)
      employee.name = "Größenwahn mit einem sehr langen Namen, der in keinen kleinen String passt"
      employee.nick = "G"
      employee.employeeID = 7
      employee.age = 41
      employee.salary = 1e5
      employee.rank = .senior
      employee.company = company
      employee.manager = boss
      let badge = context.insert(Badge.self)
      badge.code = UUID()
      badge.photo = Data([0, 1, 2, 255])
      badge.page = URL(string: "https://example.com/a?b=c")
      badge.weight = 1.5
      employee.badge = badge
      let id = employee.objectID
      let code = badge.code
      try context.commit()

      let other = store.makeContext()
      let same = try #require(try other.existingObject(with: id) as? Employee)
      #expect(same.name == employee.name)
      #expect(same.nick == "G")
      #expect(same.employeeID == 7)
      #expect(same.age == 41)
      #expect(same.salary == 1e5)
      #expect(same.rank == .senior)
      #expect(same.company?.name == "Foo Inc.")
      #expect(same.company?.founded == Date(timeIntervalSinceReferenceDate: 1234.5))
      #expect(same.manager?.name == "Ada")
      #expect(same.manager?.bonus == Decimal(string: "1234.5678"))
      #expect(same.manager?.reports == [same])
      #expect(same.badge?.code == code)
      #expect(same.badge?.photo == Data([0, 1, 2, 255]))
      #expect(same.badge?.page == URL(string: "https://example.com/a?b=c"))
      #expect(same.badge?.isActive == true)
      #expect(same.badge?.weight == 1.5)
      #expect(same.badge?.employee === same)
      #expect(same.company?.employees.map(\.name).sorted() == ["Ada", employee.name].sorted())
    }
  }

  @Test("New objects have default values, and their state is reported")
  func defaultsAreInPlaceAndStateIsTold() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      #expect(employee.age == 18)
      #expect(employee.rank == .junior)
      #expect(employee.salary == nil)
      #expect(employee.isInserted && !employee.isUpdated && !employee.isDeleted)
      #expect(employee.hasChanges && context.hasChanges)
      #expect(context.insertedObjects == [employee])
      #expect(employee.context === context)
      #expect(employee.entity.name == "Employee")
      try context.commit()
      #expect(!employee.hasChanges && !context.hasChanges && !employee.isInserted)
      employee.age = 19
      #expect(employee.isUpdated && context.updatedObjects == [employee])
      #expect(employee.changedValues() == ["age": 19])
      #expect(employee.committedValues(for: ["age"]) == ["age": 18])
      context.rollback()
      #expect(employee.age == 18 && !employee.isUpdated)
      context.delete(employee)
      #expect(employee.isDeleted && context.deletedObjects == [employee])
      try context.commit()
      #expect(employee.isDeleted && employee.context == nil)
      #expect(employee.age == 18)
      #expect(throws: ArborError.self) { try employee.setValue(4, forKey: "age") }
    }
  }

  @Test("Transient values are kept in memory only")
  func transientValuesLiveInMemoryOnly() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      employee.mood = "glad"
      try context.commit()
      #expect(employee.mood == "glad")
      let other = store.makeContext()
      let same = try #require(try other.existingObject(with: employee.objectID) as? Employee)
      #expect(same.mood == nil)
    }
  }

  @Test("Stored properties of a subclass belong to one object")
  func storedPropertiesOfASubclassAreItsOwn() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      employee.calls = ["mine"]
      #expect(context.insert(Employee.self).calls == [])
      #expect(employee.calls == ["mine"])
    }
  }

  @Test("Changing an object without a context stops the process")
  func changingADetachedObjectStopsWithASentence() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = try PersistentStore(for: Office.classes, at: .inMemory)
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      context.reset()
      employee.age = 3
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("can no longer be changed: its context was deallocated or reset."))
  }
}
