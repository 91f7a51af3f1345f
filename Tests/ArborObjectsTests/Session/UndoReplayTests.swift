import ArborModel
import ArborObjects
import Testing

/// Undo and redo of changes that another context has contributed to.
@Suite("Undo and redo after merges") struct UndoReplayTests {
  @Test("A redo keeps an object that another context has changed since")
  func whatAnUndoLeavesAwayIsNotTakenFromOthers() throws {
    try ObjectStore.useOffice { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      there.mergePolicy = .mergeByPropertyObjectWins
      let history = UndoHistory()
      here.undoHistory = history
      history.beginGroup()
      let ada = here.insert(Employee.self)
      ada.name = "Ada"
      try here.commit()
      let same = try #require(try there.existingObject(with: ada.objectID) as? Employee)
      same.age = 30
      here.delete(ada)
      // The group inserted and deleted the object, so it is gone before and after the undo.
      history.undo()
      try here.commit()
      #expect(try here.count("Employee") == 0)
      // The object survives because of the change in the other context.
      try there.commit()
      history.redo()
      #expect(try here.fetchOne(Employee.self)?.age == 30 && !here.hasChanges)
    }
  }

  @Test("An object that was deleted and then unlinked by others loses its links when undone")
  func aChangeOfLinksAfterADeletionDoesNotHideIt() throws {
    try ObjectStore.use(PlainStore.model()) { store in
      let contexts = (0..<3).map { _ in store.makeContext() }
      for context in contexts { context.mergePolicy = .mergeByPropertyObjectWins }
      let (mine, theirs, others) = (contexts[0], contexts[1], contexts[2])
      let skill = try theirs.insert("Skill")
      let persons = try [theirs.insert("Person"), theirs.insert("Person")]
      try theirs.commit()
      let person = try mine.object(with: persons[0].objectID)
      let kept = try mine.object(with: skill.objectID)
      try person.objects(forKey: "skills").insert(kept)
      mine.undoHistory = UndoHistory()
      try kept.setValue(.integer(4), forKey: "b")
      // Committed second, the other deletion removes a link of the object that is already gone.
      try persons[1].objects(forKey: "skills").insert(skill)
      try theirs.commit()
      try others.delete(others.object(with: skill.objectID))
      theirs.delete(skill)
      try theirs.commit()
      try others.commit()
      #expect(try mine.count("Skill") == 1)
      mine.undo()
      #expect(try mine.count("Skill") == 0 && person.objects(forKey: "skills").count() == 0)
      #expect(!mine.hasChanges)
      try mine.commit()
    }
  }

  // MARK: Pairs with concurrent changes

  /// Calls `body` with the same two persons and two badges in two contexts. P has X.
  private func usePairs(
    _ body: (_ mine: ManagedObjectContext, _ theirs: ManagedObjectContext, [[ManagedObject]]) throws
      -> Void
  ) throws {
    try ObjectStore.use(LinkPair.model(.oneToOne)) { store in
      let (mine, theirs) = (store.makeContext(), store.makeContext())
      mine.mergePolicy = .mergeByPropertyObjectWins
      mine.undoHistory = UndoHistory()
      let objects = try ["Person", "Person", "Badge", "Badge"].map { try mine.insert($0) }
      try objects[0].setObject(objects[2], forKey: "badge")
      try mine.commit()
      let others = try objects.map { try theirs.object(with: $0.objectID) }
      try body(mine, theirs, [objects, others])
    }
  }

  @Test("A change made after a merge can be undone")
  func aChangeBehindAMergeIsUndone() throws {
    try usePairs { mine, theirs, objects in
      let (p, q, y) = (objects[0][0], objects[0][1], objects[0][3])
      try objects[1][1].setObject(objects[1][3], forKey: "badge")
      try p.setObject(y, forKey: "badge")
      mine.undoHistory?.beginGroup()
      try theirs.commit()
      try q.setValue(.integer(2), forKey: "a")
      mine.undo()
      #expect(q["a"] as PropertyValue == .null)
      #expect(try p.object(forKey: "badge") === y && q.object(forKey: "badge") == nil)
      try mine.commit()
    }
  }

  @Test("Changes that an undo makes to links while merging a commit are not reverted by a redo")
  func aRedoBringsNothingBackOfACommitThatTheUndoTookIn() throws {
    try usePairs { mine, theirs, objects in
      let (p, q, x, y) = (objects[0][0], objects[0][1], objects[0][2], objects[0][3])
      try objects[1][1].setObject(objects[1][2], forKey: "badge")
      try p.setObject(y, forKey: "badge")
      try theirs.commit()
      mine.undo()
      #expect(try p.object(forKey: "badge") === x && q.object(forKey: "badge") == nil)
      mine.redo()
      #expect(try p.object(forKey: "badge") === y && x.object(forKey: "owner") == nil)
      #expect(try q.object(forKey: "badge") == nil)
      try mine.commit()
    }
  }

  @Test("A reference to a deleted object stays nil if another context restores the object")
  func nobodyIsPairedWithWhoComesBackToAnother() throws {
    try usePairs { mine, theirs, objects in
      let (p, y) = (objects[0][0], objects[0][3])
      theirs.undoHistory = UndoHistory()
      try p.setObject(y, forKey: "badge")
      theirs.delete(objects[1][2])
      try theirs.commit()
      mine.undo()
      #expect(try p.object(forKey: "badge") == nil && mine.count("Badge") == 1)
      theirs.undo()
      try objects[1][1].setObject(objects[1][2], forKey: "badge")
      try theirs.commit()
      try mine.commit()
      let badge = try mine.existingObject(with: objects[1][2].objectID)
      #expect(try badge.object(forKey: "owner") === objects[0][1])
      #expect(try p.object(forKey: "badge") == nil)
    }
  }

  @Test("Deleting an object by redo doesn't affect partners paired with it elsewhere")
  func whoGoesAgainTakesNobodysPartner() throws {
    try usePairs { mine, theirs, objects in
      let (p, q, x, y) = (objects[0][0], objects[0][1], objects[0][2], objects[0][3])
      try objects[1][1].setObject(objects[1][2], forKey: "badge")
      try q.setObject(y, forKey: "badge")
      mine.undoHistory?.closeGroup()
      mine.delete(x)
      mine.undoHistory?.closeGroup()
      try theirs.commit()
      mine.undo()
      #expect(try p.object(forKey: "badge") === x && q.object(forKey: "badge") === y)
      mine.redo()
      #expect(try p.object(forKey: "badge") == nil && q.object(forKey: "badge") === y)
      try mine.commit()
    }
  }
}
