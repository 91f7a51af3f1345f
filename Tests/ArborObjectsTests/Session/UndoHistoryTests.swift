import ArborModel
import ArborObjects
import Testing

@Suite struct UndoHistoryTests {
  /// Calls `body` with a context with undo on a committed company of two employees.
  private func useOffice(
    _ body: (ManagedObjectContext, UndoHistory, Company, Employee, Employee) throws -> Void
  ) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (company, ada) = (context.insert(Company.self), context.insert(Employee.self))
      let bob = context.insert(Employee.self)
      (company.name, ada.name, bob.name) = ("one", "Ada", "Bob")
      company.employees = [ada, bob]
      try context.commit()
      let history = UndoHistory()
      context.undoHistory = history
      try body(context, history, company, ada, bob)
    }
  }

  @Test("Changes can be undone and redone")
  func changesAreTakenBackAndBroughtAgain() throws {
    try useOffice { context, history, company, ada, _ in
      #expect(!history.canUndo && !history.canRedo)
      (ada.name, ada.age, ada.company) = ("Eve", 40, nil)
      #expect(history.canUndo)
      history.undo()
      #expect(ada.name == "Ada" && ada.age == 18 && ada.company === company)
      #expect(company.employees.count == 2 && !context.hasChanges && !history.canUndo)
      history.redo()
      #expect(ada.name == "Eve" && ada.age == 40 && ada.company == nil)
      #expect(company.employees.count == 1 && !history.canRedo && history.canUndo)
    }
  }

  @Test("A group without a net change has nothing to undo")
  func whatIsChangedBackInAGroupIsNothingToUndo() throws {
    try useOffice { context, history, _, ada, bob in
      history.group {
        ada.age = 40
        ada.friends = [bob]
        ada.age = 18
        ada.friends = []
      }
      history.group { context.delete(context.insert(Skill.self)) }
      #expect(!history.canUndo)
    }
  }

  @Test("Savepoints in a group are undone with it")
  func savepointsInAGroupAreTakenBackInTheirOrder() throws {
    try useOffice { context, history, _, ada, _ in
      history.group {
        ada.age = 40
        context.withSavepoint { (ada.age, ada.name) = (18, "Eve") }
      }
      #expect(ada.age == 18 && ada.name == "Eve")
      history.undo()
      #expect(ada.age == 18 && ada.name == "Ada" && !context.hasChanges)
    }
  }

  @Test("Undoing a group keeps earlier changes")
  func undoingAGroupLeavesEarlierWorkIntact() throws {
    try useOffice { context, history, _, ada, _ in
      ada.name = "Eve"
      context.undoHistory?.closeGroup()
      ada.age = 40
      ada.name = "Eva"
      history.undo()
      #expect(ada.name == "Eve" && ada.age == 18 && ada.changedValues() == ["name": "Eve"])
      history.undo()
      #expect(!context.hasChanges)
    }
  }

  @Test("An inserted object is removed by undo and restored by redo as the same instance")
  func insertedObjectsGoAndComeBackAsThemselves() throws {
    try useOffice { context, history, company, _, _ in
      let eve = context.insert(Employee.self)
      eve.calls = ["a property of its own"]
      (eve.name, eve.company) = ("Eve", company)
      history.undo()
      #expect(eve.context == nil && company.employees.count == 2 && !context.hasChanges)
      history.redo()
      #expect(eve.context === context && eve.isInserted && eve.name == "Eve")
      #expect(company.employees.contains(eve) && eve.calls == ["a property of its own"])
      try context.commit()
      #expect(try context.count(Employee.self) == 3)
    }
  }

  @Test("Undoing a deletion restores everything that it deleted", arguments: [false, true])
  func deletionsComeBackWithAllTheyTookAlong(
    isCommitted: Bool
  ) throws {
    try useOffice { context, history, company, ada, bob in
      let (badge, skill, task) = (
        context.insert(Badge.self), context.insert(Skill.self), context.insert(Task.self)
      )
      let other = context.insert(Task.self)
      (ada.badge, ada.skills, ada.tasks) = (badge, [skill], [task, other])
      (ada.friends, bob.mentor) = ([bob], ada)
      try context.commit()
      context.delete(company)
      #expect(context.deletedObjects == [company, ada, bob, badge, task, other])
      if isCommitted {
        try context.commit()
        #expect(try context.count(Employee.self) == 0)
      }
      history.undo()
      #expect(context.hasChanges == isCommitted)
      #expect(company.context === context && company.employees == [ada, bob])
      #expect(ada.badge === badge && ada.skills == [skill] && ada.tasks == [task, other])
      #expect(bob.friends == [ada] && bob.mentor === ada && skill.holders == [ada])
      try context.commit()
      let fresh = context.store.makeContext()
      let same = try #require(try fresh.object(with: ada.objectID) as? Employee)
      #expect(same.tasks.map(\.objectID) == [task, other].map(\.objectID))
      #expect(same.friends.map(\.objectID) == [bob.objectID] && same.mentor == nil)
      history.redo()
      try context.commit()
      #expect(try fresh.count(Employee.self) == 0 && fresh.count(Task.self) == 0)
    }
  }

  @Test("Changes can be undone after they were committed")
  func undoReachesAcrossCommits() throws {
    try useOffice { context, history, _, ada, bob in
      ada.age = 40
      try context.commit()
      bob.age = 50
      try context.commit()
      history.undo()
      history.undo()
      #expect(ada.age == 18 && bob.age == 18 && context.updatedObjects == [ada, bob])
      try context.commit()
      let ages = try context.store.makeContext().fetch(Employee.self).map(\.age)
      #expect(ages == [18, 18])
      history.redo()
      #expect(ada.age == 40 && bob.age == 18)
    }
  }

  @Test("Nested insertions can be undone after their commit")
  func nestedInsertionsGoAfterTheirCommit() throws {
    try useOffice { context, history, _, _, _ in
      let skill = history.group {
        let skill = context.insert(Skill.self)
        history.group {
          context.insert(Task.self)
          skill.name = "Swift"
        }
        return skill
      }
      try context.commit()
      history.undo()
      #expect(try context.count(Skill.self) == 0 && context.count(Task.self) == 0)
      #expect(skill.isDeleted && context.deletedObjects.count == 2)
    }
  }

  @Test("Undo and redo of a group don't revive an object that the group inserted and deleted")
  func whatCameAndWentInOneGroupStaysAway() throws {
    try useOffice { context, history, _, _, _ in
      history.group {
        let task = context.insert(Task.self)
        history.group { context.delete(task) }
      }
      for step in [history.undo, history.redo] {
        step()
        let count = try context.count(Task.self)
        #expect(count == 0 && !context.hasChanges)
      }
    }
  }

  @Test("Groups can be nested and named")
  func groupsNestAndHaveNames() throws {
    try useOffice { context, history, _, ada, bob in
      history.group(named: "Birthday") {
        ada.age += 1
        history.group(named: "inner") { bob.age += 1 }
        ada.name = "Eve"
      }
      history.group(named: "nothing") {}
      bob.name = "Tim"
      #expect(history.undoNames == ["", "Birthday"])
      history.undo()
      #expect(bob.name == "Bob" && bob.age == 19 && history.redoNames == [""])
      history.undo()
      #expect(ada.age == 18 && bob.age == 18 && ada.name == "Ada" && history.undoNames == [])
      #expect(history.redoNames == ["Birthday", ""])
    }
  }

  @Test("A nested group can be undone while the outer one is open")
  func aPartOfAnOpenGroupIsTakenBack() throws {
    try useOffice { _, history, _, ada, bob in
      history.beginGroup(named: "outer")
      ada.age = 40
      history.beginGroup()
      bob.age = 50
      history.endGroup()
      history.undoGroup()
      #expect(ada.age == 40 && bob.age == 18)
      history.redoGroup()
      #expect(bob.age == 50)
      bob.name = "Tim"
      history.undoGroup()
      #expect(bob.name == "Bob" && bob.age == 50)
      history.undoGroup()
      #expect(bob.age == 18 && ada.age == 40)
      history.endGroup()
      history.undo()
      #expect(ada.age == 18 && !history.canUndo)
    }
  }

  @Test("A group whose body throws can still be undone")
  func anErrorLeavesWhatTheGroupDidToBeUndone() throws {
    try useOffice { context, history, _, ada, _ in
      #expect(throws: Interruption.self) {
        try history.group(named: "half") {
          ada.age = 40
          throw Interruption()
        }
      }
      #expect(ada.age == 40 && history.undoNames == ["half"])
      history.undo()
      #expect(ada.age == 18)
    }
  }

  @Test("A rollback restores the undo history of the last commit")
  func rollbackGoesToTheLastCommit() throws {
    try useOffice { context, history, _, ada, bob in
      ada.age = 40
      try context.commit()
      bob.age = 50
      context.undoHistory?.closeGroup()
      context.rollback()
      #expect(history.undoNames.count == 1 && bob.age == 18)
      // Rolling back restores what was undone since the commit.
      history.undo()
      #expect(ada.age == 18 && !history.canUndo)
      context.rollback()
      #expect(ada.age == 40 && history.canUndo && !history.canRedo)
      history.undo()
      #expect(ada.age == 18)
    }
  }

  @Test("A rollback within a group keeps its committed changes")
  func rollbackInsideOfAGroupKeepsWhatWasCommittedInIt() throws {
    try useOffice { context, history, _, ada, bob in
      history.beginGroup()
      ada.age = 40
      try context.commit()
      bob.age = 50
      context.rollback()
      bob.name = "Tim"
      history.endGroup()
      history.undo()
      #expect(ada.age == 18 && bob.name == "Bob" && bob.age == 18 && !history.canUndo)
    }
  }

  @Test("A failed commit adds no undo steps")
  func aFailedCommitLeavesNoSteps() throws {
    try useOffice { context, history, company, ada, _ in
      let twin = context.insert(Company.self)
      twin.name = company.name
      #expect(throws: ArborError.self) { try context.commit() }
      ada.age = 40
      history.undo()
      #expect(twin.context == nil && ada.age == 18 && !context.hasChanges && !history.canUndo)
    }
  }

  @Test("Changes made while registration is paused are not recorded")
  func pausedRegistrationRecordsNothing() throws {
    try useOffice { context, history, _, ada, bob in
      ada.age = 40
      history.withoutRegistration {
        ada.name = "Eve"
        bob.age = 50
      }
      ada.nick = "A"
      history.undo()
      #expect(ada.age == 18 && ada.name == "Eve" && ada.nick == nil && bob.age == 50)
      history.isEnabled = false
      context.delete(bob)
      #expect(!history.canUndo)
    }
  }

  @Test("Changes made by hooks belong to the undo group of the changes that were committed")
  func whatHooksChangeBelongsToWhatMadeThemRun() throws {
    try ObjectStore.use(
      ManagedObjectModel(for: [Stamped.self]), classes: [Stamped.self]
    ) { store in
      let context = store.makeContext()
      let note = context.insert(Stamped.self)
      try context.commit()
      context.undoHistory = UndoHistory()
      note.text = "a"
      context.undoHistory?.closeGroup()
      try context.commit()
      #expect(note.revision == 2 && context.undoHistory?.undoNames.count == 1)
      context.undo()
      #expect(note.text == "" && note.revision == 1)
      context.redo()
      #expect(note.text == "a" && note.revision == 2)
    }
  }

  @Test("The oldest groups are removed beyond the level limit")
  func theOldestGroupsGoAtTheLimit() throws {
    try useOffice { context, history, _, ada, _ in
      history.levelLimit = 3
      for age in 20..<30 {
        ada.age = age
        context.undoHistory?.closeGroup()
      }
      #expect(history.undoNames.count == 3)
      for _ in 0..<5 { history.undo() }
      #expect(ada.age == 26)
      history.levelLimit = 1
      for _ in 0..<5 { history.redo() }
      #expect(ada.age == 29 && history.undoNames.count == 1)
      history.removeAll()
      #expect(!history.canUndo && !history.canRedo)
    }
  }

  @Test("Undo keeps what other contexts committed in the meantime")
  func whatOthersCommittedInBetweenStays() throws {
    try useOffice { context, history, company, ada, bob in
      context.mergePolicy = .mergeByPropertyObjectWins
      (ada.age, ada.company) = (40, nil)
      context.delete(bob)
      let other = context.store.makeContext()
      let same = try #require(try other.object(with: ada.objectID) as? Employee)
      (same.name, same.salary) = ("Eve", 1000)
      try other.commit()
      try context.commit()
      ada.nick = "A"
      try context.commit()
      history.undo()
      history.undo()
      #expect(ada.age == 18 && ada.company === company && ada.nick == nil)
      #expect(ada.name == "Eve" && ada.salary == 1000 && company.employees == [ada, bob])
      try context.commit()
    }
  }

  @Test("Undo doesn't restore objects that another context deleted")
  func whatOthersDeletedStaysDeleted() throws {
    try useOffice { context, history, company, ada, bob in
      (ada.age, bob.age) = (40, 50)
      bob.manager = context.insert(Manager.self)
      try context.commit()
      let other = context.store.makeContext()
      other.delete(try other.object(with: ada.objectID))
      other.delete(try #require(try other.fetchOne(Manager.self)))
      try other.commit()
      history.undo()
      #expect(bob.age == 18 && bob.manager == nil && company.employees == [bob])
      history.redo()
      try context.commit()
      #expect(bob.age == 50 && company.employees == [bob])
    }
  }

  @Test("Resetting the context or replacing the history clears it")
  func resetAndReplacementForgetEverything() throws {
    try useOffice { context, history, _, ada, _ in
      ada.age = 40
      context.undoHistory = nil
      #expect(!history.canUndo)
      context.undoHistory = history
      ada.age = 50
      context.reset()
      #expect(!history.canUndo)
      context.undo()
      context.redo()
    }
  }
}

/// A class that counts its commits in a hook.
private final class Stamped: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Stamped", className: "Stamped",
    attributes: [
      AttributeDescription(name: "text", type: .string, defaultValue: ""),
      AttributeDescription(name: "revision", type: .integer64, defaultValue: 0),
    ])

  var text: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var revision: Int {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }

  override func willCommit() {
    let committed = committedValues(for: ["revision"])["revision"] ?? 0
    let next: PropertyValue =
      if case .integer(let number) = committed { .integer(number + 1) } else { 1 }
    if self["revision"] != next { self["revision"] = next }
  }
}
