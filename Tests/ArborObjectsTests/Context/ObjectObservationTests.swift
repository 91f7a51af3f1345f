import ArborLocks
import ArborModel
import ArborObjects
import Observation
import TestSupport
import Testing

@Suite struct ObjectObservationTests {
  /// Calls `body` with an employee in an observable context and in another one.
  private func use(
    _ body: (ManagedObjectContext, Employee, ManagedObjectContext, Employee) throws -> Void
  ) throws {
    try ObjectStore.useOffice { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      here.isObservable = true
      here.mergePolicy = .mergeByPropertyObjectWins
      let mine = here.insert(Employee.self)
      (mine.name, mine.age) = ("Ada", 20)
      try here.commit()
      let theirs = try #require(try there.existingObject(with: mine.objectID) as? Employee)
      try body(here, mine, there, theirs)
    }
  }

  /// Tracks what `read` reads. Returns a counter of the calls of `onChange`.
  private func track<R>(_ read: () -> R) -> Changes {
    let changes = Changes()
    _ = withObservationTracking(read) { changes.add() }
    return changes
  }

  @Test("Changing a property that was read notifies its observer")
  func anOwnChangeOfWhatWasReadIsTold() throws {
    try use { here, mine, _, _ in
      let name = track { mine.name }
      mine.age = 30
      #expect(name.count == 0)
      mine.name = "Eve"
      #expect(name.count == 1)
      mine.name = "Eva"
      #expect(name.count == 1, "it is told once, until it is read again")
      // Between one change and the next.
      let again = track { mine.name }
      mine.name = "Ida"
      #expect(again.count == 1)
      let other = here.insert(Employee.self)
      let both = track { (mine.age, other.age) }
      other.name = "Bob"
      #expect(both.count == 0)
      other.age = 3
      #expect(both.count == 1)
      let dynamic = track { mine["nick"] as PropertyValue }
      mine["nick"] = "A"
      #expect(dynamic.count == 1)
      let written = track { mine["salary"] as PropertyValue }
      mine.salary = 3
      #expect(written.count == 1)
    }
  }

  @Test("Changing a relationship notifies observers of both sides")
  func relationshipsAreToldOfOnBothSides() throws {
    try use { here, mine, _, _ in
      let company = here.insert(Company.self)
      company.name = "Foo"
      let toOne = track { mine.company }
      let toMany = track { company.employees }
      let count = track { try? company.objects(forKey: "employees").count() }
      mine.company = company
      #expect(toOne.count == 1 && toMany.count == 1 && count.count == 1)
      let skill = here.insert(Skill.self)
      let skills = track { mine.skills }
      let holders = track { skill.holders }
      skill.holders.insert(mine)
      #expect(skills.count == 1 && holders.count == 1)
      let tasks = track { mine.tasks }
      mine.tasks = [here.insert(ArborObjectsTests.Task.self)]
      #expect(tasks.count == 1)
      let left = track { company.employees }
      here.delete(mine)
      #expect(left.count == 1)
    }
  }

  @Test("Merging commits of other contexts notifies observers")
  func commitsOfOthersAreTold() throws {
    try use { here, mine, there, theirs in
      let (name, age) = (track { mine.name }, track { mine.age })
      theirs.name = "Eve"
      try there.commit()
      #expect(name.count == 0)
      #expect(try here.count("Company") == 0)
      #expect(name.count == 1 && age.count == 0 && mine.name == "Eve")

      // With a pending change in this context.
      mine.age = 50
      let (newName, nick) = (track { mine.name }, track { mine.nick })
      theirs.nick = "E"
      try there.commit()
      #expect(try here.count("Company") == 0)
      #expect(newName.count == 0 && nick.count == 1 && mine.nick == "E" && mine.age == 50)
      try here.commit()

      let company = here.insert(Company.self)
      try here.commit()
      let employees = track { company.employees }
      theirs.company = try there.existingObject(with: company.objectID) as? Company
      try there.commit()
      #expect(try here.count("Company") == 1)
      #expect(employees.count == 1 && company.employees == [mine])
    }
  }

  @Test("Reverted changes notify observers")
  func whatIsTakenBackIsTold() throws {
    try use { here, mine, _, _ in
      mine.name = "Eve"
      let (name, age) = (track { mine.name }, track { mine.age })
      here.rollback()
      #expect(name.count == 1 && age.count == 0 && mine.name == "Ada")
      let company = here.insert(Company.self)
      company.name = "Foo"
      try here.commit()
      let (again, members) = (track { mine.name }, track { company.employees })
      #expect(throws: Interruption.self) {
        try here.withSavepoint {
          mine.name = "Eva"
          mine.company = company
          throw Interruption()
        }
      }
      #expect(again.count == 1 && members.count == 1)
      let late = track { mine.name }
      here.refresh(mine)
      #expect(late.count == 1 && mine.name == "Ada")
    }
  }

  @Test("Undo and redo notify observers")
  func whatIsUndoneIsTold() throws {
    try use { here, mine, _, _ in
      here.undoHistory = UndoHistory()
      mine.name = "Eve"
      try here.commit()
      let (name, age) = (track { mine.name }, track { mine.age })
      here.undo()
      #expect(name.count == 1 && age.count == 0 && mine.name == "Ada")
      let again = track { mine.name }
      here.redo()
      #expect(again.count == 1 && mine.name == "Eve")
    }
  }

  @Test("Pending and committed deletions, and changes, notify observers of an object's state")
  func statesAreTold() throws {
    try use { here, mine, there, theirs in
      let changed = track { mine.hasChanges }
      mine.name = "Eve"
      #expect(changed.count == 1 && mine.hasChanges && mine.isUpdated)
      let back = track { mine.hasChanges }
      mine.name = "Ada"
      #expect(back.count == 1 && !mine.hasChanges && !mine.isUpdated && here.updatedObjects.isEmpty)
      let again = track { mine.hasChanges }
      mine.age = 3
      let committed = track { mine.hasChanges }
      try here.commit()
      #expect(again.count == 1 && committed.count == 1 && !mine.hasChanges)

      let inserted = here.insert(Employee.self)
      let insertion = track { inserted.isInserted }
      here.rollback()
      #expect(insertion.count == 1 && !inserted.isInserted)

      let gone = track { mine.isDeleted }
      here.delete(mine)
      #expect(gone.count == 1 && mine.isDeleted)
      let returned = track { mine.isDeleted }
      here.rollback()
      #expect(returned.count == 1 && !mine.isDeleted)

      let elsewhere = track { mine.isDeleted }
      _ = try there.count("Company")
      there.delete(theirs)
      try there.commit()
      #expect(try here.count("Company") == 0)
      #expect(elsewhere.count == 1 && mine.isDeleted)
    }
  }

  @Test("Changes of a context's state notify its observers")
  func contextsAreTold() throws {
    try use { here, mine, _, _ in
      let first = track { here.hasChanges }
      mine.name = "Eve"
      #expect(first.count == 1 && here.hasChanges)
      let back = track { here.hasChanges }
      mine.name = "Ada"
      #expect(back.count == 1 && !here.hasChanges)
      mine.name = "Eva"
      let committed = track { here.hasChanges }
      try here.commit()
      #expect(committed.count == 1 && !here.hasChanges)
      let linked = track { here.hasChanges }
      mine.skills = [here.insert(Skill.self)]
      #expect(linked.count == 1)
      let rolledBack = track { here.hasChanges }
      here.rollback()
      #expect(rolledBack.count == 1 && !here.hasChanges)
      // An object that never was in the store leaves nothing to commit.
      here.delete(here.insert(Skill.self))
      #expect(!here.hasChanges)
    }
  }

  @Test("Recording, undoing and redoing notify observers of an undo history")
  func historiesAreTold() throws {
    try use { here, mine, _, _ in
      let history = UndoHistory()
      here.undoHistory = history
      let (undo, names) = (track { history.canUndo }, track { history.undoNames })
      history.beginGroup(named: "Name")
      mine.name = "Eve"
      history.endGroup()
      #expect(undo.count == 1 && names.count == 1 && history.undoNames == ["Name"])
      let (undone, redo) = (track { history.canUndo }, track { history.canRedo })
      here.undo()
      #expect(undone.count == 1 && redo.count == 1 && !history.canUndo && history.canRedo)
      let redone = track { history.redoNames }
      here.redo()
      #expect(redone.count == 1 && history.redoNames.isEmpty)
      let removed = track { history.canUndo }
      history.removeAll()
      #expect(removed.count == 1 && !history.canUndo)
      let recorded = track { history.canUndo }
      mine.name = "Ida"
      #expect(recorded.count == 1 && history.canUndo)
    }
  }

  @Test("Contexts that aren't observable notify no observers")
  func withoutItNothingIsTold() throws {
    try use { here, mine, there, theirs in
      #expect(here.isObservable && !there.isObservable)
      let silent = track { theirs.name }
      theirs.name = "Eve"
      #expect(silent.count == 0)
      here.isObservable = false
      let over = track { mine.name }
      mine.name = "Eva"
      #expect(over.count == 0 && mine.name == "Eva" && mine.company == nil)
      #expect(here.insert(Employee.self).age == 18)
    }
  }
}

private final class Changes: Sendable {
  private let value = Lock(0)
  var count: Int { value.withLock { $0 } }
  func add() { value.withLock { $0 += 1 } }
}
