import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct CommitValidationTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Order") {
        Attribute("code", .string, .pattern("[A-Z]{2}[0-9]+"), .optional)
        Attribute("title", .string, .bounds(2...5), .optional)
        Attribute("count", .integer32, .bounds(1...10), .optional)
        Attribute("price", .decimal, .optional)
        Attribute("weight", .double, .default(0))
        Attribute("placed", .date)
        Relationship("customer", to: "Customer", inverse: "orders", .mandatory)
        Relationship("lines", to: "Line", inverse: "order", .toMany, .count(1...2), .mandatory)
      }
      Entity("Customer") { Relationship("orders", to: "Order", inverse: "customer", .toMany) }
      Entity("Line") { Relationship("order", to: "Order", inverse: "lines") }
    }
  }

  @Test func takenUniqueValuesAreToldWithTheOtherRules() throws {
    let model = try ManagedObjectModel {
      Entity("Country") {
        Attribute("code", .string, .unique)
        Attribute("population", .integer64, .bounds(0...10))
      }
    }
    try ObjectStore.use(model) { store throws in
      let context = store.makeContext()
      let france = try context.insert("Country")
      france["code"] = "FR"
      france["population"] = 1
      try context.commit()
      let twin = try context.insert("Country")
      twin["code"] = "FR"
      twin["population"] = 11
      for check in [{ try context.commit() }, { try context.validate() }] as [() throws -> Void] {
        let error = try failure(of: check)
        #expect(error.code == .validation)
        #expect(error.violations.map(\.code) == [.validation, .notUnique])
        #expect(error.violations.allSatisfy { $0.objectID == twin.objectID })
        #expect(!error.description.contains("FR"))
        #expect(error.debugDescription.contains("[unique code"))
        #expect(error.debugDescription.contains("FR"))
      }
      // Alone it is what it was; and what a policy merges is nothing to tell.
      twin["population"] = 2
      for check in [{ try context.commit() }, { try context.validate() }] as [() throws -> Void] {
        #expect(try failure(of: check).code == .notUnique)
      }
      context.mergePolicy = .mergeByPropertyStoreWins
      try context.validate()
      twin["population"] = 12
      let error = try failure { try context.validate() }
      #expect(error.violations.map(\.keyPath) == ["population"])
      twin["population"] = 3
      try context.commit()
      #expect(france["population"] == 1)
    }
  }

  @Test func allViolationsComeTogether() throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let order = try context.insert("Order")
      order["code"] = "A1"
      order["title"] = "x"
      order["count"] = 11
      let error = try failure { try context.commit() }
      #expect(error.code == .validation)
      #expect(
        Set(error.violations.compactMap(\.keyPath))
          == ["code", "title", "count", "placed", "customer", "lines"])
      #expect(error.violations.allSatisfy { $0.objectID == order.objectID && $0.entity == "Order" })
      #expect(!error.description.contains("A1"))

      order["code"] = "AB12"
      order["title"] = "äöüß"
      order["count"] = 10
      order["placed"] = Date()
      order["customer"] = try context.insert("Customer")
      let lines = try (0..<3).map { _ in try context.insert("Line") }
      order["lines"] = lines
      let tooMany = try failure { try context.commit() }
      #expect(tooMany.keyPath == "lines" && tooMany.message.contains("too many"))
      context.delete(lines[0])
      try context.commit()

      context.delete(lines[1])
      context.delete(lines[2])
      #expect(try failure { try context.commit() }.keyPath == "lines")
      context.rollback()
      order["placed"] = nil
      #expect(try failure { try context.commit() }.keyPath == "placed")
      context.rollback()
      try context.commit()
    }
  }

  @Test func anEmptySetIsAValueUnlessMembersAreAskedFor() throws {
    let model = try ManagedObjectModel {
      Entity("Basket") {
        Relationship("fruits", to: "Fruit", inverse: "basket", .toMany, .mandatory)
        Relationship("few", to: "Fruit", .toMany, .count(...2), .mandatory)
        Relationship("sorted", to: "Fruit", .toMany, .ordered, .mandatory)
        Relationship("pairs", to: "Fruit", .toMany, .count(2...))
        Relationship("labels", to: "Fruit", inverse: "baskets", .toMany, .count(1...), .mandatory)
      }
      Entity("Fruit") {
        Relationship("basket", to: "Basket", inverse: "fruits")
        Relationship("baskets", to: "Basket", inverse: "labels", .toMany, .mandatory)
      }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let basket = try context.insert("Basket")
      let empty = try failure { try context.commit() }
      #expect(empty.violations.map(\.keyPath) == ["labels"])
      #expect(
        empty.message == "Basket.labels has no members; add at least one, or make it optional.")
      let fruit = try context.insert("Fruit")
      basket["labels"] = [fruit]
      basket["fruits"] = [fruit]
      try context.commit()

      // What was full may be emptied, by its owner and by a deletion at the other end.
      basket["fruits"] = [ManagedObject]()
      try context.commit()
      context.delete(fruit)
      #expect(try failure { try context.commit() }.violations.map(\.keyPath) == ["labels"])
      context.rollback()
      basket["pairs"] = [fruit]
      #expect(try failure { try context.commit() }.message.contains("too few members: 1 of 2"))
    }
  }

  @Test func numbersAreFinite() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let ada = context.insert(Employee.self)
      ada.salary = .nan
      #expect(try failure { try context.commit() }.keyPath == "salary")
      ada.salary = 1
      let badge = context.insert(Badge.self)
      badge.weight = .infinity
      #expect(try failure { try context.commit() }.keyPath == "weight")
      badge.weight = 0
      try context.commit()
    }
  }
}
