import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct CommitValidationTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Order") {
        AttributeDescription("code", .string, .pattern("[A-Z]{2}[0-9]+"), .optional)
        AttributeDescription("title", .string, .bounds(2...5), .optional)
        AttributeDescription("count", .integer32, .bounds(1...10), .optional)
        AttributeDescription("price", .decimal, .optional)
        AttributeDescription("weight", .double, .default(0))
        AttributeDescription("placed", .date)
        RelationshipDescription("customer", to: "Customer", inverse: "orders", .mandatory)
        RelationshipDescription(
          "lines", to: "Line", inverse: "order", .toMany, .count(1...2), .mandatory)
      }
      EntityDescription("Customer") {
        RelationshipDescription("orders", to: "Order", inverse: "customer", .toMany)
      }
      EntityDescription("Line") { RelationshipDescription("order", to: "Order", inverse: "lines") }
    }
  }

  @Test("Uniqueness violations are reported together with other violations")
  func takenUniqueValuesAreToldWithTheOtherRules() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Country") {
        AttributeDescription("code", .string, .unique)
        AttributeDescription("population", .integer64, .bounds(0...10))
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
      // A single violation has its own code, and a duplicate that the policy merges is no
      // violation.
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

  @Test("All violations are reported together")
  func allViolationsComeTogether() throws {
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
      #expect(tooMany.keyPath == "lines" && tooMany.message.contains("exceeds the maximum of"))
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

  @Test("An empty to-many relationship is valid unless members are required")
  func anEmptySetIsAValueUnlessMembersAreAskedFor() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Basket") {
        RelationshipDescription("fruits", to: "Fruit", inverse: "basket", .toMany, .mandatory)
        RelationshipDescription("few", to: "Fruit", .toMany, .count(...2), .mandatory)
        RelationshipDescription("sorted", to: "Fruit", .toMany, .ordered, .mandatory)
        RelationshipDescription("pairs", to: "Fruit", .toMany, .count(2...))
        RelationshipDescription(
          "labels", to: "Fruit", inverse: "baskets", .toMany, .count(1...), .mandatory)
      }
      EntityDescription("Fruit") {
        RelationshipDescription("basket", to: "Basket", inverse: "fruits")
        RelationshipDescription("baskets", to: "Basket", inverse: "labels", .toMany, .mandatory)
      }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let basket = try context.insert("Basket")
      let empty = try failure { try context.commit() }
      #expect(empty.violations.map(\.keyPath) == ["labels"])
      #expect(
        empty.message == "Basket.labels has no members. Add at least one, or make the relationship "
          + "optional.")
      let fruit = try context.insert("Fruit")
      basket["labels"] = [fruit]
      basket["fruits"] = [fruit]
      try context.commit()

      // A nonempty relationship may become empty, by its owner or by deleting a member.
      basket["fruits"] = [ManagedObject]()
      try context.commit()
      context.delete(fruit)
      #expect(try failure { try context.commit() }.violations.map(\.keyPath) == ["labels"])
      context.rollback()
      basket["pairs"] = [fruit]
      let message = try failure { try context.commit() }.message
      #expect(message.contains("has 1 member, which is below the minimum of 2"))
    }
  }

  @Test("Typed setters accept NaN and infinity, and a commit rejects NaN with the property's name")
  func typedNumbers() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let ada = context.insert(Employee.self)
      ada.salary = .nan
      #expect(try failure { try context.commit() }.keyPath == "salary")
      ada.salary = .infinity
      let badge = context.insert(Badge.self)
      badge.weight = .nan
      #expect(try failure { try context.commit() }.keyPath == "weight")
      badge.weight = -.infinity
      try context.commit()
      let other = store.makeContext()
      #expect(try other.fetch(Employee.self).map(\.salary) == [.infinity])
      #expect(try other.fetch(Badge.self).map(\.weight) == [-.infinity])
    }
  }

  private static func measures() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Measure") {
        AttributeDescription("name", .string, .default(""))
        AttributeDescription("double", .double, .optional, .indexed)
        AttributeDescription("float", .float, .optional)
        AttributeDescription("price", .decimal, .optional)
        AttributeDescription("day", .date, .optional)
        AttributeDescription("place", .composite("Place"), .optional)
        AttributeDescription("twice", .double, .optional, .derived("double * 2"))
        AttributeDescription("zero", .double, .optional, .derived("double - double"))
      }
      CompositeDescription("Place") {
        AttributeDescription("latitude", .double, .optional)
        AttributeDescription("fee", .decimal, .optional)
      }
    }
  }

  @Test("The subscript keeps NaN until a commit names the property, and setValue throws")
  func dynamicNaN() throws {
    let nan = PropertyValue.double(.nan)
    let infiniteDate = PropertyValue.date(Date(timeIntervalSinceReferenceDate: .infinity))
    let cases: [(key: String, value: PropertyValue, keyPath: String)] = [
      ("double", nan, "double"), ("float", nan, "float"), ("price", nan, "price"),
      ("price", .decimal(.nan), "price"), ("price", .double(.infinity), "price"),
      ("double", .decimal(.nan), "double"), ("float", .double(1e300), "float"),
      ("day", nan, "day"), ("day", infiniteDate, "day"),
      ("day", .date(Date(timeIntervalSinceReferenceDate: .nan)), "day"),
      ("place", .composite(["latitude": nan]), "place.latitude"),
      ("place", .composite(["fee": .decimal(.nan)]), "place.fee"),
    ]
    try ObjectStore.use(Self.measures()) { store in
      let context = store.makeContext()
      let measure = try context.insert("Measure")
      for (key, value, keyPath) in cases {
        measure[key] = value
        let error = try failure { try context.commit() }
        #expect(error.code == .validation && error.keyPath == keyPath, "\(key) \(value)")
        #expect(error.entity == "Measure")
        measure[key] = PropertyValue.null
        if value.double?.isFinite != true {
          let error = try failure { try measure.setValue(value, forKey: key) }
          #expect(error.keyPath == key, "\(key) \(value)")
          #expect(error.code == (value == .double(.infinity) ? .typeMismatch : .validation))
        }
        try context.commit()
      }
    }
  }

  @Test("Infinite numbers sort at the ends, with and without an index")
  func infiniteNumbersSortAtTheEnds() throws {
    try ObjectStore.use(Self.measures(), inMemory: false) { store in
      let context = store.makeContext()
      let numbers: [Double?] = [1, .infinity, nil, -.greatestFiniteMagnitude, -.infinity, 0]
      for number in numbers {
        let measure = try context.insert("Measure")
        measure["double"] = number.map { PropertyValue.double($0) } ?? .null
        measure["float"] =
          number.map { .double($0.isInfinite ? $0 : $0.sign == .minus ? -1 : $0) }
          ?? .null
      }
      let expected: [Double?] = [nil, -.infinity, -.greatestFiniteMagnitude, 0, 1, .infinity]
      for isCommitted in [false, true] {
        if isCommitted { try context.commit() }
        let query = context.objects("Measure")
        let doubles = try query.order(by: "double").fetch().map { $0["double"].double }
        #expect(doubles == expected)
        let floats = try query.order(by: "-float").fetch().map { $0["float"].double }
        #expect(floats == [.infinity, 1, 0, -1, -.infinity, nil])
        for (text, count) in [
          ("double > 1e308", 1), ("double < 0", 2), ("double == CAST('inf', 'NSNumber')", 1),
          ("double == %@", 1), ("float >= %@", 1), ("double * 2 == double", 4),
          ("double - double == nil", 3), ("price == nil", 6),
        ] {
          let format = try FetchPredicate(
            format: text, arguments: text.contains("%@") ? [Double.infinity] : [])
          #expect(try context.count("Measure", matching: format) == count, "\(text)")
        }
        #expect(try query.value(of: .maximum("double")) == .double(.infinity))
        #expect(try query.value(of: .minimum("double")) == .double(-.infinity))
        // Infinities of both signs have no sum.
        #expect(try (query.value(of: .sum("double")) ?? .null).isNull)
        #expect(try (query.value(of: .average("double")) ?? .null).isNull)
      }
      let infinite = try #require(try context.fetchOne("Measure", matching: "double > 1e308"))
      #expect(infinite["twice"] == .double(.infinity) && infinite["zero"] == .null)
    }
  }

  @Test("A predicate that compares with NaN is rejected with the property's name")
  func predicatesRefuseNaN() throws {
    try ObjectStore.use(Self.measures()) { store in
      let context = store.makeContext()
      for (text, arguments) in [
        ("double == %@", [Double.nan]), ("%@ < double", [Double.nan]),
        ("double IN %@", [[1, Double.nan]]), ("double BETWEEN {0, %@}", [Double.nan]),
        ("name == '' OR double != %@", [Double.nan]),
        ("double > 0 AND double == %@", [Decimal.nan]),
        ("double == CAST('nan', 'NSNumber')", []),
      ] as [(String, [(any PredicateArgument)?])] {
        let error = try failure {
          _ = try context.count(
            "Measure", matching: FetchPredicate(format: text, arguments: arguments))
        }
        #expect(error.code == .invalidPredicate && error.keyPath == "double", "\(text)")
      }
    }
  }

  @Test("A model with NaN as a default value is rejected")
  func aDefaultThatIsNaNIsNoModel() throws {
    let error = try failure {
      _ = try PersistentStore(
        model: ManagedObjectModel(entities: [
          EntityDescription(
            name: "A",
            attributes: [AttributeDescription("x", Double.self, default: .nan)])
        ]), at: .inMemory)
    }
    #expect(error.code == .invalidModel && "\(error)".contains("x"))
  }
}
