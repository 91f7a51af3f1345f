import ArborModel
import ArborObjects
import Testing

/// Undoing changes of ordered relationships that another context has changed in the meantime.
@Suite("Undoing changes of ordered relationships") struct SequenceEditTests {
  typealias Kind = OrderedWorld.Kind

  @Test(
    "Undo reverts only this context's changes of a list that another context has changed",
    arguments: Kind.allCases)
  func undoLeavesWhatOthersHaveMadeOfTheList(kind: Kind) throws {
    try OrderedWorld.use(kind) { mine, theirs in
      mine.context.undoHistory = UndoHistory()
      try mine.arrange("abcdX")
      try mine.context.commit()
      try theirs.arrange("dXba")
      try theirs.context.commit()
      // Only the addition is undone.
      mine.context.undo()
      #expect(try mine.members() == "dba")
      mine.context.redo()
      #expect(try mine.members() == "dXba")
      try mine.context.commit()
    }
    try OrderedWorld.use(kind) { mine, theirs in
      mine.context.undoHistory = UndoHistory()
      try mine.arrange("dcba")
      try mine.context.commit()
      try theirs.arrange("dYcb")
      try theirs.context.commit()
      mine.context.undo()
      #expect(try mine.members() == "bcdY")
      mine.context.redo()
      #expect(try mine.members() == "dYcb")
      mine.context.undo()
      try mine.context.commit()
      #expect(try mine.members() == "bcdY")
    }
  }

  @Test("An object that is deleted and restored repeatedly returns to its place")
  func whoIsDeletedOnceMoreComesBackToItsPlace() throws {
    try OrderedWorld.use(.favourites) { mine, theirs in
      mine.context.undoHistory = UndoHistory()
      mine.context.delete(try mine.member("X"))
      mine.context.undoHistory?.closeGroup()
      try theirs.arrange("aXbcd")
      try theirs.context.commit()
      for _ in 1...3 {
        #expect(try mine.members() == "abcd")
        mine.context.undo()
        #expect(try mine.members() == "aXbcd")
        mine.context.delete(try mine.member("X"))
        mine.context.undoHistory?.closeGroup()
      }
      mine.context.undo()
      try mine.context.commit()
    }
  }

  @Test("A new object that is deleted and restored keeps its order", arguments: Kind.allCases)
  func aNewObjectComesBackWithItsOrder(kind: Kind) throws {
    try OrderedWorld.use(kind) { mine, _ in
      mine.context.undoHistory = UndoHistory()
      let person = try mine.context.insert("Person")
      try person.setValue("N", forKey: "name")
      try mine.arrange("YXZ", of: "N")
      mine.context.undoHistory?.closeGroup()
      mine.context.delete(person)
      mine.context.undoHistory?.closeGroup()
      mine.context.undo()
      #expect(try mine.members(of: "N") == "YXZ")
      try mine.context.commit()
    }
  }

  @Test(
    "Undoing an insertion keeps the members where another context moved them",
    arguments: Kind.allCases)
  func undoOfAnAdditionMovesNobody(kind: Kind) throws {
    try OrderedWorld.use(kind) { mine, theirs in
      mine.context.undoHistory = UndoHistory()
      try mine.arrange("aXbcd")
      try mine.context.commit()
      try theirs.arrange("dXcba")
      try theirs.context.commit()
      mine.context.undo()
      #expect(try mine.members() == "dcba")
      mine.context.redo()
      #expect(try mine.members() == "dXcba" && !mine.context.hasChanges)
    }
  }

  @Test(
    "A move can be undone even if another commit restored the previous order",
    arguments: Kind.allCases, [false, true])
  func aMoveIsOneWhateverOthersCommit(kind: Kind, isOpen: Bool) throws {
    try OrderedWorld.use(kind) { mine, theirs in
      let history = UndoHistory()
      mine.context.undoHistory = history
      try mine.arrange("abcdXY")
      mine.context.undoHistory?.closeGroup()
      if isOpen { history.beginGroup() }
      try mine.arrange("abcdYX")
      try theirs.arrange("abcdX")
      try theirs.context.commit()
      if isOpen {
        #expect(try mine.members() == "abcdXY")
        history.endGroup()
      } else {
        mine.context.undoHistory?.closeGroup()
      }
      #expect(try history.undoNames.count == 2 && mine.members() == "abcdXY")
      try theirs.arrange("abcdYX")
      try theirs.context.commit()
      #expect(try mine.members() == "abcdYX")
      mine.context.undo()
      #expect(try mine.members() == "abcdXY")
      mine.context.redo()
      #expect(try mine.members() == "abcdYX")
      try mine.context.commit()
    }
  }

  @Test(
    "Edits that don't change the order of a list create no undo group", arguments: Kind.allCases)
  func onlyWhatHasMovedIsAStepToTakeBack(kind: Kind) throws {
    try OrderedWorld.use(kind) { mine, _ in
      let history = UndoHistory()
      mine.context.undoHistory = history
      let person = try mine.person()
      try person.objects(forKey: kind.rawValue).insert(mine.member("X"))
      try person.objects(forKey: kind.rawValue).remove(mine.member("X"))
      try person.objects(forKey: kind.rawValue).remove(mine.member("d"))
      try person.objects(forKey: kind.rawValue).insert(mine.member("d"))
      mine.context.undoHistory?.closeGroup()
      #expect(try history.undoNames.isEmpty && mine.members() == "abcd")
      try person.objects(forKey: kind.rawValue).remove(mine.member("a"))
      try person.objects(forKey: kind.rawValue).insert(mine.member("a"))
      mine.context.undoHistory?.closeGroup()
      #expect(try history.undoNames.count == 1 && mine.members() == "bcda")
      mine.context.undo()
      #expect(try mine.members() == "abcd" && !mine.context.hasChanges)
      mine.context.redo()
      #expect(try mine.members() == "bcda")
      try mine.context.commit()
    }
  }

  @Test("A removed member returns to its place among the current members", arguments: Kind.allCases)
  func undoPutsBackWhoLeft(kind: Kind) throws {
    try OrderedWorld.use(kind) { mine, theirs in
      mine.context.undoHistory = UndoHistory()
      try mine.arrange("ad")
      try mine.context.commit()
      try theirs.arrange("dYa")
      try theirs.context.commit()
      mine.context.undo()
      #expect(try mine.members() == "bcdYa")
      try mine.context.commit()
    }
    try OrderedWorld.use(kind) { mine, theirs in
      mine.context.undoHistory = UndoHistory()
      try mine.context.delete(mine.member("b"))
      try mine.context.commit()
      try theirs.arrange("aYcd")
      try theirs.context.commit()
      mine.context.undo()
      #expect(try mine.members() == "aYbcd")
      try mine.context.commit()
      mine.context.redo()
      #expect(try mine.members() == "aYcd")
      try mine.context.commit()
    }
  }

  @Test("A member that another context has moved to another owner stays there")
  func undoTakesNoMemberFromOthers() throws {
    try OrderedWorld.use(.notes) { mine, theirs in
      mine.context.undoHistory = UndoHistory()
      try mine.arrange("dcba")
      try mine.context.commit()
      try theirs.arrange("b", of: "Q")
      try theirs.context.commit()
      mine.context.undo()
      try mine.context.commit()
      #expect(try mine.members() == "acd" && mine.members(of: "Q") == "b")
    }
  }
}
