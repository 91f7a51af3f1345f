extension ManagedObjectContext {
  /// Takes back the last undo group of ``undoHistory``; see ``UndoHistory/undo()``.
  public func undo() { undoHistory?.undo() }

  /// Brings the group again that was undone last; see ``UndoHistory/redo()``.
  public func redo() { undoHistory?.redo() }
}
