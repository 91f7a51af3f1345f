import ArborModel
import ArborObjects
import Testing

/// New links to objects that another context has deleted, under the policy that loses no change.
@Suite("New links to deleted objects") struct LostLinksTests {
  /// Committed objects in a context that rejects conflicts, and the same objects in another
  /// context.
  private struct Desk {
    let context: ManagedObjectContext
    let employee: Employee
    let company: Company
    let skill: Skill
    let task: Task

    func delete(_ objects: ManagedObject...) throws {
      for object in objects { context.delete(object) }
      try context.commit()
    }
  }

  private func use(_ body: (_ here: Desk, _ there: Desk) throws -> Void) throws {
    try ObjectStore.useOffice { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      let mine = Desk(
        context: here, employee: here.insert(Employee.self), company: here.insert(Company.self),
        skill: here.insert(Skill.self), task: here.insert(Task.self))
      try here.commit()
      func theirs<T: ManagedObject>(_ object: T) throws -> T {
        try #require(try there.existingObject(with: object.objectID) as? T)
      }
      try body(
        mine,
        Desk(
          context: there, employee: theirs(mine.employee), company: theirs(mine.company),
          skill: theirs(mine.skill), task: theirs(mine.task)))
    }
  }

  /// Returns the conflict that a commit throws.
  private func conflict(_ context: ManagedObjectContext) throws -> ArborError {
    let error = try failure { try context.commit() }
    #expect(error.code == .conflict)
    #expect(context.hasChanges)
    return error
  }

  @Test("The conflict names both objects and the relationship", arguments: [true, false])
  func bothObjectsAndTheRelationshipAreNamed(merges: Bool) throws {
    try use { here, there in
      here.context.automaticallyMergesCommits = merges
      here.employee.company = here.company
      try there.delete(there.company)
      for _ in 0..<2 {
        let error = try conflict(here.context)
        #expect(error.objectID == here.employee.objectID && error.keyPath == "company")
        #expect((error.underlying as? ArborError.OtherObject)?.objectID == here.company.objectID)
        #expect(error.violations.count == 1)
        #expect(error.message.contains("by company"), "\(error.message)")
        #expect(error.message.contains("has deleted Company \(here.company.objectID.number)"))
      }
      here.context.rollback()
      #expect(here.employee.company == nil && !here.context.hasChanges)
      try here.context.commit()
    }
  }

  @Test("A conflict lists lost links of relationships of every kind")
  func linksOfEveryKindAreMissed() throws {
    try use { here, there in
      here.employee.skills = [here.skill]
      here.task.watchers = [here.employee]
      here.employee.mentor = here.employee
      let trainee = here.context.insert(Employee.self)
      trainee.company = here.company
      try there.delete(there.skill, there.company, there.task)
      let error = try conflict(here.context)
      let said = Set(
        error.violations.map { "\($0.objectID == trainee.objectID) \($0.keyPath ?? "")" })
      #expect(said == ["false skills", "true company", "false "])
      let watching = try #require(error.violations.first { $0.keyPath == nil })
      #expect(watching.message.contains("Task"), "\(watching.message)")
      #expect(watching.message.contains("by watchers"), "\(watching.message)")
      #expect(here.employee.skills == [] && trainee.company == nil)
      here.context.rollback()
    }
  }

  @Test("Setting another target resolves the conflict")
  func anotherTargetSettlesIt() throws {
    try use { here, there in
      here.employee.company = here.company
      try there.delete(there.company)
      _ = try conflict(here.context)
      let company = here.context.insert(Company.self)
      here.employee.company = company
      try here.context.commit()
      #expect(here.employee.company == company && !here.context.hasChanges)
    }
  }

  @Test("Refreshing the object accepts the loss of its links")
  func refreshingAcceptsIt() throws {
    try use { here, there in
      here.employee.company = here.company
      here.employee.skills = [here.skill]
      here.employee.age = 44
      try there.delete(there.company, there.skill)
      #expect(try conflict(here.context).violations.count == 2)
      here.context.refresh(here.employee)
      try here.context.commit()
      #expect(here.employee.age == 44 && here.employee.company == nil)
    }
  }

  @Test("Another merge policy discards lost links")
  func anotherPolicyDropsIt() throws {
    try use { here, there in
      here.employee.skills = [here.skill]
      try there.delete(there.skill)
      _ = try conflict(here.context)
      here.context.mergePolicy = .mergeByPropertyObjectWins
      try here.context.commit()
      #expect(!here.context.hasChanges)
      here.context.mergePolicy = .error
      try here.context.commit()
    }
  }

  @Test("Links that were undone or whose owner was deleted are not a conflict")
  func whatIsTakenBackOrDeletedIsNotMissed() throws {
    try use { here, there in
      here.context.undoHistory = UndoHistory()
      here.employee.company = here.company
      here.context.undoHistory?.closeGroup()
      here.employee.skills = [here.skill]
      here.context.undoHistory?.closeGroup()
      here.context.insert(Employee.self).company = here.company
      try there.delete(there.company, there.skill)
      #expect(try conflict(here.context).violations.count == 3)
      here.context.undo()
      #expect(try conflict(here.context).violations.count == 2)
      here.context.undo()
      #expect(try conflict(here.context).violations.count == 1)
      here.context.undo()
      try here.context.commit()
      #expect(!here.context.hasChanges)
    }
    try use { here, there in
      here.employee.company = here.company
      try there.delete(there.company)
      _ = try conflict(here.context)
      here.context.delete(here.employee)
      try here.context.commit()
    }
  }

  @Test("Links made in a failed savepoint are not a conflict")
  func aFailedSavepointLeavesNothingToMiss() throws {
    try use { here, there in
      #expect(throws: Interruption.self) {
        try here.context.withSavepoint {
          here.employee.skills = [here.skill]
          here.employee.company = here.company
          try there.delete(there.skill, there.company)
          _ = try here.context.count("Skill")
          throw Interruption()
        }
      }
      here.employee.age = 50
      try here.context.commit()
    }
  }

  @Test("Deletions that don't lose a new link are not a conflict")
  func whatLostNothingIsNoConflict() throws {
    try use { here, there in
      here.employee.skills = [here.skill]
      try here.context.commit()
      _ = try there.context.count("Skill")
      here.employee.skills = []
      try there.delete(there.employee)
      try here.context.commit()
      // If both ends of a new link are gone, nothing was lost.
      here.task.watchers = [here.context.insert(Employee.self)]
      try here.context.commit()
      _ = try there.context.count("Task")
      let watcher = try #require(here.task.watchers.first)
      here.task.watchers = []
      here.skill.name = "new"
      let theirs = try there.context.existingObject(with: watcher.objectID)
      try there.delete(theirs, there.task)
      try here.context.commit()
      #expect(try here.context.count("Task") == 0)
    }
  }
}
