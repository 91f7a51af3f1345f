import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

@Suite struct InsertOrFetchTests {
  @Test func anObjectIsInsertedOnce() throws {
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

  @Test func anObjectOfASubentityIsFoundToo() throws {
    try ObjectStore.useOffice { store throws in
      let context = store.makeContext()
      let manager = context.insert(Manager.self)
      manager.name = "Mary"
      let found: Employee = try context.insertOrFetch(Employee.self, where: ["name": "Mary"])
      #expect(found === manager)
      try context.commit()
    }
  }

  @Test func badArgumentsAreNamedAndLeaveNothing() throws {
    try ObjectStore.useOffice { store throws in
      let context = store.makeContext()
      let cases: [(run: () throws -> Void, message: String)] = [
        (
          { try context.insertOrFetch("Company", where: [:]) },
          "insertOrFetch was given no values to find an object of Company by; name the properties "
            + "that make it the one."
        ),
        (
          { try context.insertOrFetch("Company", where: ["nam": 1]) },
          "Entity Company has no property nam. Did you mean name?"
        ),
        (
          { try context.insertOrFetch("Person", where: ["name": "x"]) },
          "Entity Person is abstract and has no objects of its own; insert one of a subentity."
        ),
        (
          { try context.upsert("Company", ["founded": nil, "name": nil]) },
          "The values name no Company; give those of name."
        ),
        (
          { try context.upsert(Employee.self, ["name": "Ada"]) },
          "Employee has no uniqueness constraint; give its model one, or use insertOrFetch."
        ),
      ]
      for (run, message) in cases {
        let error = try failure { try run() }
        #expect(error.message == message)
      }
      let error = try failure {
        try context.upsert("Company", ["name": "a", "founded": "no date"])
      }
      #expect(error.code == .typeMismatch)
      #expect(!context.hasChanges)
    }
  }

  @Test func anUpsertChangesTheObjectOfItsUniqueValue() throws {
    try ObjectStore.useOffice { store throws in
      let context = store.makeContext()
      let date = Date(timeIntervalSince1970: 0)
      let foo = try context.upsert(Company.self, ["name": "Foo", "founded": date])
      #expect(foo.isInserted && foo.founded == date)
      try context.commit()
      #expect(try context.upsert(Company.self, ["name": "Foo"]) === foo && foo.founded == date)
      #expect(try context.upsert("Company", ["name": "Foo", "founded": nil]) === foo)
      #expect(foo.founded == nil && foo.isUpdated)
      try context.commit()
      #expect(try context.count(Company.self) == 1)
    }
  }

  @Test func valuesOfTwoObjectsAreRefused() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Country") {
        AttributeDescription("code", .string, .unique)
        AttributeDescription("number", .integer64, .unique)
      }
    }
    try ObjectStore.use(model) { store throws in
      let context = store.makeContext()
      let one = try context.upsert("Country", ["code": "FR", "number": 1])
      let two = try context.upsert("Country", ["code": "DE", "number": 2])
      let error = try failure { try context.upsert("Country", ["code": "FR", "number": 2]) }
      #expect(error.code == .notUnique && error.objectID == one.objectID)
      #expect((error.underlying as? OtherObject)?.objectID == two.objectID)
      // One that has no value of its own for the second constraint may get it.
      #expect(try context.upsert("Country", ["code": "FR", "number": 3]) === one)
      try context.commit()
    }
  }
}
