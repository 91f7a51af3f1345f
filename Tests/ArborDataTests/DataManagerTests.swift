import ArborData
import Foundation
import Testing

@Suite struct DataManagerTests {
  /// Inserts two companies; the first has three employees with salaries of 500, 1500 and 2500.
  private func populated(_ manager: DataManager) throws {
    let foo = manager.insert(Company.self)
    foo.companyName = "Foo Inc."
    manager.insert(Company.self).companyName = "Bar Ltd."
    for (name, salary) in [("a", 500), ("b", 1500), ("c", 2500)] {
      let employee = manager.insert(Employee.self)
      employee.name = name
      employee.salary = salary
      employee.company = foo
    }
  }

  @Test("Objects are fetched by entity and by class")
  func fetchesByEntityAndByClass() throws {
    let manager = try Corporation.manager()
    try populated(manager)
    for _ in 0..<2 {
      #expect(try manager.fetchAll("Employee").count == 3)
      #expect(
        try manager.fetchAll(Employee.self, sortedBy: "-salary").map(\.name) == ["c", "b", "a"])
      #expect(
        try manager.fetchAll("Employee", matching: "salary > \(1000)", sortedBy: "name")
          .map { $0["name"] } == ["b", "c"])
      #expect(
        try manager.fetchAll(Employee.self, matching: "salary > \(1000)", sortedBy: ["-name"])
          .map(\.name) == ["c", "b"])
      let foo = try #require(
        try manager.fetchOne("Company", matching: "companyName == \("Foo Inc.")"))
      #expect(try manager.fetchOne(Company.self, matching: "companyName == 'Nope'") == nil)
      #expect(try manager.fetchOne(Employee.self, sortedBy: "-salary", "name")?.name == "c")
      #expect(try manager.fetchOne("Employee", sortedBy: ["salary"])?["name"] == "a")
      #expect(try manager.count("Employee", matching: "company == \(foo.objectID)") == 3)
      #expect(try manager.count(Company.self) == 2)
      #expect(
        try manager.fetch(FetchRequest<Employee>(predicate: "salary < 1000")).map(\.name) == ["a"])
      try manager.commit()
    }
    try manager.store.check()
  }

  @Test("A manager commits and rolls back")
  func commitsAndRollsBack() throws {
    let manager = try Corporation.manager()
    try populated(manager)
    try manager.commit()
    let foo = try #require(
      try manager.fetchOne(Company.self, matching: "companyName == 'Foo Inc.'"))
    manager.delete(foo)
    #expect(try manager.count("Employee") == 0)
    manager.rollback()
    #expect(try manager.count("Employee") == 3)
    #expect(foo.employees.count == 3)
    manager.delete(foo)
    try manager.commit()
    #expect(try manager.count("Employee") == 0)
    #expect(try manager.count("Company") == 1)
    try manager.store.check()
  }

  @Test("All objects can be deleted")
  func deletesEverything() throws {
    let manager = try Corporation.manager()
    try populated(manager)
    try manager.commit()
    try manager.deleteAll()
    #expect(try manager.count("Company") == 0 && manager.count("Employee") == 0)
    manager.rollback()
    #expect(try manager.count("Company") == 2 && manager.count("Employee") == 3)
    try manager.deleteAll()
    try manager.commit()
    #expect(try manager.count("Company") == 0 && manager.count("Employee") == 0)
    try manager.store.check()
  }

  @Test("Unique IDs are never repeated")
  func uniqueIDsNeverRepeat() throws {
    let manager = try Corporation.manager()
    var last: Int64 = 0
    for _ in 0..<1_000 {
      let next = try manager.uniqueID()
      #expect(next > last)
      last = next
    }
    manager.rollback()
    try manager.purge()
    #expect(try manager.uniqueID() > last)
    try manager.store.check()
  }

  @Test("A purge deletes everything and leaves the manager usable")
  func purgeErasesAndLeavesTheManagerUsable() throws {
    let manager = try Corporation.manager()
    try populated(manager)
    try manager.commit()
    try manager.insert("Company")
    try manager.purge()
    #expect(!manager.context.hasChanges)
    #expect(try manager.count("Company") == 0 && manager.count("Employee") == 0)
    try populated(manager)
    try manager.commit()
    #expect(try manager.count("Employee") == 3)
    try manager.store.check()
  }

  @Test("A background commit is visible in the manager's context when the call returns")
  func commitInBackgroundIsTakenInBeforeItReturns() async throws {
    let manager = try Corporation.manager()
    try populated(manager)
    try manager.commit()
    let employee = try #require(try manager.fetchOne(Employee.self, matching: "name == 'a'"))
    let id = employee.objectID
    manager.context.automaticallyMergesCommits = true
    let inserted = try await manager.commitInBackground { context in
      try context.object(with: id).setValue(7, forKey: "salary")
      return try context.insert("Company").objectID
    }
    #expect(employee.salary == 7)
    #expect(try manager.count(Company.self) == 3)
    #expect(try manager.context.object(with: inserted).entity.name == "Company")
    try manager.store.check()
  }

  @Test("A round is undone as a whole")
  func everyRoundIsUndoneByItself() throws {
    let manager = try Corporation.manager()
    let company = manager.insert(Company.self)
    company.companyName = "a"
    let employee = try manager.insert("Employee")
    manager.processPendingChanges()
    employee["company"] = company
    manager.processPendingChanges()
    manager.delete(company)
    manager.undo()
    #expect(company.context != nil && employee["company"] == company)
    manager.undo()
    #expect(try employee.object(forKey: "company") == nil)
    manager.undo()
    #expect(try manager.count("Employee") == 0 && manager.count("Company") == 0)
    manager.redo()
    manager.redo()
    try manager.commit()
    #expect(company.employees.map(\.objectID) == [employee.objectID])
    manager.undo()
    #expect(company.employees.isEmpty && manager.context.hasChanges)
    manager.rollback()
    #expect(company.employees.count == 1)
    try manager.store.check()
  }

  @Test("One undo reverts an insertion together with the values that were set")
  func oneUndoLeavesNoNamelessObject() throws {
    let manager = try Corporation.manager()
    for isCommitted in [true, false] {
      let company = try manager.insert("Company")
      company["companyName"] = "Arbor"
      manager.insert(Employee.self).company = company as? Company
      if isCommitted { try manager.commit() }
      manager.undo()
      #expect(try manager.fetchAll("Company").isEmpty && manager.count("Employee") == 0)
      #expect(manager.context.hasChanges == isCommitted)
      manager.redo()
      #expect(try manager.count("Company", matching: "employees.@count == 1") == 1)
      manager.undo()
      try manager.commit()
      #expect(try manager.store.makeContext().count("Company") == 0)
    }
    // An explicitly opened group is undone separately.
    let company = manager.insert(Company.self)
    manager.beginUndoGroup()
    company.companyName = "named"
    manager.endUndoGroup()
    try manager.commit()
    manager.undo()
    #expect(try manager.fetchAll(Company.self) == [company] && company.companyName != "named")
    manager.undo()
    try manager.commit()
    #expect(try manager.count("Company") == 0)
    try manager.store.check()
  }

  @Test("Undo groups can be nested")
  func undoGroupsNest() throws {
    let manager = try Corporation.manager()
    manager.beginUndoGroup()
    let company = manager.insert(Company.self)
    manager.beginUndoGroup()
    company.companyName = "a"
    let employee = manager.insert(Employee.self)
    employee.company = company
    manager.endUndoGroup()
    manager.undoGroup()
    #expect(company.companyName != "a" && employee.context == nil)
    manager.redoGroup()
    #expect(company.employees == [employee])
    manager.endUndoGroup()
    manager.undo()
    #expect(!manager.context.hasChanges)
    manager.redoGroup()
    #expect(company.employees == [employee] && company.companyName == "a")
    try manager.commit()
    try manager.store.check()
  }

  @Test("The delegate decides whether undo is supported")
  func theDelegateDecidesOnUndo() throws {
    final class Refusal: DataManagerDelegate {
      func dataManagerSupportsUndo(_ manager: DataManager) -> Bool { false }
    }
    let refusal = Refusal()
    let manager = try Corporation.manager(delegate: refusal)
    #expect(manager.context.undoHistory == nil)
    let company = manager.insert(Company.self)
    manager.undo()
    #expect(company.context === manager.context)
    #expect(manager.context.insertedObjects == [company])
  }

  @Test("A failed commit keeps the pending changes")
  func aFailedCommitKeepsThePendingChanges() throws {
    var model = ManagedObjectModel(entities: [
      Company.entityDescription, Employee.entityDescription,
    ])
    model.entities[0].attributes[0].minimum = 3
    model.entities[0].attributes[0].defaultValue = "abc"
    let manager = try DataManager(model: model, at: .inMemory)
    let company = try manager.insert("Company")
    company["companyName"] = "ab"
    let error = #expect(throws: ArborError.self) { try manager.commit() }
    #expect(error?.code == .validation && error?.keyPath == "companyName")
    #expect(manager.context.insertedObjects == [company])
    company["companyName"] = "abc"
    try manager.commit()
    try manager.store.check()
  }

  @Test("Subclasses can override the methods of a manager")
  func subclassesOverrideVerbs() throws {
    final class Counting: DataManager {
      var inserted = 0
      override func insert(_ entityName: String) throws(ArborError) -> ManagedObject {
        inserted += 1
        return try super.insert(entityName)
      }
      override func seed(from sources: [JSONSource], options: SeedOptions) throws(ArborError)
        -> SeedReport
      {
        inserted += 100
        return try super.seed(from: sources, options: options)
      }
    }
    let manager = try Counting(for: Company.self, Employee.self, at: .inMemory)
    _ = try manager.insert("Company")
    let file = Corporation.temporaryFile("json")
    try Data(#"{"Company": {"companyName": "x"}}"#.utf8).write(to: file)
    try manager.seed(from: .file(file))
    #expect(manager.inserted == 101)
    #expect(try manager.count("Company") == 2)
  }

  @Test("A subclass may add domain-specific methods")
  func aSubclassSpeaksTheWordsOfItsDomain() throws {
    final class CorporateStore: DataManager {
      func wellPaid(at company: ManagedObject?) throws -> [ManagedObject] {
        try fetch(requestNamed: "companyWellPaidEmployees", substituting: ["company": company])
      }
    }
    let models = try Corporation.modelFolder(named: "Corporate")
    let seeds = Corporation.temporaryFolder()
    try Data(
      #"""
      {"Company": {"companyName": "Foo Inc.",
                   "employees": {"seedlings": [{"seedFile": "Employees.seed.json"}]}}}
      """#.utf8
    ).write(to: seeds.appending(path: "Main.seed.json"))
    try Data(#"{"Employee": [{"salary": 500}, {"salary": 1500}, {"salary": 2500}]}"#.utf8)
      .write(to: seeds.appending(path: "Employees.seed.json"))

    let manager = try CorporateStore(modelNamed: "Corporate", in: models)
    try manager.seed(from: .file(seeds.appending(path: "Main.seed.json")))
    let company = try manager.fetchOne("Company", matching: "companyName == \("Foo Inc.")")
    #expect(try manager.wellPaid(at: company).count == 2)
    let employee = try manager.insert("Employee")
    employee["company"] = company
    #expect(try manager.count("Employee", matching: "company == \(company)") == 4)
    manager.delete(try #require(company))
    try manager.commit()
    #expect(try manager.count("Employee") == 0)
    let report = try manager.seedOnce("main", from: .file(seeds.appending(path: "Main.seed.json")))
    #expect(report?.created["Company"] == 1)
    #expect(
      try manager.seedOnce("main", from: .file(seeds.appending(path: "Main.seed.json"))) == nil)
    #expect(try manager.count("Company") == 1)
    try manager.store.check()
  }

  // MARK: Named requests

  private func managerWithRequests(_ name: String) throws -> DataManager {
    let folder = try Corporation.modelFolder(named: name)
    let model = try ManagedObjectModel(contentsOf: folder.appending(path: "\(name).xcdatamodeld"))
    let manager = try DataManager(model: model, at: .inMemory)
    for company in ["Foo Inc.", "Bar Ltd."] {
      let object = try manager.insert("Company")
      object["companyName"] = .string(company)
      for salary in [500, 1500, 2500] {
        let employee = try manager.insert("Employee")
        employee["salary"] = .integer(Int64(salary))
        employee["company"] = .objectID(object.objectID)
      }
    }
    return manager
  }

  @Test("Named requests are fetched and counted")
  func fetchesAndCounts() throws {
    let manager = try managerWithRequests("Fetching")
    #expect(try manager.count(forRequestNamed: "wellPaidEmployees") == 4)
    let found = try manager.fetch(requestNamed: "wellPaidEmployees")
    #expect(found.count == 4)
    #expect(try manager.fetchOne(requestNamed: "wellPaidEmployees") == found.first)
    #expect(try manager.count(forRequestNamed: "everyone") == 6)
    try manager.commit()
    try manager.store.check()
  }

  @Test("Variables of named requests are substituted")
  func substitutesVariables() throws {
    let manager = try managerWithRequests("Substituting")
    let company = try manager.fetchOne("Company", matching: "companyName == \("Foo Inc.")")
    let theirs = try manager.fetch(
      requestNamed: "companyWellPaidEmployees", substituting: ["company": company])
    #expect(theirs.count == 2)
    #expect(
      try manager.count(
        forRequestNamed: "companyWellPaidEmployees",
        substituting: ["company": company?.objectID]) == 2)
  }

  @Test("A variable without a value is an error")
  func aVariableWithoutAValueThrows() throws {
    let manager = try managerWithRequests("Lacking")
    let error = try #require(throws: ArborError.self) {
      try manager.fetch(requestNamed: "companyWellPaidEmployees")
    }
    #expect(error.message.contains("company"))
  }

  @Test("Named requests are copies")
  func handsOutCopies() throws {
    let manager = try managerWithRequests("Copies")
    var request = try manager.fetchRequest(named: "wellPaidEmployees")
    request.fetchLimit = 1
    request.predicate = nil
    #expect(try manager.fetch(request).count == 1)
    #expect(try manager.fetchRequest(named: "wellPaidEmployees").fetchLimit == 0)
    #expect(try manager.count(forRequestNamed: "wellPaidEmployees") == 4)
  }

  @Test("The error for an unknown request name suggests a similar one")
  func anUnknownNameOffersTheNearest() throws {
    let manager = try managerWithRequests("Unknown")
    let error = try #require(throws: ArborError.self) {
      try manager.fetchRequest(named: "wellPayedEmployees")
    }
    #expect(error.code == .unknownName)
    #expect(error.message.contains("wellPaidEmployees"))
  }
}
