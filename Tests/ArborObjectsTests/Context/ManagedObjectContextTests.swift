import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

@Suite struct ManagedObjectContextTests {
  @Test("A context has one object per ID")
  func oneObjectPerID() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      #expect(try context.object(with: employee.objectID) === employee)
      #expect(try context.existingObject(with: employee.objectID) === employee)
      try context.commit()
      #expect(try context.fetch(Employee.self).first === employee)
      #expect(context.registeredObject(for: employee.objectID) === employee)
      let other = store.makeContext()
      #expect(other.registeredObject(for: employee.objectID) == nil)
      #expect(try other.object(with: employee.objectID).isFault)
    }
  }

  @Test("Looking up a missing object throws")
  func lookUpsOfWhatIsNotThere() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let id = try store.objectID("Employee", number: 99)
      #expect(try failure { _ = try context.existingObject(with: id) }.code == .objectNotFound)
      let foreign = ObjectID(storeID: UUID(), entityName: "Employee", number: 1)
      #expect(try failure { _ = try context.object(with: foreign) }.code == .invalidArgument)
      let ghost = try #require(try context.object(with: id) as? Employee)
      #expect(!ghost.isDeleted)
      #expect(ghost.age == 18 && ghost.name == "" && ghost.company == nil && ghost.isDeleted)
      #expect(try context.count("Employee") == 0)
      context.insert(Employee.self)
      try context.commit()
      // A change that is lost is reported.
      ghost.age = 40
      let first = try failure { _ = try context.count("Employee") }
      #expect(first.code == .objectNotFound && first.objectID == id)
      #expect(try context.count("Employee") == 1)
      #expect(try failure { try context.commit() }.code == .objectNotFound)
      context.rollback()
      try context.commit()
      let deleted = try #require(try context.fetch(Employee.self).first)
      context.delete(deleted)
      #expect(
        try failure { _ = try context.existingObject(with: deleted.objectID) }.code
          == .objectNotFound)
    }
  }

  @Test("A rollback restores the committed values and links")
  func rollbackBringsBackWhatWasCommitted() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (company, ada) = (context.insert(Company.self), context.insert(Employee.self))
      (ada.name, ada.company) = ("Ada", company)
      let swift = context.insert(Skill.self)
      ada.skills = [swift]
      try context.commit()
      ada.name = "Eve"
      ada.skills = []
      let stray = context.insert(Employee.self)
      stray.company = company
      context.delete(company)
      #expect(context.deletedObjects == [company, ada] && company.employees == [])
      context.rollback()
      #expect(!context.hasChanges && ada.name == "Ada" && ada.company === company)
      #expect(company.employees == [ada] && ada.skills == [swift])
      #expect(stray.context == nil && stray.isDeleted)
      try context.commit()
    }
  }

  @Test("A reset discards changes, and detached objects keep their loaded values")
  func aResetForgetsAndObjectsKeepTheirValues() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let ada = context.insert(Employee.self)
      ada.name = "Ada"
      let bob = context.insert(Employee.self)
      bob.company = context.insert(Company.self)
      context.reset()
      #expect(!context.hasChanges && ada.context == nil && ada.name == "Ada" && !ada.isDeleted)
      #expect(bob.company == nil)
      #expect(try failure { try ada.setValue("x", forKey: "name") }.message.contains("reset"))
      let count = try context.count("Person")
      #expect(count == 0)
    }
  }

  @Test("Loaded values can be read after the context is released")
  func objectsOutliveTheirContext() throws {
    try ObjectStore.useOffice { store in
      var context: ManagedObjectContext? = store.makeContext()
      let ada = try #require(context?.insert(Employee.self))
      ada.name = "Ada"
      try context?.commit()
      context = nil
      #expect(ada.context == nil && ada.name == "Ada" && ada.skills == [] && ada.company == nil)
      #expect(ada.objectID.entityName == "Employee")
    }
  }

  @Test("Operations on a closed store throw, and loaded values can be read")
  func aClosedStoreIsTold() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let ada = context.insert(Employee.self)
      ada.name = "Ada"
      try context.commit()
      let other = store.makeContext()
      let fault = try #require(try other.object(with: ada.objectID) as? Employee)
      store.close()
      #expect(ada.name == "Ada")
      #expect(fault.name == "")
      #expect(try failure { _ = try other.count("Employee") }.code == .closed)
      context.insert(Employee.self)
      #expect(try failure { try context.commit() }.code == .closed)
      #expect(try failure { _ = try context.fetch(Employee.self) }.code == .closed)
    }
  }

  @Test("Unused objects are released, but not those with changes")
  func unusedObjectsAreLetGo() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      for _ in 0..<9000 { context.insert(Employee.self) }
      try context.commit()
      let kept = try context.fetch(
        Employee.self, matching: "SELF == \(store.objectID("Employee", number: 5))")
      kept[0].name = "kept"
      _ = try context.count("Employee")
      #expect(context.registeredObjects.count < 4096)
      #expect(try context.object(with: kept[0].objectID) === kept[0])
      #expect(try context.fetch(Employee.self).count == 9000)
      try context.commit()
    }
  }

  @Test("Reads in a snapshot don't see later commits")
  func snapshotsHoldStill() throws {
    try ObjectStore.useOffice { store in
      let (reader, writer) = (store.makeContext(), store.makeContext())
      try reader.withSnapshot {
        #expect(try reader.count("Employee") == 0)
        writer.insert(Employee.self)
        try writer.commit()
        #expect(try reader.count("Employee") == 0)
      }
      #expect(try reader.count("Employee") == 1)
    }
  }

  @Test("Refreshing an object loads the store's values")
  func refreshTakesTheStoresValues() throws {
    try ObjectStore.useOffice { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      here.automaticallyMergesCommits = false
      let ada = here.insert(Employee.self)
      ada.name = "Ada"
      try here.commit()
      let same = try #require(try there.object(with: ada.objectID) as? Employee)
      (same.name, same.age) = ("Eve", 50)
      try there.commit()
      _ = try here.count("Employee")
      #expect(ada.name == "Ada")
      ada.nick = "A"
      here.refresh(ada)
      #expect(ada.name == "Eve" && ada.age == 50 && ada.nick == "A" && ada.isUpdated)
      here.refresh(ada, mergeChanges: false)
      #expect(ada.nick == nil && ada.name == "Eve" && !here.hasChanges)
    }
  }
}
