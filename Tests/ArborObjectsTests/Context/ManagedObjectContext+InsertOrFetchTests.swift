import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

@Suite struct InsertOrFetchTests {
  @Test("Inserting or fetching inserts an object only once")
  func anObjectIsInsertedOnce() throws {
    try ObjectStore.useOffice { store throws in
      let context = store.makeContext()
      let foo = try context.insertOrFetch(Company.self, where: ["name": "Foo"])
      #expect(foo.isInserted && foo.name == "Foo")
      #expect(try context.insertOrFetch(Company.self, where: ["name": "Foo"]) === foo)
      try context.commit()
      #expect(try context.insertOrFetch("Company", where: ["name": "Foo"]) === foo)
      let ada = try context.insertOrFetch(
        Employee.self, where: ["company": foo, "name": "Ada", "nick": nil])
      #expect(ada.isInserted && ada.company === foo && ada.nick == nil)
      let same = try context.insertOrFetch(
        Employee.self, where: ["name": "Ada", "company": foo.objectID])
      #expect(same === ada)
      try context.commit()
    }
  }

  @Test("Inserting or fetching finds objects of subentities")
  func anObjectOfASubentityIsFoundToo() throws {
    try ObjectStore.useOffice { store throws in
      let context = store.makeContext()
      let manager = context.insert(Manager.self)
      manager.name = "Mary"
      let found: Employee = try context.insertOrFetch(Employee.self, where: ["name": "Mary"])
      #expect(found === manager)
      try context.commit()
    }
  }

  @Test("Invalid arguments are reported and leave no changes")
  func badArgumentsAreNamedAndLeaveNothing() throws {
    try ObjectStore.useOffice { store throws in
      let context = store.makeContext()
      let cases: [(run: () throws -> Void, message: String)] = [
        (
          { try context.insertOrFetch("Company", where: [:]) },
          "insertOrFetch was called without values that identify an object of Company. Pass "
            + "identifying properties."
        ),
        (
          { try context.insertOrFetch("Company", where: ["nam": 1]) },
          "Entity Company has no property nam. Did you mean name?"
        ),
        (
          { try context.insertOrFetch("Person", where: ["name": "x"]) },
          "Entity Person is abstract. Insert an object of a subentity."
        ),
        (
          { try context.upsert("Company", matching: [:], values: ["name": "x"]) },
          "upsert was called without values that identify an object of Company. Pass identifying "
            + "properties."
        ),
      ]
      for (run, message) in cases {
        let error = try failure { try run() }
        #expect(error.message == message)
      }
      let error = try failure {
        try context.upsert("Company", matching: ["name": "a"], values: ["founded": "no date"])
      }
      #expect(error.code == .typeMismatch)
      #expect(!context.hasChanges)
    }
  }

  @Test("An upsert changes the object that matches")
  func anUpsertChangesTheObjectThatMatches() throws {
    try ObjectStore.useOffice { store throws in
      let context = store.makeContext()
      let date = Date(timeIntervalSince1970: 0)
      let foo = try context.upsert(
        Company.self, matching: ["name": "Foo"], values: ["founded": date])
      #expect(foo.isInserted && foo.founded == date)
      try context.commit()
      let same = try context.upsert(Company.self, matching: ["name": "Foo"], values: [:])
      #expect(same === foo && foo.founded == date && !context.hasChanges)
      let cleared = try context.upsert(
        "Company", matching: ["name": "Foo"], values: ["founded": nil])
      #expect(cleared === foo && foo.founded == nil && foo.isUpdated)
      // A value of the key itself may change.
      try context.upsert(Company.self, matching: ["name": "Foo"], values: ["name": "Bar"])
      #expect(foo.name == "Bar")
      try context.commit()
      #expect(try context.count(Company.self) == 1)
    }
  }

  @Test("An upsert that matches two objects changes neither")
  func twoMatchesAreRefused() throws {
    try ObjectStore.useOffice { store throws in
      let context = store.makeContext()
      let employees = (1...2).map { _ in context.insert(Employee.self) }
      for employee in employees { employee.name = "Ada" }
      let error = try failure {
        try context.upsert(Employee.self, matching: ["name": "Ada"], values: ["nick": "a"])
      }
      #expect(error.code == .notUnique && error.underlying is ArborError.OtherObject)
      #expect(employees.allSatisfy { $0.nick == nil })
      try context.commit()
    }
  }
}
