import ArborData
import Foundation
import TestSupport
import Testing

@testable import ArborExchange
@testable import ArborModel
@testable import ArborObjects
@testable import ArborStore

/// The three walkthroughs of the README, step by step, with the inputs and outputs of each step for
/// readers of the sources.
@Suite("The walkthroughs of the README") struct WalkTests {
  let folder: TemporaryFolder
  let store: PersistentStore

  init() throws {
    folder = try TemporaryFolder()
    let model = try ManagedObjectModel {
      EntityDescription("Company") {
        AttributeDescription("name", .string, .unique)
        RelationshipDescription(
          "employees", to: "Employee", inverse: "company", .toMany, deleteRule: .cascade)
      }
      EntityDescription("Employee") {
        AttributeDescription("name", .string)
        AttributeDescription("age", .integer64, .indexed, .default(18))
        RelationshipDescription("company", to: "Company", inverse: "employees")
      }
    }
    store = try PersistentStore(
      model: model, at: .file(folder.url.appending(path: "walk.arbor")))
    let context = store.makeContext()
    let company = try context.insert("Company")
    company["name"] = "Foo Inc."
    for age in 20..<60 {
      let employee = try context.insert("Employee")
      employee["name"] = age.isMultiple(of: 2) ? "Ada \(age)" : "Grace \(age)"
      employee["age"] = age
      employee["company"] = company
    }
    try context.commit()
  }

  /// Text → tokens → tree → bound tree → plan → rows → records → objects.
  @Test("A fetch passes through every step from the text to the objects")
  func aFetch() throws {
    let predicate: FetchPredicate = "age >= \(30) AND age < 34 AND name BEGINSWITH 'Ada'"

    // The text is tokenized and parsed into a tree. The constant is an argument, never part of the
    // text.
    let text = PredicateText(segments: ["age >= ", " AND age < 34 AND name BEGINSWITH 'Ada'"])
    var lexer = PredicateLexer(text, isFormat: false)
    try lexer.run()
    #expect(lexer.tokens.count == 12, "eleven words and the end")
    let parsed = PredicateParser.parse(text, isFormat: false, limits: PredicateLimits())
    let tree = try parsed.outcome.get()
    guard case .and(let terms) = tree else {
      Issue.record("a conjunction was expected, not \(tree)")
      return
    }
    #expect(terms.count == 3)
    #expect(try predicate.parsed.outcome.get() == tree)

    // Names are resolved to slots, and the conjunction is split into index-servable terms and the
    // rest.
    let schema = store.engine.schema
    let entity = try #require(schema.entity(named: "Employee"))
    let bound = try PredicateBinder.bind(predicate, to: entity, in: schema)
    let environment = PredicateEnvironment(schema: schema, storeID: store.id)
    let conjunction = try bound.conjunction(
      arguments: predicate.arguments, environment: environment)
    #expect(conjunction.conjuncts.count { $0.term != nil } >= 1)

    // The planner chooses the age index based on exact counts. Terms that the index doesn't cover
    // become a filter.
    let query = StoreQuery(entity: entity, predicate: (bound, predicate.arguments))
    let snapshot = try store.engine.snapshot()
    defer { snapshot.close() }
    let plan = try snapshot.explain(query)
    #expect(plan.access.kind == .index, "\(plan)")
    #expect(plan.access.name == "Employee.age", "\(plan)")

    // The executor copies the matching records into slabs, and records are read in place.
    let found = try snapshot.fetch(query, overlay: nil, allocator: SlabAllocator())
    let age = try #require(entity.attributes.first { $0.name == "age" })
    #expect(found.rows.compactMap { $0.record?.value(age.field) } == [.integer(30), .integer(32)])

    // A context creates one object per number and registers it.
    let context = store.makeContext()
    let objects = try context.fetch(
      FetchRequest<ManagedObject>(entity: "Employee", predicate: predicate))
    #expect(objects.map(\.number) == found.rows.map(\.number))
    #expect(objects.allSatisfy { context.session.registry.object($0.number) === $0 })
    #expect(objects.map { $0["name"] as String } == ["Ada 30", "Ada 32"])
    try store.check()
  }

  /// Changes → propagation → validation → change set → one transaction → memory.
  @Test("A commit passes through every step from the changes to memory")
  func aCommit() throws {
    let context = store.makeContext()
    let company = try #require(
      try context.fetchOne("Company", matching: "name == \("Foo Inc.")") as ManagedObject?)
    let employee = try context.insert("Employee")

    // Validation reports all violations at once, and a commit that fails it changes nothing.
    var validation = CommitValidation(session: context.session)
    #expect(throws: ArborError.self) { try validation.check() }
    let before = store.engine.lastSequence
    #expect(throws: ArborError.self) { try context.commit() }
    #expect(store.engine.lastSequence == before)
    #expect(employee.isInserted)

    // Deleting takes effect at once: the company's employees are deleted with it and excluded from
    // every fetch.
    context.delete(company)
    #expect(try context.count("Employee") == 1)
    employee["name"] = "Edsger"

    // One transaction contains all changes, and the history records them.
    try context.commit()
    #expect(store.engine.lastSequence == before + 1)
    let snapshot = try store.engine.snapshot()
    defer { snapshot.close() }
    guard case .entries(let entries) = try snapshot.history(after: before) else {
      Issue.record("the history must reach back to the last commit")
      return
    }
    let changes = try #require(entries.first).changes
    #expect(entries.count == 1)
    #expect(changes.count { $0.kind == .delete } == 41)
    #expect(changes.filter { $0.kind == .insert }.map(\.number) == [employee.number])

    // Records, indexes and relationships are updated.
    let entity = try #require(store.engine.schema.entity(named: "Employee"))
    #expect(try snapshot.count(StoreQuery(entity: entity), overlay: nil) == 1)
    #expect(try snapshot.exists(employee.number))
    #expect(!employee.isInserted)
    try store.check()
  }

  /// Notes → mapping; document → items → plan → identities → objects, filled and connected.
  @Test("An import passes through every step from the document to the objects")
  func anImport() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Department") {
        AttributeDescription("departmentID", .integer64, .unique)
        AttributeDescription("name", .string)
        RelationshipDescription("members", to: "Member", inverse: "department", .toMany)
      }
      EntityDescription("Member") {
        AttributeDescription("memberID", .integer64, .unique)
        AttributeDescription("name", .string)
        RelationshipDescription("department", to: "Department", inverse: "members")
      }
    }
    let store = try PersistentStore(
      model: model, at: .file(folder.url.appending(path: "import.arbor")))
    let context = store.makeContext()
    let known = try context.insert("Department")
    known["departmentID"] = 1
    known["name"] = "R"
    try context.commit()
    let source: JSONSource = """
      [{"departmentID": 1, "name": "R&D",
        "members": [{"memberID": 7, "name": "Ada"}, {"memberID": 8, "name": "Alan"}]},
       {"departmentID": 2, "name": "Sales"}]
      """

    // The mapping of an entity is compiled once. It determines the identity of objects and where
    // their values come from.
    let schema = store.engine.schema
    let mapper = ImportMapper(schema, ImportOptions())
    let department = try schema.requireEntity(named: "Department")
    let mapping = try mapper.mapping(for: department)
    #expect(mapping.identityNames == ["departmentID"])
    #expect(try mapper.mapping(for: department) === mapping)

    // The items of the document, parsed onto a tape.
    let plan = ExchangePlan(context)
    var document = try ImportDocument(source, ImportOptions(), plan.limit)
    let batch = try #require(try document.next(10))
    #expect(batch.items.count == 2)
    #expect(try document.next(10)?.items.count == nil)

    // The plan contains each item with its identity, values and members. The context is not
    // touched.
    let entered = try withExtendedLifetime(mapper) { try plan.enterItems(batch.items, mapping) }
    #expect(entered == [0, 3])
    let entities = plan.items.map { plan.mapping(of: $0).entity.name }
    #expect(entities == ["Department", "Member", "Member", "Department"])
    let table = try #require(plan.tables[0])
    let keys: [Int32] = plan.items.map(\.key)
    #expect(keys == [0, 0, 1, 1])
    #expect(table.key(at: 1) == IdentityKey.number(2))
    #expect(!context.hasChanges)

    // All identities are looked up together.
    try plan.fetchObjects()
    #expect(table.only(at: 0) === known)
    #expect(table.only(at: 1) == nil)

    // The run finds or inserts each item's object, sets its values, and connects it.
    let run = ExchangeRun(plan)
    let objects = try run.carryOut(entered)
    #expect(objects.first === known)
    let names = objects.map { $0["name"] as String }
    #expect(names == ["R&D", "Sales"])
    #expect(run.counts.inserted == 3 && run.counts.updated == 1 && run.counts.unchanged == 0)
    #expect(try context.count("Member", matching: "department.departmentID == 1") == 2)
    #expect(try run.connectDeferred(unknownKey: .isError).isEmpty, "no item names objects by keys")
    try context.commit()

    // The public method performs these steps within a savepoint. A second import changes nothing if
    // members are merged rather than replaced.
    let other = store.makeContext()
    var options = ImportOptions()
    options.defaultMergePolicy = .merge
    let again = try other.importObjects(from: source, as: "Department", options: options)
    #expect(again.count == 2)
    #expect(!other.hasChanges)
    try store.check()
  }

  /// Document → plan → objects → connections → commit, all or nothing.
  @Test("A seed passes through every step from the document to the commit")
  func aSeed() throws {
    let url = folder.url.appending(path: "Main.seed.json")
    try Data(
      """
      {"Company": {"name": "Bar & Sons", "employees": {"seedlings": [{"seedFile": "Staff.json"}]}}}
      """.utf8
    ).write(to: url)
    try Data(#"{"Employee": [{"name": "Alan", "age": 41}, {"name": "Kurt"}]}"#.utf8)
      .write(to: folder.url.appending(path: "Staff.json"))

    // The documents are parsed and checked against the model before the context is touched.
    let context = store.makeContext()
    var reader = SeedReader(context, SeedOptions())
    _ = try reader.read(.file(url))
    let plan = try reader.finish()
    let entities = plan.items.map { plan.mapping(of: $0).entity.name }
    #expect(entities.sorted() == ["Company", "Employee", "Employee"])
    #expect(!context.hasChanges)

    // Then the plan is carried out in the context, and the caller commits.
    let report = try context.seed(from: .file(url))
    #expect(report.created == ["Company": 1, "Employee": 2])
    #expect(report.documents.map(\.lastPathComponent) == ["Main.seed.json", "Staff.json"])
    #expect(try context.count("Employee", matching: "company.name == 'Bar & Sons'") == 2)
    try context.commit()
    #expect(try store.makeContext().count("Employee", matching: "age == 18") == 1, "the default")

    // An invalid document leaves the context unchanged.
    try Data(#"{"Company": {"name": "Baz", "employes": []}}"#.utf8).write(to: url)
    #expect(throws: ArborError.self) { try context.seed(from: .file(url)) }
    #expect(!context.hasChanges)
    try store.check()
  }

  @Test("Every type that the README's walkthroughs mention has a file of its name")
  func theSignpostsStand() throws {
    let root = URL(filePath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let walks = try #require(readme.components(separatedBy: "Three walks").last)
    let names = walks.components(separatedBy: "`").enumerated()
      .filter { $0.offset % 2 == 1 && $0.element.first?.isUppercase == true }.map(\.element)
    let paths =
      FileManager.default.enumerator(atPath: root.path + "/Sources")?
      .compactMap { $0 as? String } ?? []
    let tests =
      FileManager.default.enumerator(atPath: root.path + "/Tests")?
      .compactMap { $0 as? String } ?? []
    let files = Set((paths + tests).compactMap { $0.split(separator: "/").last.map(String.init) })
    #expect(names.count > 15)
    #expect(names.filter { !files.contains("\($0).swift") } == [])
  }
}
