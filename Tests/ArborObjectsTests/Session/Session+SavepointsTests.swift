import ArborModel
import ArborObjects
import Testing

@Suite struct SessionSavepointsTests {
  @Test("A savepoint whose body throws reverts all changes")
  func aFailedBodyLeavesNoTrace() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (company, ada) = (context.insert(Company.self), context.insert(Employee.self))
      (ada.name, ada.company) = ("Ada", company)
      try context.commit()
      ada.name = "pending"
      let bob = context.insert(Manager.self)
      bob.company = company
      ada.friends = [bob]
      ada.tasks = [context.insert(Task.self)]
      let task = ada.tasks[0]
      var stray: Employee?
      #expect(throws: Interruption.self) {
        try context.withSavepoint {
          ada.name = "gone"
          ada.tasks = []
          ada.friends = []
          stray = context.insert(Employee.self)
          stray?.manager = bob
          context.delete(company)
          throw Interruption()
        }
      }
      #expect(ada.name == "pending" && ada.company === company && company.employees == [ada, bob])
      #expect(ada.friends == [bob] && ada.tasks == [task] && bob.reports == [])
      #expect(context.insertedObjects == [bob, task] && context.deletedObjects == [])
      #expect(stray?.context == nil)
      #expect(ada.committedValues(for: ["name"]) == ["name": "Ada"])
      try context.commit()
      #expect(try store.makeContext().count("Employee") == 2)
    }
  }

  @Test("A failed savepoint doesn't restore links to objects that were deleted meanwhile")
  func linksToDeletedObjectsAreNotRestored() throws {
    try ObjectStore.useOffice { store in
      let (context, other) = (store.makeContext(), store.makeContext())
      context.mergePolicy = .mergeByPropertyObjectWins
      let (ada, company) = (context.insert(Employee.self), context.insert(Company.self))
      try context.commit()
      ada.company = company
      other.delete(try other.existingObject(with: company.objectID))
      try other.commit()
      #expect(throws: Interruption.self) {
        try context.withSavepoint {
          // The fetch merges the deletion.
          #expect(try context.fetch("Company").isEmpty)
          #expect(ada.company == nil)
          throw Interruption()
        }
      }
      #expect(ada.company == nil)
      #expect(try ada.value(forKeyPath: "company.name") == .null)
      try context.commit()
    }
  }

  @Test("After a failed savepoint, the next undo group contains all of its edits")
  func afterAFailedBodyAGroupHasAllItsEdits() throws {
    try ObjectStore.use(PlainWorld.model()) { store in
      let context = store.makeContext()
      context.undoHistory = UndoHistory()
      let (person, note) = try (context.insert("Person"), context.insert("Note"))
      context.undoHistory?.closeGroup()
      #expect(throws: Interruption.self) {
        try context.withSavepoint {
          try person.objects(forKey: "path").insert(note)
          throw Interruption()
        }
      }
      context.delete(person)
      context.undo()
      #expect(context.insertedObjects == [person, note])
    }
  }

  @Test("Savepoints can be nested")
  func savepointsNest() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let ada = context.insert(Employee.self)
      ada.name = "0"
      try context.withSavepoint { () throws in
        ada.name = "1"
        #expect(throws: Interruption.self) {
          try context.withSavepoint {
            ada.name = "2"
            context.delete(ada)
            throw Interruption()
          }
        }
        #expect(ada.name == "1" && ada.isInserted)
        context.withSavepoint { ada.age = 3 }
      }
      #expect(ada.name == "1" && ada.age == 3)
      #expect(throws: Interruption.self) {
        try context.withSavepoint {
          context.withSavepoint { ada.name = "inner" }
          ada.age = 9
          throw Interruption()
        }
      }
      #expect(ada.name == "1" && ada.age == 3)
      try context.commit()
    }
  }

  @Test("Commits within a savepoint are rejected")
  func commitsAreRefusedInside() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      context.insert(Employee.self)
      try context.withSavepoint { () throws in
        #expect(try failure { try context.commit() }.code == .notAllowed)
      }
      try context.commit()
    }
  }
}
