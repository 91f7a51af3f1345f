import ArborData
import Foundation
import TestSupport
import Testing

/// The rows of the article *Coming from Core Data*, in the notation of its right column.
@Suite("The table of the article Coming from Core Data") struct ComingFromCoreDataTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifier: "1") {
      EntityDescription("Person") {
        AttributeDescription("name", .string, .default(""), .pattern("[^0-9]*"))
        AttributeDescription("age", .integer16, .default(0), .indexed)
        AttributeDescription("badge", .string, .optional, .unique, .preservedOnDeletion)
        AttributeDescription("shout", .string, .optional, .derived("uppercase:(name)"))
        AttributeDescription("photo", .binary, .optional, .externalStorage)
        FetchIndexDescription("adults", on: "name", where: "age >= 18")
      }
    }
  }

  private let folder: TemporaryFolder
  private var url: URL { folder.url.appending(path: "people.arbor") }

  init() throws { folder = try TemporaryFolder() }

  private func use(_ body: (ManagedObjectContext) throws -> Void) throws {
    let store = try PersistentStore(model: Self.model(), at: .file(url))
    defer { store.close() }
    try body(store.makeContext())
    try store.check()
  }

  private func person(
    _ name: String, _ age: Int, in context: ManagedObjectContext
  ) throws -> ManagedObject {
    let person = try context.insert("Person")
    person["name"] = name
    person["age"] = age
    return person
  }

  // MARK: Stores and models

  @Test("NSPersistentContainer is DataManager, or a PersistentStore alone")
  func containers() throws {
    let manager = try DataManager(for: Company.self, Employee.self, at: .inMemory)
    manager.context.insert(Company.self).companyName = "Foo Inc."
    try manager.commit()
    #expect(try manager.store.makeContext().count(Company.self) == 1)
  }

  @Test("performBackgroundTask is perform, performBackground or commitInBackground")
  func backgroundTasks() async throws {
    let manager = try Corporation.manager()
    let store = manager.store
    try await store.perform { context in context.insert(Company.self).companyName = "one" }
    try await store.performBackground { context in context.insert(Company.self).companyName = "two"
    }
    try await manager.commitInBackground { context in
      context.insert(Company.self).companyName = "three"
    }
    #expect(try manager.count(Company.self) == 3)
  }

  @Test("NSManagedObjectModel is read from a file or built in code")
  func models() throws {
    let folder = try Corporation.modelFolder(named: "ComingFromCoreData")
    let read = try ManagedObjectModel(
      contentsOf: folder.appending(path: "ComingFromCoreData.xcdatamodeld"))
    #expect(read.entities.map(\.name) == ["Company", "Employee"])
    #expect(try Self.model().entities.map(\.name) == ["Person"])
  }

  @Test("An inferred mapping is a ModelDifference, with its losses")
  func inferredMappings() throws {
    let first = try Self.model()
    var second = first
    second.entities[0].attributes.removeAll { $0.name == "photo" }
    let difference = first.difference(to: second)
    #expect(difference.isLightweight && difference.losses.count == 1)
  }

  @Test("shouldMigrateStoreAutomatically is on; losses must be listed in StoreOptions.migration")
  func automaticMigration() throws {
    try use { context in
      _ = try person("Ada", 36, in: context)
      try context.commit()
    }
    var second = try Self.model()
    second.entities[0].attributes.removeAll { $0.name == "photo" }
    second.entities[0].attributes.append(AttributeDescription("note", .string, .optional))
    #expect(throws: ArborError.self) { try PersistentStore(model: second, at: .file(url)) }
    var options = StoreOptions()
    options.migration = .automatic(dropping: ["Person.photo"])
    let store = try PersistentStore(model: second, at: .file(url), options: options)
    defer { store.close() }
    let ada = try #require(try store.makeContext().fetchOne("Person"))
    #expect(ada["name"] == "Ada" && ada["note"] == .null)
    try store.check()
  }

  @Test("NSEntityMigrationPolicy is a MigrationStep with old and new objects side by side")
  func migrationSteps() throws {
    try use { context in
      _ = try person("Ada Lovelace", 36, in: context)
      try context.commit()
    }
    let first = try Self.model()
    var second = first
    second.entities[0].attributes.append(AttributeDescription("family", .string, .default("")))
    var options = StoreOptions()
    options.modelVersions = [first, second]
    options.migrationSteps = [
      MigrationStep(from: first, to: second) { migration in
        try migration.migrate("Person") { old, new in
          new["family"] = (old["name"] as String).split(separator: " ").last.map(String.init) ?? ""
        }
      }
    ]
    let store = try PersistentStore(model: second, at: .file(url), options: options)
    defer { store.close() }
    #expect(try store.makeContext().fetchOne("Person")?["family"] == "Lovelace")
  }

  // MARK: Contexts and objects

  @Test("viewContext is DataManager.context, save() is commit()")
  func contexts() throws {
    let manager = try Corporation.manager()
    let context: ManagedObjectContext = manager.context
    context.insert(Company.self)
    try context.commit()
    #expect(!context.hasChanges)
  }

  @Test("value(forKey:) and setValue(_:forKey:) throw; a subscript requires valid names")
  func valuesByName() throws {
    try use { context in
      let object: ManagedObject = try person("Ada", 36, in: context)
      try object.setValue(37, forKey: "age")
      #expect(try object.value(forKey: "age").int == 37)
      #expect(try object.value(forKey: "name").string == "Ada")
      #expect(try object.value(forKey: "name").date == nil)
      #expect(object["name"] == "Ada")
      #expect(throws: ArborError.self) { try object.value(forKey: "nmae") }
    }
  }

  @Test("mutableSetValue(forKey:) is objects(forKey:), a view whose methods throw")
  func membersByName() throws {
    let manager = try Corporation.manager()
    let company: ManagedObject = manager.context.insert(Company.self)
    let ada: ManagedObject = manager.context.insert(Employee.self)
    let bob: ManagedObject = manager.context.insert(Employee.self)
    let employees = try company.objects(forKey: "employees")
    try employees.insert(ada)
    #expect(try employees.contains(ada) && !employees.contains(bob) && employees.count() == 1)
    try employees.replaceAll(with: [ada, bob])
    try employees.remove(ada)
    #expect(try employees.fetch() == [bob])
    #expect(throws: ArborError.self) { try employees.insert(company) }
    #expect(throws: ArborError.self) { try company.objects(forKey: "companyName") }
  }

  @Test("NSManagedObjectID is an ObjectID, permanent from insertion, Sendable and Codable")
  func objectIDs() throws {
    func sendable(_ value: some Sendable & Codable) -> Data? { try? JSONEncoder().encode([value]) }
    try use { context in
      let object = try person("Ada", 36, in: context)
      let id = object.objectID
      try context.commit()
      #expect(object.objectID == id && sendable(id) != nil)
      #expect(try context.object(with: id) === object)
    }
  }

  // MARK: Fetching

  @Test("NSFetchRequest is FetchRequest, NSPredicate FetchPredicate, NSSortDescriptor SortKey")
  func fetching() throws {
    try use { context in
      for (name, age) in [("Ada", 36), ("Bob", 17), ("Cid", 60)] {
        _ = try person(name, age, in: context)
      }
      var request = FetchRequest<ManagedObject>(entity: "Person")
      let least = 18
      request.predicate = "age >= \(least)"
      request.sortKeys = ["-age"]
      #expect(try context.fetch(request).map { $0["name"] as String } == ["Cid", "Ada"])
      request.predicate = try FetchPredicate(format: "age >= %@", least)
      request.sortKeys = [SortKey("name")]
      #expect(try context.fetch(request).map { $0["name"] as String } == ["Ada", "Cid"])
      request.sortKeys = ["-age * 2"]
      #expect(try context.fetchOne(request)?["name"] == "Cid")
    }
  }

  @Test("A constant in a predicate is never parsed as text")
  func constants() throws {
    try use { context in
      _ = try person("' OR 1 == 1", 1, in: context)
      #expect(try context.count("Person", matching: "name == \("' OR 1 == 1")") == 1)
      #expect(try context.count("Person", matching: "name == \("' OR TRUEPREDICATE OR '")") == 0)
    }
  }

  @Test("NSFetchedResultsController is FetchedResults, with exact differences")
  @MainActor func fetchedResults() async throws {
    let store = try PersistentStore(model: Self.model(), at: .inMemory)
    let context = store.makeContext()
    let results = try context.fetchedResults(
      FetchRequest<ManagedObject>(entity: "Person", sortKeys: ["name"]))
    _ = try person("Ada", 36, in: context)
    for await difference in results.changes {
      #expect(difference.insertions.map(\.index) == [0] && difference.deletions.isEmpty)
      break
    }
    #expect(results.count == 1)
  }

  @Test("fetchRequestFromTemplate is fetchRequest(named:substituting:)")
  func namedRequests() throws {
    let folder = try Corporation.modelFolder(named: "Templates")
    let manager = try DataManager(modelNamed: "Templates", in: folder, alias: "templates")
    let company = try manager.insert("Company")
    let employee = try manager.insert("Employee")
    employee["salary"] = 2000
    employee["company"] = company
    let request = try manager.fetchRequest(
      named: "companyWellPaidEmployees", substituting: ["company": company])
    #expect(try manager.fetch(request) == [employee])
    #expect(try manager.count(forRequestNamed: "wellPaidEmployees") == 1)
  }

  // MARK: Changes

  @Test("Merge policies are cases of MergePolicy, for uniqueness too")
  func mergePolicies() throws {
    try use { context in
      try person("Ada", 36, in: context).setValue("A1", forKey: "badge")
      try context.commit()
      let other = context.store.makeContext()
      other.mergePolicy = .mergeByPropertyObjectWins
      try person("Eve", 40, in: other).setValue("A1", forKey: "badge")
      try other.commit()
      #expect(try context.fetch("Person").map { $0["name"] as String } == ["Eve"])
    }
  }

  @Test("External commits are merged by every operation, or by mergeExternalCommits()")
  func externalCommits() throws {
    try use { context in
      let ada = try person("Ada", 36, in: context)
      try context.commit()
      let other = context.store.makeContext()
      try other.object(with: ada.objectID).setValue("Eve", forKey: "name")
      try other.commit()
      try context.mergeExternalCommits()
      #expect(ada["name"] == "Eve")
    }
  }

  @Test("UndoManager is the UndoHistory of a context; a DataManager has one")
  func undo() throws {
    try use { context in
      context.undoHistory = UndoHistory()
      _ = try person("Ada", 36, in: context)
      context.undo()
      #expect(try context.count("Person") == 0)
      context.redo()
      #expect(try context.count("Person") == 1)
    }
    let manager = try Corporation.manager()
    manager.insert(Company.self)
    manager.undo()
    #expect(try manager.count(Company.self) == 0)
  }

  @Test("Persistent history is CommittedChanges, and tombstones are tombstone(of:)")
  func history() async throws {
    let store = try PersistentStore(model: Self.model(), at: .inMemory)
    let context = store.makeContext()
    let ada = try person("Ada", 36, in: context)
    ada["badge"] = "A1"
    try context.commit()
    var changes = store.changes.makeAsyncIterator()
    context.delete(ada)
    try context.commit()
    let last: CommittedChanges = try #require(await changes.next(isolation: nil))
    #expect(last.deleted == [ada.objectID])
    #expect(last.tombstone(of: ada.objectID) == ["badge": "A1"])
  }

  // MARK: Descriptions

  @Test("NSFetchIndexDescription is FetchIndexDescription, here of a partial index")
  func indexes() throws {
    try use { context in
      let plan = try context.objects("Person").filter("age >= 18 AND name == 'Ada'").explain()
      #expect(plan.description.contains("Person.adults"))
    }
  }

  @Test("NSDerivedAttributeDescription is AttributeDescription.derivation, of any expression")
  func derivedAttributes() throws {
    try use { context in
      let ada = try person("Ada", 36, in: context)
      try context.commit()
      #expect(ada["shout"] == "ADA")
      #expect(ada.entity.attributes.first { $0.name == "shout" }?.derivation == "uppercase:(name)")
    }
  }

  @Test("ValueTransformer is an AttributeTransformer that is registered by name")
  func transformers() throws {
    AttributeTransformers.register(
      CodableTransformer<[String: Int]>(), named: "ComingFromCoreData")
    let model = try ManagedObjectModel {
      EntityDescription("Box") {
        AttributeDescription(transformed: "contents", .transformable("ComingFromCoreData"))
      }
    }
    let store = try PersistentStore(model: model, at: .inMemory)
    let context = store.makeContext()
    let box = try context.insert("Box")
    try box.setTransformedValue(["pens": 3], forKey: "contents")
    try context.commit()
    #expect(try box.transformedValue(forKey: "contents", as: [String: Int].self) == ["pens": 3])
  }

  @Test("allowsExternalBinaryDataStorage is allowsExternalStorage, in the store's own file")
  func externalStorage() throws {
    try use { context in
      let photo = Data(repeating: 7, count: 1 << 20)
      try person("Ada", 36, in: context).setValue(photo, forKey: "photo")
      try context.commit()
      let other = context.store.makeContext()
      #expect(try other.fetchOne("Person")?.value(forKey: "photo").data == photo)
      let attribute = context.store.model.entities[0].attributes.first { $0.name == "photo" }
      #expect(attribute?.allowsExternalStorage == true)
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(files.allSatisfy { $0.hasPrefix("people.arbor") })
  }

  @Test("validateForInsert() can be called at any time, and validate() checks all changes")
  func validation() throws {
    try use { context in
      let robot = try person("R2D2", 36, in: context)
      for validate in [robot.validateForInsert, context.validate] as [() throws -> Void] {
        let error = #expect(throws: ArborError.self) { try validate() }
        #expect(error?.code == .validation && error?.keyPath == "name")
      }
      robot["name"] = "Robot"
      try robot.validateForInsert()
      try context.validate()
      try context.commit()
    }
  }
}
