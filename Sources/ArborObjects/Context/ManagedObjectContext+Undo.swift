extension ManagedObjectContext {
  /// Undoes the most recent undo group of ``undoHistory``. See ``UndoHistory/undo()``.
  public func undo() { undoHistory?.undo() }

  /// Redoes the most recently undone group. See ``UndoHistory/redo()``.
  public func redo() { undoHistory?.redo() }
}
