import ArborModel
import ArborObjects
import TestSupport
import Testing

/// A second context as an edit form, as the article *Edit forms* describes.
@Suite struct EditFormTests {
  /// Calls `body` with a store, its main context, and an employee that is committed.
  private func use(
    _ body: (PersistentStore, ManagedObjectContext, Employee) throws -> Void
  ) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let ada = context.insert(Employee.self)
      (ada.name, ada.age) = ("Ada", 36)
      try context.commit()
      try body(store, context, ada)
    }
  }

  @Test("A saved form writes the properties that were edited")
  func saves() throws {
    try use { store, context, ada in
      let form = store.makeContext()
      form.mergePolicy = .mergeByPropertyObjectWins
      let draft = try #require(try form.existingObject(with: ada.objectID) as? Employee)
      draft.name = "Mary"
      #expect(ada.name == "Ada" && !context.hasChanges)
      ada.age = 40
      try context.commit()
      try form.commit()
      #expect(try context.count(Employee.self) == 1)
      #expect(ada.name == "Mary" && ada.age == 40)
      let stored = try store.makeContext().fetch(Employee.self)
      #expect(stored.map(\.name) == ["Mary"] && stored.map(\.age) == [40])
    }
  }

  @Test("A cancelled form changes nothing", arguments: [false, true])
  func cancels(isReleased: Bool) throws {
    try use { store, context, ada in
      do {
        let form = store.makeContext()
        let draft = try #require(try form.existingObject(with: ada.objectID) as? Employee)
        draft.name = "Mary"
        draft.company = form.insert(Company.self)
        #expect(form.hasChanges)
        if !isReleased {
          form.rollback()
          #expect(draft.name == "Ada" && draft.company == nil && !form.hasChanges)
          try form.commit()
        }
      }
      #expect(try context.count(Employee.self, matching: "name == 'Ada' AND company == nil") == 1)
      #expect(ada.name == "Ada")
      #expect(try store.makeContext().fetch(Company.self).isEmpty)
    }
  }

  @Test("A form can only open objects that are committed")
  func opensCommittedObjects() throws {
    try use { store, context, _ in
      let eve = context.insert(Employee.self)
      eve.name = "Eve"
      let form = store.makeContext()
      let error = try failure { _ = try form.existingObject(with: eve.objectID) }
      #expect(error.code == .objectNotFound && error.objectID == eve.objectID)
      #expect(
        error.message
          == "There is no Employee \(eve.objectID.number) in the store: it was deleted, or another "
          + "context has inserted it without committing it. Commit that context before opening "
          + "the object in this one, or fetch the objects that exist.")
      try context.commit()
      let draft = try #require(try form.existingObject(with: eve.objectID) as? Employee)
      #expect(draft.name == "Eve")
    }
  }

  @Test("An object that a form has inserted can be opened once the form is saved")
  func handsOverInsertions() throws {
    try use { store, context, _ in
      let form = store.makeContext()
      let draft = form.insert(Employee.self)
      draft.name = "Mary"
      #expect(
        try failure { _ = try context.existingObject(with: draft.objectID) }.code
          == .objectNotFound)
      try form.commit()
      let saved = try #require(try context.existingObject(with: draft.objectID) as? Employee)
      #expect(saved.name == "Mary" && saved.objectID == draft.objectID)
    }
  }
}
