import ArborData
import Foundation
import Testing

@Suite struct DataManagerDelegateTests {
  /// A delegate that records each round of changes.
  private final class Listener: DataManagerDelegate {
    var rounds:
      [(created: Set<ManagedObject>, updated: Set<ManagedObject>, deleted: Set<ManagedObject>)] = []

    func dataManager(
      _ manager: DataManager, created: Set<ManagedObject>, updated: Set<ManagedObject>,
      deleted: Set<ManagedObject>
    ) {
      rounds.append((created, updated, deleted))
    }

    /// Returns the only round since the previous call.
    func round() -> [Set<ManagedObject>] {
      defer { rounds = [] }
      #expect(rounds.count == 1)
      return rounds.first.map { [$0.created, $0.updated, $0.deleted] } ?? []
    }
  }

  private let listener = Listener()
  private let manager: DataManager

  init() throws { manager = try Corporation.manager(delegate: listener) }

  @Test("The delegate is notified at the end of a round, not after each operation")
  func operationsEndNoRound() throws {
    let company = manager.insert(Company.self)
    company.companyName = "a"
    let employee = try manager.insert("Employee")
    employee["name"] = "Ada"
    let passing = manager.insert(Employee.self)
    manager.beginUndoGroup()
    company.companyName = "b"
    manager.endUndoGroup()
    manager.delete(passing)
    #expect(listener.rounds.isEmpty)
    manager.processPendingChanges()
    #expect(listener.round() == [[company, employee], [], []])
    manager.delete(employee)
    try manager.commit()
    #expect(listener.round() == [[], [], [employee]])
    try manager.commit()
    #expect(listener.rounds.isEmpty)
    try manager.store.check()
  }

  @Test("An object that is inserted and then filled is reported once, as created")
  func anObjectThatIsInsertedAndFilledIsToldOnceAsCreated() throws {
    let company = manager.insert(Company.self)
    company.companyName = "Foo Inc."
    try manager.commit()
    #expect(listener.round() == [[company], [], []])
    let employee = manager.insert(Employee.self)
    employee.company = company
    // Committing the context directly doesn't end the round either.
    try manager.context.commit()
    #expect(listener.rounds.isEmpty)
    manager.processPendingChanges()
    #expect(listener.round() == [[employee], [], []])
    company.companyName = "Bar Inc."
    try manager.context.commit()
    manager.processPendingChanges()
    #expect(listener.round() == [[], [company], []])
    try manager.store.check()
  }

  @Test("Each round of changes is an undo group of its own")
  func undoGroupsEndWithRounds() throws {
    let company = manager.insert(Company.self)
    company.companyName = "a"
    let employee = manager.insert(Employee.self)
    manager.processPendingChanges()
    company.companyName = "b"
    manager.processPendingChanges()
    listener.rounds = []
    manager.undo()
    #expect(listener.round() == [[], [company], []])
    manager.undo()
    #expect(listener.round() == [[], [], [company, employee]])
    try manager.store.check()
  }

  /// Objects that a commit merges into others are reported as deleted, and the others as updated.
  @Test("Objects that a commit merges are reported as deleted and updated")
  func isToldOfWhatACommitMerges() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Country") {
        AttributeDescription("code", .string, .unique)
        AttributeDescription("name", .string, .default(""))
      }
    }
    let manager = try DataManager(model: model, at: .inMemory, delegate: listener)
    let first = try manager.insert("Country")
    first["code"] = "FR"
    try manager.commit()
    listener.rounds = []
    let second = try manager.insert("Country")
    second["code"] = "FR"
    second["name"] = "France"
    try manager.commit()
    #expect(listener.rounds.count == 2)
    #expect(listener.rounds.first?.created == [second])
    #expect(listener.rounds.last?.deleted == [second])
    #expect(listener.rounds.last?.updated == [first] && first["name"] == "France")
    try manager.store.check()
  }

  @Test("Undo and redo are reported like other changes")
  func isToldOfWhatIsUndone() throws {
    let company = manager.insert(Company.self)
    manager.processPendingChanges()
    _ = listener.round()
    manager.undo()
    #expect(listener.round() == [[], [], [company]])
    manager.redo()
    #expect(listener.round() == [[company], [], []])
    try manager.store.check()
  }

  @Test("The delegate can refuse a migration")
  func mayRefuseMigration() throws {
    final class Refusal: DataManagerDelegate {
      var asked: [URL] = []
      func dataManagerSupportsLightweightMigration(forStoreAt url: URL) -> Bool {
        asked.append(url)
        return false
      }
    }
    func model(isIndexed: Bool) -> ManagedObjectModel {
      let name = AttributeDescription(name: "name", type: .string, isIndexed: isIndexed)
      return ManagedObjectModel(entities: [EntityDescription(name: "Note", attributes: [name])])
    }
    let file = Corporation.temporaryFile("arbor")
    let refusal = Refusal()
    func open(isIndexed: Bool) throws {
      let manager = try DataManager(
        model: model(isIndexed: isIndexed), at: .file(file), delegate: refusal)
      try manager.store.check()
    }
    try open(isIndexed: false)
    let error = #expect(throws: ArborError.self) { try open(isIndexed: true) }
    #expect(error?.code == .modelMismatch && refusal.asked == [file, file])
  }

  @Test("Several changes of an object in a round are reported once")
  func isToldOfChangesAtTheEndOfTheRound() throws {
    let company = manager.insert(Company.self)
    let employee = manager.insert(Employee.self)
    manager.processPendingChanges()
    listener.rounds = []
    company.companyName = "a"
    company.companyName = "b"
    manager.processPendingChanges()
    #expect(listener.round() == [[], [company], []])
    manager.processPendingChanges()
    #expect(listener.rounds.isEmpty)
    employee.company = company
    let other = manager.insert(Employee.self)
    manager.processPendingChanges()
    #expect(listener.round() == [[other], [employee], []])
    company.companyName = "c"
    try manager.commit()
    #expect(listener.round() == [[], [company], []])
    company.companyName = "d"
    manager.processPendingChanges()
    #expect(listener.round() == [[], [company], []])
    try manager.commit()
    try manager.store.check()
  }

  @Test("The delegate is notified of cascading deletions")
  func isToldOfCascades() throws {
    let company = manager.insert(Company.self)
    let employees = (0..<3).map { _ in manager.insert(Employee.self) }
    company.employees = Set(employees)
    try manager.commit()
    listener.rounds = []
    manager.delete(company)
    manager.processPendingChanges()
    #expect(listener.round() == [[], [], Set<ManagedObject>([company] + employees)])
    try manager.commit()
    #expect(listener.rounds.isEmpty)
    try manager.store.check()
  }

  @Test("A seed is reported in one round, and a failed seed not at all")
  func isToldOfASeedInOneRoundAndOfAFailedOneNotAtAll() throws {
    let file = Corporation.temporaryFile("json")
    try Data(#"{"Company": {"employees": [{"name": "a"}, {"name": "b"}]}}"#.utf8).write(to: file)
    let report = try manager.seed(from: .file(file))
    manager.processPendingChanges()
    let round = listener.round()
    #expect(round[0].count == 3 && round[0].isSuperset(of: report.objects))
    #expect(round[1].isEmpty && round[2].isEmpty)
    try Data(#"{"Company": {"employees": [{"name": "a"}, {"company": []}]}}"#.utf8).write(to: file)
    #expect(throws: ArborError.self) { try manager.seed(from: .file(file)) }
    manager.processPendingChanges()
    #expect(listener.rounds.isEmpty)
  }

  @Test("Changes that were rolled back are not reported")
  func isNotToldOfWhatWasRolledBack() throws {
    try manager.insert("Company")
    manager.processPendingChanges()
    listener.rounds = []
    try manager.insert("Company")
    let company = manager.context.insert(Company.self)
    company.companyName = "x"
    manager.rollback()
    manager.processPendingChanges()
    #expect(listener.rounds.isEmpty)
  }

  @Test("A delegate that is set later receives only later changes")
  func aDelegateThatComesLaterIsToldFromThenOn() throws {
    let manager = try Corporation.manager()
    let company = manager.insert(Company.self)
    manager.delegate = listener
    manager.processPendingChanges()
    #expect(listener.rounds.isEmpty)
    company.companyName = "x"
    manager.processPendingChanges()
    #expect(listener.round() == [[], [company], []])
  }
}
