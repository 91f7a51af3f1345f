import ArborModel
import ArborObjects
import ArborWork
import Testing

/// Undo and redo of what others have a part in.
@Suite struct UndoReplayTests {
  /// What an undo leaves as it found it is nothing that its redo may touch, whatever others have
  /// made of it since.
  @Test func whatAnUndoLeavesAwayIsNotTakenFromOthers() throws {
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
      // The group inserted and deleted her: she is away before the undo, and after it.
      history.undo()
      try here.commit()
      #expect(try here.count("Employee") == 0)
      // By what was changed there she lives on.
      try there.commit()
      history.redo()
      #expect(try here.fetchOne(Employee.self)?.age == 30 && !here.hasChanges)
    }
  }
}
