extension ManagedObjectContext {
  /// Runs `body` and makes what it changes one undo group, which ends with it also where it throws;
  /// what it changed until then stays, and can be undone.
  ///
  /// ```swift
  /// try context.withUndoGroup(named: "Merge Companies") {
  ///   try merge(small, into: large)
  /// }
  /// ```
  ///
  /// Without an ``undoHistory`` it only runs the body.
  public func withUndoGroup<R, E: Error>(
    named name: String = "", _ body: () throws(E) -> R
  ) throws(E) -> R {
    if let undoHistory { try undoHistory.grouping(named: name, body) } else { try body() }
  }

  /// Ends a round of changes: what changes from now on belongs to another undo group, unless an
  /// explicit one is open.
  public func processPendingChanges() { undoHistory?.closeGroup() }

  /// Takes back the last undo group of ``undoHistory``; see ``UndoHistory/undo()``.
  public func undo() { undoHistory?.undo() }

  /// Brings the group again that was undone last; see ``UndoHistory/redo()``.
  public func redo() { undoHistory?.redo() }
}
