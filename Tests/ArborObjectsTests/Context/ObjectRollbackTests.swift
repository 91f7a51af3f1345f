import ArborModel
import ArborObjects
import TestLength
import TestSupport
import Testing

/// Discarding the changes of single objects.
@Suite struct ObjectRollbackTests {
  /// Calls `body` with a context on a committed company of two employees, one with a badge, a skill,
  /// tasks and a friend.
  private func use(
    _ body: (ManagedObjectContext, Company, Employee, Employee) throws -> Void
  ) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (company, ada) = (context.insert(Company.self), context.insert(Employee.self))
      let bob = context.insert(Employee.self)
      (company.name, ada.name, bob.name) = ("one", "Ada", "Bob")
      company.employees = [ada, bob]
      ada.badge = context.insert(Badge.self)
      ada.skills = [context.insert(Skill.self)]
      ada.tasks = [context.insert(Task.self), context.insert(Task.self)]
      (ada.friends, bob.mentor) = ([bob], ada)
      try context.commit()
      try body(context, company, ada, bob)
    }
  }

  @Test("Rolling back an insertion removes the object and the links to it")
  func insertionsGo() throws {
    try use { context, company, ada, bob in
      let eve = context.insert(Employee.self)
      (eve.name, eve.company, eve.friends) = ("Eve", company, [ada])
      bob.name = "Tim"
      context.rollback(eve)
      #expect(eve.context == nil && eve.isDeleted && ada.friends == [bob])
      #expect(company.employees == [ada, bob] && context.updatedObjects == [bob])
      context.rollback(eve)
      try context.commit()
      #expect(try context.store.makeContext().count(Employee.self, matching: "name == 'Tim'") == 1)
    }
  }

  @Test("Rolling back a change restores properties and links at both ends")
  func changesGo() throws {
    try use { context, company, ada, bob in
      let (badge, skills, tasks) = (ada.badge, ada.skills, ada.tasks)
      let other = context.insert(Badge.self)
      (ada.name, ada.age, ada.company, ada.badge) = ("Eve", 40, nil, other)
      (ada.skills, ada.tasks, ada.friends) = ([], [tasks[1], tasks[0]], [])
      bob.age = 50
      context.rollback(ada)
      #expect(ada.name == "Ada" && ada.age == 18 && ada.company === company)
      #expect(ada.badge === badge && badge?.employee === ada && other.employee == nil)
      #expect(ada.skills == skills && ada.tasks == tasks && ada.friends == [bob])
      #expect(company.employees == [ada, bob] && bob.friends == [ada] && !ada.hasChanges)
      #expect(context.updatedObjects == [bob] && context.insertedObjects == [other])
      context.rollback(bob)
      context.rollback(other)
      #expect(!context.hasChanges)
    }
  }

  @Test("Rolling back a deletion restores the object with its links")
  func deletionsGo() throws {
    try use { context, company, ada, bob in
      let (badge, skills, tasks) = (ada.badge, ada.skills, ada.tasks)
      context.delete(ada)
      #expect(bob.mentor == nil && company.employees == [bob])
      context.rollback(ada)
      #expect(!ada.isDeleted && ada.name == "Ada" && ada.company === company)
      #expect(company.employees == [ada, bob] && ada.skills == skills && ada.friends == [bob])
      #expect(bob.mentor === ada && bob.friends == [ada])
      // What the deletion took along stays deleted.
      for object in context.deletedObjects { context.rollback(object) }
      #expect(ada.badge === badge && ada.tasks == tasks && !context.hasChanges)
    }
  }

  @Test("Undo reverts a rollback of an object")
  func undoRevertsRollbacks() throws {
    try use { context, company, ada, bob in
      let history = UndoHistory()
      context.undoHistory = history
      (ada.name, ada.company) = ("Eve", nil)
      history.closeGroup()
      context.rollback(ada)
      history.closeGroup()
      #expect(ada.name == "Ada" && company.employees == [ada, bob] && !context.hasChanges)
      history.undo()
      #expect(ada.name == "Eve" && ada.company == nil && company.employees == [bob])
      history.undo()
      #expect(ada.name == "Ada" && ada.company === company && !context.hasChanges)
      history.redo()
      history.redo()
      #expect(ada.name == "Ada" && ada.company === company && !context.hasChanges)
      let eve = context.insert(Employee.self)
      history.closeGroup()
      context.rollback(eve)
      history.closeGroup()
      history.undo()
      #expect(eve.context === context && eve.isInserted)
      context.delete(bob)
      history.closeGroup()
      context.rollback(bob)
      history.closeGroup()
      #expect(bob.mentor === ada && ada.friends == [bob])
      history.undo()
      #expect(bob.isDeleted && ada.friends == [])
      history.undo()
      #expect(bob.mentor === ada && ada.friends == [bob])
    }
  }

  @Test(
    "A rollback of an object accepts what another context has committed", arguments: [false, true])
  func othersCommitsAreAccepted(isDeleted: Bool) throws {
    try use { context, _, ada, bob in
      ada.age = 40
      let other = context.store.makeContext()
      let same = try #require(try other.object(with: ada.objectID) as? Employee)
      if isDeleted { other.delete(same) } else { same.name = "Eve" }
      try other.commit()
      context.rollback(ada)
      #expect(ada.isDeleted == isDeleted && (isDeleted || ada.name == "Eve" && ada.age == 18))
      #expect(!context.hasChanges)
      bob.age = 50
      try context.commit()
    }
  }

  @Test("A deletion that another context has made, too, cannot be rolled back")
  func deletionsByBothStay() throws {
    try use { context, _, _, bob in
      context.delete(bob)
      let other = context.store.makeContext()
      other.delete(try other.object(with: bob.objectID))
      try other.commit()
      context.rollback(bob)
      #expect(bob.isDeleted && bob.context == nil && !context.hasChanges)
    }
  }

  @Test("Refreshing without keeping changes discards insertions and deletions, too")
  func refreshingDiscardsEverything() throws {
    try use { context, company, ada, bob in
      let eve = context.insert(Employee.self)
      context.refresh(eve)
      #expect(eve.isInserted)
      context.refresh(eve, mergeChanges: false)
      #expect(eve.context == nil)
      context.delete(bob)
      context.refresh(bob)
      #expect(bob.isDeleted)
      context.refresh(bob, mergeChanges: false)
      #expect(
        !bob.isDeleted && bob.isFault && bob.name == "Bob" && company.employees == [ada, bob])
      ada.friends = []
      context.refresh(ada, mergeChanges: false)
      #expect(ada.isFault && ada.friends == [bob] && !context.hasChanges)
    }
  }

  @Test("The valid objects of a refused commit are committed after the others are rolled back")
  func invalidObjectsAreLeftOut() throws {
    try use { context, company, _, _ in
      for name in ["one", "two", "three"] { context.insert(Company.self).name = name }
      let error = try failure { try context.commit() }
      #expect(error.code == .notUnique)
      for object in context.insertedObjects where object["name"] == PropertyValue.string("one") {
        context.rollback(object)
      }
      try context.commit()
      #expect(try context.count(Company.self) == 3 && company.name == "one")
    }
  }

  @Test("Random rollbacks of objects agree with dictionaries")
  func randomRollbacksAgree() throws {
    var seeds = SeededRandom()
    for _ in 0..<TestLength.of(150, long: 10_000) {
      let seed = seeds.next()
      do {
        try ObjectStore.use(PlainWorld.model()) { store in
          var history = RandomHistory(store, seed: seed)
          try history.runDiscarding(steps: 40)
        }
      } catch {
        Issue.record(error, "seed \(seed)")
        return
      }
    }
  }

  @Test("A rollback that restores one link too few is found", arguments: 0..<5 as Range<UInt64>)
  func missingLinksAreFound(seed: UInt64) throws {
    try ObjectStore.use(PlainWorld.model()) { store in
      var history = RandomHistory(store, seed: seed)
      #expect(throws: Mismatch.self) { try history.runDiscarding(steps: 10, losesLink: true) }
      history.context.rollback()
    }
  }
}
