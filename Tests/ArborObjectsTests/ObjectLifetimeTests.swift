import ArborModel
import ArborObjects
import Dispatch
import Foundation
import TestSupport
import Testing

/// Objects that outlive their context, are used after a reset, or are released on another thread.
/// Using them must be safe and throw descriptive errors.
@Suite("Objects without a usable context") struct ObjectLifetimeTests {
  /// An event after which an object no longer belongs to its context.
  enum End: String, CaseIterable, Sendable {
    case reset, contextGone, purge, deletion, rollback

    /// The reason in the object's error messages.
    var reason: String {
      switch self {
      case .reset, .contextGone: "its context was deallocated or reset"
      case .purge: "another commit deleted it"
      case .deletion, .rollback: "it was deleted"
      }
    }

    func come(to context: inout ManagedObjectContext?, _ objects: [Employee]) throws {
      switch self {
      case .reset: context?.reset()
      case .contextGone: context = nil
      case .purge:
        context?.rollback()
        try context?.store.purge()
        _ = try context?.count("Person")
      case .deletion:
        for object in objects { context?.delete(object) }
        try context?.commit()
      case .rollback: context?.rollback()
      }
    }
  }

  @Test(
    "Objects without a context can be read as far as loaded, and reject changes",
    arguments: End.allCases)
  func whatIsLeftOfAnObjectIsSafe(end: End) throws {
    try ObjectStore.useOffice { store in
      var context: ManagedObjectContext? = store.makeContext()
      let objects = try employees(in: #require(context))
      let lost = end == .rollback ? Array(objects.suffix(1)) : objects
      let ids = lost.map(\.objectID)
      try end.come(to: &context, lost)
      let other = store.makeContext()
      defer { withExtendedLifetime(other) {} }
      let live = other.insert(Employee.self)
      for (object, id) in zip(lost, ids) {
        #expect(object.context == nil && object.objectID == id && !object.hasChanges)
        #expect(object.isDeleted == (end != .reset && end != .contextGone))
        #expect(object.changedValues().isEmpty && !object.isUpdated && !object.isInserted)
        #expect(object.company == nil && object.manager == nil)
        #expect(object.skills == [] && object.tasks == [] && object.friends == [])
        for key in object.entity.attributes.map(\.name) {
          if !object.isFault { _ = try object.value(forKey: key) }
          _ = object.committedValues(for: [PropertyPath(key)])
        }
        for relationship in object.entity.relationships {
          // The relationships of a deleted object are empty. Those of an object without a context
          // may not be.
          let isKnown = relationship.isToMany ? object.isDeleted : !object.isFault
          if isKnown {
            _ = try object.value(forKey: relationship.name)
          } else {
            expect(.notAllowed, end) { _ = try object.value(forKey: relationship.name) }
          }
        }
        if object.isDeleted { #expect(try object.value(forKeyPath: "company.name") == .null) }
        #expect("\(object)".contains("Employee"))
        expectRefusals(by: object, end, live)
      }
      // The context is unaffected and remains usable.
      if let context {
        context.insert(Employee.self).name = "next"
        try context.commit()
        #expect(try context.fetchOne(Employee.self, matching: "name == \"next\"") != nil)
      }
    }
  }

  /// Returns a committed object, one with changes, a fault, and a new object.
  private func employees(in context: ManagedObjectContext) throws -> [Employee] {
    let first = context.store.makeContext()
    let company = first.insert(Company.self)
    let ids = ["Ada", "Bob", "Eve"].map { name in
      let employee = first.insert(Employee.self)
      (employee.name, employee.company) = (name, company)
      employee.skills = [first.insert(Skill.self)]
      employee.tasks = [first.insert(ArborObjectsTests.Task.self)]
      return employee.objectID
    }
    try first.commit()
    let read = try #require(try context.existingObject(with: ids[0]) as? Employee)
    let changed = try #require(try context.existingObject(with: ids[1]) as? Employee)
    (changed.name, changed.company) = ("Bert", nil)
    changed.friends = [read]
    let fault = try #require(try context.object(with: ids[2]) as? Employee)
    let new = context.insert(Employee.self)
    (new.name, new.company) = ("New", read.company)
    return [read, changed, fault, new]
  }

  private func expect(_ code: ArborError.Code, _ end: End, _ body: () throws -> Void) {
    do {
      try body()
      Issue.record("\(end): nothing was refused")
    } catch let error as ArborError {
      // The program couldn't know that another commit deleted the object.
      let codes = end == .purge ? [code, .objectNotFound] : [code]
      let reasons = end == .purge ? [end.reason, "it was deleted"] : [end.reason]
      #expect(
        codes.contains(error.code) && reasons.contains(where: error.message.contains), "\(error)")
      #expect(
        error.message.contains("objectID") || code == .notAllowed
          || error.code == .objectNotFound, "\(error)")
    } catch {
      Issue.record(error)
    }
  }

  private func expectRefusals(by object: Employee, _ end: End, _ live: Employee) {
    expect(.notAllowed, end) { try object.setValue("x", forKey: "name") }
    expect(.notAllowed, end) { try object.setValue(PropertyValue.null, forKey: "company") }
    expect(.notAllowed, end) { try object.setObject(nil, forKey: "company") }
    expect(.notAllowed, end) { try object.objects(forKey: "skills").replaceAll(with: []) }
    expect(.notAllowed, end) {
      _ = try ("name == \"x\"" as FetchPredicate).matches(object)
    }
    expect(.invalidArgument, end) { try live.setObject(object, forKey: "mentor") }
    expect(.invalidArgument, end) { try live.objects(forKey: "friends").replaceAll(with: [object]) }
    expect(.invalidArgument, end) { try live.objects(forKey: "friends").insert(object) }
    #expect(live.mentor == nil && live.friends == [])
    live.context?.refresh(object)
  }

  @Test("Changing a detached object with an accessor that can't throw stops the process")
  func whatCanNotThrowStopsWithASentence() async throws {
    let written = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = try PersistentStore(for: Office.classes, at: .inMemory)
      let context = store.makeContext()
      let company = context.insert(Company.self)
      context.reset()
      company.employees = []
    }
    #expect(Self.text(written).contains("its context was deallocated or reset. Keep its objectID"))
    let deleted = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = try PersistentStore(for: Office.classes, at: .inMemory)
      let company = store.makeContext().insert(Company.self)
      store.makeContext().delete(company)
    }
    #expect(Self.text(deleted).contains("Fetch it in this context by its objectID"))
    let linked = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = try PersistentStore(for: Office.classes, at: .inMemory)
      let context = store.makeContext()
      let company = context.insert(Company.self)
      context.reset()
      context.insert(Employee.self).company = company
    }
    #expect(
      Self.text(linked).contains(
        "its context was deallocated or reset. Fetch the object in this context"))
  }

  private static func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  // MARK: Other threads

  /// References that are released on another thread. `@unchecked Sendable`: ownership is
  /// transferred.
  private final class Parcel: @unchecked Sendable {
    private var contents: [AnyObject]
    init(_ contents: [AnyObject]) { self.contents = contents }

    /// Releases the references on another thread. Returns a semaphore that is signaled afterwards.
    func open() -> DispatchSemaphore {
      let done = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        self.contents = []
        done.signal()
      }
      return done
    }
  }

  @Test("Objects can be released on another thread during a sweep")
  func anotherThreadMayLetObjectsGoWhileTheContextSweeps() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      for number in 0..<6000 { context.insert(Employee.self).employeeID = Int64(number) }
      try context.commit()
      for round in 1...6 {
        let parcel: Parcel
        do {
          let objects = try context.fetch(Employee.self)
          // After a commit, the next operations may sweep.
          for object in objects where Int(object.employeeID) % 3 == round % 3 {
            object.age = round
          }
          try context.commit()
          if round.isMultiple(of: 2) { objects[round].name = "changed" }
          parcel = Parcel(objects)
        }
        let done = parcel.open()
        for _ in 0..<10 { _ = try context.count(Employee.self) }
        done.wait()
        #expect(context.hasChanges == round.isMultiple(of: 2))
        try context.commit()
      }
      #expect(try context.count(Employee.self, matching: "name == \"changed\"") == 3)
      #expect(try context.count(Employee.self, matching: "age > 3") == 6000)
    }
  }

  @Test("A context can be released on another thread")
  func anotherThreadMayLetAContextGo() throws {
    try ObjectStore.useOffice { store in
      let (parcel, kept): (Parcel, [Employee])
      do {
        let context = store.makeContext()
        context.undoHistory = UndoHistory()
        context.isObservable = true
        kept = try employees(in: context)
        let results = try context.fetchedResults(FetchRequest<Employee>(sortKeys: ["name"]))
        #expect(results.count == 4)
        parcel = Parcel([context, results, results.objects[0]])
      }
      parcel.open().wait()
      #expect(kept.allSatisfy { $0.context == nil })
      #expect(kept[0].name == "Ada" && kept[1].name == "Bert" && kept[3].name == "New")
      #expect(try store.makeContext().count(Employee.self) == 3)
    }
  }

  @Test("A store can be released on another thread")
  func anotherThreadMayLetAStoreGo() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "a.arbor")
    let (parcel, kept): (Parcel, [Employee])
    do {
      let store = try PersistentStore(for: Office.classes, at: .file(url))
      let context = store.makeContext()
      kept = try employees(in: context)
      parcel = Parcel([store, context])
    }
    parcel.open().wait()
    #expect(kept[0].name == "Ada" && kept[0].context == nil && kept[2].name == "")
    // The file is no longer open, so it can be removed.
    let store = try PersistentStore(at: .file(url), classes: Office.classes)
    #expect(try store.makeContext().count(Employee.self) == 3)
    try store.check()
    try store.destroy()
  }
}
