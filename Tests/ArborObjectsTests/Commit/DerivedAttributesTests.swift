import ArborModel
@testable import ArborObjects
import ArborStore
import Foundation
import TestSupport
import Testing

@Suite struct DerivedAttributesTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Company") {
        AttributeDescription("name", .string, .default(""))
        AttributeDescription("key", .string, .optional, .unique, .derived("canonical:(name)"))
        AttributeDescription(
          "headcount", .integer32, .indexed, .default(-1), .derived("employees.@count"))
        AttributeDescription("payroll", .integer64, .optional, .derived("employees.@sum.wage"))
        AttributeDescription("least", .integer32, .optional, .derived("employees.@min.wage"))
        AttributeDescription("written", .date, .optional, .derived("now()"))
        AttributeDescription(
          "roster", .string, .optional, .derived("name + ': ' + join(employees.title, ', ')"))
        AttributeDescription("people", .integer32, .optional, .derived("branches.employees.@count"))
        RelationshipDescription("employees", to: "Employee", inverse: "company", .toMany)
        RelationshipDescription("branches", to: "Company", inverse: "parent", .toMany)
        RelationshipDescription("parent", to: "Company", inverse: "branches")
      }
      EntityDescription("Employee") {
        AttributeDescription("wage", .integer32, .default(0))
        AttributeDescription("title", .string, .optional)
        AttributeDescription(
          "card", .string, .optional, .derived("concat(title, ' of ', company.name)"))
        AttributeDescription("employer", .string, .optional, .derived("company.name"))
        AttributeDescription("group", .string, .optional, .derived("company.parent.name"))
        AttributeDescription("skillCount", .integer16, .optional, .derived("skills.@count"))
        AttributeDescription("double", .double, .optional, .derived("wage * 2"))
        RelationshipDescription("company", to: "Company", inverse: "employees")
        RelationshipDescription("skills", to: "Skill", inverse: "holders", .toMany)
      }
      EntityDescription("Skill") {
        RelationshipDescription("holders", to: "Employee", inverse: "skills", .toMany)
      }
    }
  }

  @Test("Derived values are current after a commit")
  func valuesAreThereAfterTheCommit() throws {
    try ObjectStore.use(model(), inMemory: false) { store in
      let context = store.makeContext()
      let foo = try context.insert("Company")
      foo["name"] = "Foo"
      let ada = try context.insert("Employee")
      ada["wage"] = 10
      ada["company"] = foo
      #expect(foo["headcount"] == -1 && foo["key"] == nil && ada["employer"] == nil)
      try context.commit()
      #expect(foo["headcount"] == 1 && foo["key"] == "foo" && foo["payroll"] == 10)
      #expect(ada["employer"] == "Foo" && ada["double"] == 20.0 && ada["skillCount"] == 0)
      #expect(!context.hasChanges)

      let other = store.makeContext()
      let same = try #require(try other.fetchOne("Company", matching: "headcount == 1"))
      #expect(same["least"] == 10 && same["people"] == 0)
      same["name"] = "Bär"
      #expect(same["key"] == "foo")
      try other.commit()
      #expect(try context.count("Employee", matching: "employer == 'Bär'") == 1)
      #expect(ada["employer"] == "Bär" && foo["key"] == "bar")
    }
  }

  /// A sum or average can be a decimal or a floating-point number, and a comparison is a Boolean.
  @Test(
    "A derived value is converted exactly to the attribute's type, or refused",
    arguments: [
      (.integer32, "ratio * 2", 3), (.integer16, "price * 2", 5), (.double, "price / 2", 1.25),
      (.float, "price / 2", 1.25), (.decimal, "count + 1", .decimal(5)),
      (.integer64, "TERNARY(count > 3, 1, 0)", 1), (.boolean, "count - 3", true),
      (.boolean, "count - 4", false), (.double, "count / 8.0", 0.5), (.integer16, "ratio", nil),
      (.integer16, "price", nil), (.integer16, "count * 10000", nil), (.boolean, "count", nil),
    ] as [(AttributeType, String, PropertyValue?)])
  func convertedValues(type: AttributeType, expression: String, value: PropertyValue?) throws {
    let model = try ManagedObjectModel {
      EntityDescription("Order") {
        AttributeDescription("count", .integer32, .default(4))
        AttributeDescription("ratio", .double, .default(1.5))
        AttributeDescription("price", .decimal, .default(.decimal(2.5)))
        AttributeDescription("total", type, .optional, .derived(expression))
      }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let order = try context.insert("Order")
      guard let value else {
        let error = #expect(throws: ArborError.self) { try context.commit() }
        #expect(error?.code == .validation && error?.keyPath == "total")
        let expected = type == .boolean ? "YES or NO" : "an integer from -32768 to 32767"
        #expect(
          error?.message
            == "The derived value of Order.total doesn't fit the attribute's type. Expected "
            + "\(expected). Change the type.")
        return
      }
      try context.commit()
      #expect(order["total"] == value)
    }
  }

  @Test("A derived text contains the texts of other objects")
  func textsAreJoined() throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let foo = try context.insert("Company")
      foo["name"] = "Foo"
      for title in ["cook", nil, "guard"] {
        let employee = try context.insert("Employee")
        employee["title"] = title
        employee["company"] = foo
      }
      try context.commit()
      #expect(foo["roster"] == "Foo: cook, guard")
      let guardian = try #require(try context.fetchOne("Employee", matching: "title == 'guard'"))
      #expect(guardian["card"] == "guard of Foo")
      guardian["title"] = "clerk"
      try context.commit()
      #expect(foo["roster"] == "Foo: cook, clerk" && guardian["card"] == "clerk of Foo")
      #expect(try context.count("Employee", matching: "card == ' of Foo'") == 1)
    }
  }

  @Test("Setting a derived attribute of a typed class throws")
  func nobodyCanSetThem() async throws {
    try ObjectStore.use(ManagedObjectModel(for: [Ring.self]), classes: [Ring.self]) { store in
      let context = store.makeContext()
      let ring = context.insert(Ring.self)
      ring.width = 4
      try context.commit()
      #expect(ring.doubled == 8)
      let error = try failure { try ring.setValue(9.0, forKey: "doubled") }
      #expect(error.code == .notAllowed && error.objectID == ring.objectID)
      context.isObservable = true
      let observed = context.insert(Ring.self)
      observed.width = 3
      try context.commit()
      #expect(observed.doubled == 6)
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = try PersistentStore(for: [Ring.self], at: .inMemory)
      store.makeContext().insert(Ring.self).doubled = 9
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Ring sets a derived attribute. Ring.doubled is derived from"))
  }

  @Test("Derived values follow changes of related objects")
  func theOtherSideFollows() throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let (foo, bar) = (try context.insert("Company"), try context.insert("Company"))
      foo["name"] = "Foo"
      bar["name"] = "Bar"
      bar["parent"] = foo
      let people = try (1...3).map { wage in
        let person = try context.insert("Employee")
        person["wage"] = PropertyValue.integer(Int64(wage))
        person["company"] = bar
        return person
      }
      try context.commit()
      #expect(bar["headcount"] == 3 && bar["payroll"] == 6 && foo["people"] == 3)
      #expect(people[0]["group"] == "Foo" && foo["headcount"] == 0 && foo["least"] == nil)

      people[2]["company"] = foo
      try context.commit()
      #expect(bar["payroll"] == 3 && foo["payroll"] == 3 && foo["people"] == 2)
      #expect(people[2]["employer"] == "Foo" && people[2]["group"] == nil)

      people[0]["wage"] = 7
      bar["parent"] = nil as ManagedObject?
      context.delete(people[2])
      try context.commit()
      #expect(bar["payroll"] == 9 && bar["least"] == 2 && foo["people"] == 0)
      #expect(foo["headcount"] == 0 && foo["payroll"] == 0 && people[0]["group"] == nil)

      let skill = try context.insert("Skill")
      try people[1].objects(forKey: "skills").insert(skill)
      try context.commit()
      #expect(people[1]["skillCount"] == 1)
      context.delete(skill)
      try context.commit()
      #expect(people[1]["skillCount"] == 0)
      context.delete(bar)
      try context.commit()
      #expect(people[1]["employer"] == nil)
    }
  }

  @Test("A derived date changes only when a commit writes the object")
  func nowIsWhenTheObjectWasWritten() throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let foo = try context.insert("Company")
      foo["name"] = "Foo"
      try context.commit()
      let first: Date = foo["written"]
      foo["name"] = "Bar"
      foo["name"] = "Foo"
      try context.commit()
      #expect(foo["written"] as Date == first)
      let ada = try context.insert("Employee")
      try context.commit()
      #expect(foo["written"] as Date == first)
      ada["company"] = foo
      try context.commit()
      // A derived value that changes doesn't write the object.
      #expect(foo["headcount"] == 1 && foo["written"] as Date == first)
      foo["name"] = "Bar"
      try context.commit()
      let second: Date = foo["written"]
      #expect(second > first)
      let history = try store.engine.snapshot().history(after: store.engine.lastSequence - 1)
      guard case .entries(let entries) = history else { throw Interruption() }
      #expect(entries.map(\.date) == [second])
    }
  }

  @Test("Setting a derived attribute by name or by an update throws")
  func nobodyElseSetsThem() throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let foo = try context.insert("Company")
      let error = try failure { try foo.setValue(4, forKey: "headcount") }
      #expect(error.code == .notAllowed && error.keyPath == "headcount")
      #expect(error.message.contains("employees.@count"))
      try context.commit()
      #expect(throws: ArborError.self) { try context.objects("Company").update(["headcount": 3]) }
      context.rollback()
      #expect(foo["headcount"] == 0)
    }
  }

  @Test("Derived values can be unique")
  func derivedValuesCanBeUnique() throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let (foo, bar) = (try context.insert("Company"), try context.insert("Company"))
      foo["name"] = "Élan"
      bar["name"] = "ELAN"
      #expect(try failure { try context.commit() }.code == .notUnique)
      #expect(foo["key"] == nil && foo.isInserted)
      bar["name"] = "Elans"
      try context.commit()
      #expect(try context.count("Company", matching: "key == 'elan'") == 1)
      bar["name"] = "x"
      try context.validate()
      #expect(bar["key"] == "elans")
      bar["name"] = "ELAN"
      #expect(try failure { try context.validate() }.code == .notUnique)
      #expect(bar["key"] == "elans" && bar.changedValues() == ["name": "ELAN"])
    }
  }

  @Test("Derived values are correct after concurrent commits")
  func commitsSideBySideAgree() throws {
    try ObjectStore.use(model()) { store in
      let (left, right) = (store.makeContext(), store.makeContext())
      let foo = try left.insert("Company")
      foo["name"] = "Foo"
      let ada = try left.insert("Employee")
      ada["company"] = foo
      try left.commit()
      right.automaticallyMergesCommits = false
      let same = try #require(try right.fetchOne("Company", matching: "name == 'Foo'"))
      #expect(same["headcount"] == 1)

      // Both contexts add a member, which isn't a conflict.
      let bob = try right.insert("Employee")
      bob["company"] = same
      bob["wage"] = 5
      let cy = try left.insert("Employee")
      cy["company"] = foo
      cy["wage"] = 3
      try left.commit()
      try right.commit()
      #expect(same["headcount"] == 3 && same["payroll"] == 8)

      // One context renames the company that the other's new member shows.
      let dan = try right.insert("Employee")
      dan["company"] = same
      try left.withSnapshot {}
      foo["name"] = "Bar"
      try left.commit()
      try right.commit()
      #expect(dan["employer"] == "Bar")
      #expect(try right.count("Employee", matching: "employer == 'Bar'") == 4)
    }
  }

  @Test("Derived values follow undo")
  func undoIsFollowed() throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      context.undoHistory = UndoHistory()
      let foo = try context.insert("Company")
      foo["name"] = "Foo"
      try context.commit()
      let ada = try context.insert("Employee")
      ada["company"] = foo
      ada["wage"] = 4
      try context.commit()
      let written: Date = foo["written"]
      context.delete(ada)
      try context.commit()
      #expect(foo["headcount"] == 0)
      context.undo()
      try context.commit()
      #expect(foo["headcount"] == 1 && foo["payroll"] == 4 && foo["written"] as Date == written)
      #expect(try context.count("Employee", matching: "employer == 'Foo'") == 1)
      foo["name"] = "Bar"
      try context.commit()
      context.undo()
      try context.commit()
      #expect(foo["key"] == "foo")
      #expect(try context.count("Employee", matching: "employer == 'Foo'") == 1)
    }
  }

  /// Concurrent commits that change the same derived values don't lose or reject any change.
  @Test("Derived values are correct after many concurrent commits")
  func manyCommitsAtOnceAgree() async throws {
    let store = try PersistentStore(model: model(), at: .inMemory)
    defer { store.close() }
    let company = try await store.perform { context in
      let company = try context.insert("Company")
      company["name"] = "Foo"
      return company.objectID
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for place in 0..<8 {
        group.addTask {
          for step in 0..<5 {
            try await store.perform { context in
              let company = try context.existingObject(with: company)
              if place == 0 { company["name"] = .string("Foo \(step)") }
              let person = try context.insert("Employee")
              person["company"] = company
              person["wage"] = 2
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let context = store.makeContext()
    let object = try context.existingObject(with: company)
    #expect(object["headcount"] == 40 && object["payroll"] == 80)
    #expect(try context.count("Employee", matching: "employer == company.name") == 40)
    try store.check()
  }

  /// After random edits and undo in two contexts, a third context reads that every derived value
  /// matches its expression.
  @Test(
    "Derived values always match their expressions",
    arguments: Array(0..<8) + [74, 202, 248, 257, 285])
  func valuesAreNeverOutOfDate(place: Int) throws {
    let seed = UInt64(place) &* 7919 &+ 3
    var random = SeededRandom(seed: seed)
    try ObjectStore.use(model()) { store in
      let contexts = [store.makeContext(), store.makeContext()]
      for context in contexts {
        context.mergePolicy = .mergeByPropertyObjectWins
        context.undoHistory = UndoHistory()
      }
      for step in 0..<60 {
        for context in contexts.shuffled(using: &random) {
          for _ in 0..<Int.random(in: 0...3, using: &random) { try edit(context, &random) }
        }
        for context in contexts.shuffled(using: &random) { try context.commit() }
        guard step % 4 == 0 else { continue }
        try examine(store.makeContext(), seed)
      }
      try examine(store.makeContext(), seed)
    }
  }

  private func edit(_ context: ManagedObjectContext, _ random: inout SeededRandom) throws {
    let companies = try context.objects("Company").fetch()
    let people = try context.objects("Employee").fetch()
    let name = PropertyValue.string("name \(UInt32.random(in: 0...(.max), using: &random))")
    switch Int.random(in: 0..<11, using: &random) {
    case 0, 1: try context.insert("Company")["name"] = name
    case 2, 3:
      let person = try context.insert("Employee")
      person["wage"] = .integer(Int64.random(in: 0..<9, using: &random))
      person["company"] = companies.randomElement(using: &random)
    case 4:
      people.randomElement(using: &random)?["company"] = companies.randomElement(using: &random)
    case 5:
      people.randomElement(using: &random)?["wage"] = .integer(.random(in: 0..<9, using: &random))
    case 6: companies.randomElement(using: &random)?["name"] = name
    case 8: context.undo()
    case 9: context.redo()
    case 7:
      companies.randomElement(using: &random)?["parent"] = companies.randomElement(using: &random)
    default:
      if let object = (companies + people).randomElement(using: &random) { context.delete(object) }
    }
  }

  private func examine(_ context: ManagedObjectContext, _ seed: UInt64) throws {
    for company in try context.objects("Company").fetch() {
      let employees: [ManagedObject] = company["employees"]
      let branches: [ManagedObject] = company["branches"]
      let wages = employees.map { $0["wage"] as Int }
      #expect(company["headcount"] as Int == employees.count, "seed \(seed)")
      #expect(company["payroll"] as Int == wages.reduce(0, +), "seed \(seed)")
      #expect(company["least"] as Int? == wages.min(), "seed \(seed)")
      let people = branches.map { ($0["employees"] as [ManagedObject]).count }
      #expect(company["people"] as Int == people.reduce(0, +), "seed \(seed)")
    }
    for person in try context.objects("Employee").fetch() {
      let company: ManagedObject? = person["company"]
      let parent = company?["parent"] as ManagedObject?
      let (name, group) = (
        company.map { $0["name"] as String }, parent.map { $0["name"] as String }
      )
      #expect(person["employer"] as String? == name, "seed \(seed)")
      #expect(person["group"] as String? == group, "seed \(seed)")
    }
  }
}

/// A class that declares a setter for a derived attribute.
private final class Ring: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Ring", className: "Ring",
    attributes: [
      AttributeDescription(name: "width", type: .double, defaultValue: 1.0),
      AttributeDescription(
        name: "doubled", type: .double, isOptional: true, derivation: "width * 2"),
    ])

  var width: Double {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var doubled: Double? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
}
