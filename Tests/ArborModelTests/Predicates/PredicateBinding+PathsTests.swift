import ArborModel
import Foundation
import ModelSamples
import Testing

/// Errors of binding, with their position and reason.
@Suite struct PredicateBindingPathsTests {
  @Test(
    "Invalid paths are rejected with the position and reason",
    arguments: [
      ("staff.long > 1", 1, "Company.staff is a to-many relationship"),
      ("1 < staff.long", 5, "ANY, ALL or NONE"), ("staff == nil", 1, "@count"),
      ("staff.name BEGINSWITH 'x'", 1, "to-many"), ("staff IN {nil}", 1, "to-many"),
      ("staff.company.title == 'x'", 1, "to-many"),
      ("head.reports.name == 'x'", 6, "Person.reports"),
      ("#size == staff.long", 10, "to-many"), ("staff.long + 1 > 2", 1, "this path has many"),
      ("uppercase(staff.name) == 'X'", 11, "this path has many"),
      ("ANY title == 'x'", 5, "Remove ANY."), ("ALL head.name == 'x'", 5, "Remove ALL."),
      ("NONE SELF == nil", 11, "SELF has a single value."),
      ("ANY staff.@count > 3", 5, "Remove ANY."), ("ANY 5 == 5", 7, "Remove ANY."),
      ("ANY stuff.name == 'x'", 5, "Did you mean \"staff\"?"),
      ("ANY staff.nme == 'x'", 11, "Did you mean \"name\"?"),
      ("staff.@cuont == 3", 7, "Did you mean @count?"), ("staff.@sum == 3", 7, "Use an attribute"),
      ("staff.@sum.name == 3", 7, "cannot be computed for a string"),
      ("staff.@count.name == 3", 14, "cannot be followed by a name"),
      ("title.@count == 3", 1, "is an attribute"), ("head.@count == 3", 6, "Put a to-many"),
      ("@count == 3", 1, "Put one before it"), ("title - 1 == 2", 7, "takes numbers and dates"),
      (
        "title + 1 == 2", 7,
        "+ joins two strings or adds two numbers, but found a string and a number. Wrap one of "
          + "them in CAST(…, \"NSString\") or CAST(…, \"NSNumber\")."
      ),
      ("SELF + title == 'x'", 6, "+ takes numbers, dates and strings, but this is an object"),
      ("concat(title, #size) == 'x'", 1, "concat takes strings, but this is a number"),
      ("concat(staff.name) == 'x'", 8, "concat takes single values, but this path has many"),
      ("join(title, ',') == 'x'", 1, "Join single strings with concat(…) or +."),
      (
        "join(staff, ',') == 'x'", 1,
        "this is a collection of an object. Use an attribute of the objects."
      ),
      ("join(staff.long, ',') == 'x'", 1, "join takes a collection of strings"),
      ("join({title, 5}, ',') == 'x'", 1, "this is a collection of a number"),
      ("join(staff.name, 5) == 'x'", 1, "join takes a separator string, but this is a number"),
      ("#size * head.name == 2", 7, "takes numbers"),
      ("uppercase(#size) == 'X'", 1, "takes strings"),
      ("title UNION {1} == {1}", 7, "takes collections"),
      ("FUNCTION(title, 'nobody') == 1", 1, "No function \"nobody\""),
      ("CAST(title, 'NSData') == nil", 1, "NSDecimalNumber"),
      ("SUBQUERY(title, $x, TRUEPREDICATE).@count == 1", 1, "filters a collection"),
      ("SUBQUERY(staff, $x, $x.nme == 'y').@count == 1", 24, "Did you mean \"name\"?"),
      ("SUBQUERY(staff, $x, $y.name == 'y').@count == 1", 21, "$y has no value"),
      ("SUBQUERY(staff, $x, $x.name == 'y').@count == $x", 47, "$x has no value"),
      ("SUBQUERY(staff, $x, $x.reports.name == 'y').@count == 1", 24, "to-many"),
      ("title[0] == 'x'", 6, "Brackets select"),
      ("ranking[0].nme == 'x'", 12, "Did you mean \"name\"?"),
      ("ANY staff.long > 'x'", 16, "a number with a string"),
      ("SUBQUERY(staff, $x, $x.long > 'x').@count == 1", 29, "a number with a string"),
      ("staff.@max.long > 'x'", 17, "a number with a string"),
      ("now() > 5", 7, "a date with a number"), ("{1}.x == 5", 5, "has no properties"),
      ("head.born - head.born > now()", 23, "a number with a date"),
    ])
  func saysWhatIsWrong(_ text: String, _ column: Int, _ words: String) throws {
    let world = try PredicateWorld()
    let error = #expect(throws: ArborError.self) {
      try PredicateBinder.bind(
        FetchPredicate(stringLiteral: text), to: world.company, in: world.schema)
    }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(error?.location?.column == column, "\(text): \(error?.message ?? "")")
  }

  @Test("Arguments are checked within nested scopes")
  func argumentsAreValidatedWithinScopes() throws {
    let world = try PredicateWorld()
    for text in [
      "ANY staff.long > %@", "SUBQUERY(staff, $x, $x.long > %@).@count > 0",
      "TERNARY(#size > %@, 1, 2) == 1", "SUBQUERY({1, 2}, $x, #size > %@).@count > 0",
    ] {
      let predicate = try FetchPredicate(format: text, "x")
      #expect(throws: ArborError.self, "\(text)") {
        try world.matches(predicate, in: world.company)
      }
    }
    let equal = try FetchPredicate(format: "staff == %@", 5)
    #expect(throws: ArborError.self) { try world.matches(equal, in: world.company) }
    let list = try FetchPredicate(format: "staff == %@", PropertyValue.list([]))
    world.insert(world.company, [:])
    #expect(try world.matches(list, in: world.company).count == 1)
  }

  @Test("A chain of assignments expands exponentially and is rejected before it becomes too large")
  func assignmentsAreBounded() throws {
    let world = try PredicateWorld()
    var text = "($a0 := #size) > 0"
    for step in 1...20 { text += " AND ($a\(step) := $a\(step - 1) + $a\(step - 1)) > 0" }
    let error = #expect(throws: ArborError.self) {
      try PredicateBinder.bind(
        FetchPredicate(stringLiteral: text), to: world.company, in: world.schema)
    }
    #expect(error?.message.contains("too large") == true)
  }

  @Test("A bound predicate lists the entities it reads, and whether it depends on time or chance")
  func knowsWhatItDependsOn() throws {
    let world = try PredicateWorld()
    func dependencies(_ predicate: FetchPredicate) throws -> PredicateDependencies {
      try PredicateBinder.bind(predicate, to: world.person, in: world.schema).dependencies
    }
    #expect(try dependencies("long > 3 AND name == 'x'").isEmpty)
    let company = try dependencies("company.title == 'x'")
    #expect(company.entities == [world.company.index])
    let staff = try dependencies("ANY company.staff.long > 3")
    #expect(staff.entities == [world.company.index, world.person.index])
    #expect(try dependencies("born > now()").usesNow)
    #expect(try dependencies("long > random()").usesChance)
    #expect(!staff.usesNow && !staff.usesChance && !staff.readsAnyEntity)
  }

  @Test("A condition on members is independent if it doesn't read the outer object")
  func tellsWhatCanBeAskedAlone() throws {
    let world = try PredicateWorld()
    func inner(_ predicate: FetchPredicate) throws -> BoundNode? {
      let root = try PredicateBinder.bind(predicate, to: world.company, in: world.schema).root
      guard case .quantified(_, _, let node) = root else { return nil }
      return node
    }
    #expect(try inner("ANY staff.long > 5")?.readsOuterScopes == false)
    #expect(try inner("ANY staff.long > #size")?.readsOuterScopes == true)
    #expect(try inner("ANY staff.reports.long > 5")?.readsOuterScopes == false)
    #expect(try inner("ANY staff.reports.long > #size")?.readsOuterScopes == true)
  }

  /// Returns a model of shops with a composite attribute.
  private static func shops() throws -> ModelSchema {
    let model = ManagedObjectModel(
      entities: [
        EntityDescription(
          name: "Shop",
          attributes: [
            AttributeDescription(name: "place", type: .composite("Place"), isOptional: true),
            AttributeDescription(name: "name", type: .string),
            AttributeDescription(name: "width", type: .double),
          ])
      ],
      composites: [
        CompositeDescription(
          name: "Place",
          attributes: [
            AttributeDescription(name: "city", type: .string),
            AttributeDescription(name: "latitude", type: .double),
            AttributeDescription(name: "longitude", type: .double),
          ])
      ])
    return try SchemaFixture.schema(of: model)
  }

  @Test("Parts of composites can be used in predicates")
  func compositesHaveParts() throws {
    let schema = try Self.shops()
    let shop = schema.entities[0]
    guard case .attribute(let slot) = shop.property(named: "place") else {
      Issue.record("Shop has no attribute place.")
      return
    }
    let allocator = SlabAllocator()
    var record = RecordBuffer(copying: shop.layout.template, into: allocator)
    let value = PropertyValue.composite(["city": "Rome", "latitude": 41.9, "longitude": 12.5])
    let isSet = record.set(slot.field, value, allocator: allocator)
    #expect(isSet)
    let environment = PredicateEnvironment(schema: schema, storeID: UUID())
    func holds(_ predicate: FetchPredicate) throws -> Bool {
      try predicate.compiled(for: shop, environment: environment)(
        record.view, ObjectNumber(entity: shop.number, sequence: 1), nil)
    }
    #expect(try holds("place.city == 'Rome'"))
    #expect(try holds("place['city'] BEGINSWITH 'R'"))
    #expect(try holds("place.latitude + place.longitude > 54"))
    #expect(try holds("distanceToLocation:fromLocation:(place, {41.9, 12.5}) == 0"))
    #expect(try holds("place[SIZE] == 3"))
    #expect(try holds("'Rome' IN place"))
    #expect(try holds("place.city > 'Paris' AND place.latitude BETWEEN {41, 42}"))
    #expect(try holds("place.city == 5") == false)
    for wrong in ["place.town == 'x'", "place.city.x == 'x'", "place > 5"] {
      #expect(throws: ArborError.self, "\(wrong)") {
        try holds(FetchPredicate(stringLiteral: wrong))
      }
    }
  }

  @Test("The parts of composites are checked like plain attributes, with the same messages")
  func partsHaveTheirKinds() throws {
    let schema = try Self.shops()
    let shop = schema.entities[0]
    let environment = PredicateEnvironment(schema: schema, storeID: UUID())
    for (wrong, argument) in [
      ("NAME > 5", nil), ("5 < NAME", nil), ("NAME > %@", 5), ("NAME BETWEEN {'a', 5}", nil),
      ("NAME CONTAINS 5", nil), ("NUMBER BEGINSWITH 'x'", nil), ("NUMBER >= 'x'", nil),
      ("NUMBER LIKE NAME", nil), ("NAME > NUMBER", nil),
    ] as [(String, Int?)] {
      func message(_ name: String, _ number: String) -> String? {
        let text = wrong.replacingOccurrences(of: "NAME", with: name)
          .replacingOccurrences(of: "NUMBER", with: number)
        do {
          let predicate =
            try argument.map { try FetchPredicate(format: text, $0) }
            ?? FetchPredicate(format: text)
          _ = try predicate.compiled(for: shop, environment: environment)
          return nil
        } catch {
          guard let error = error as? ArborError, error.location != nil else { return nil }
          return error.message
        }
      }
      let expected = message("name", "width")
      #expect(expected != nil, "\(wrong)")
      #expect(message("place.city", "place.latitude") == expected, "\(wrong)")
    }
  }
}
