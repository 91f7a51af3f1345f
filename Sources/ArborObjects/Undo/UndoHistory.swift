/// What a context can take back, group by group, and bring again.
///
/// Give a context one, and its changes are recorded from then on:
///
/// ```swift
/// context.undoHistory = UndoHistory()
/// context.withUndoGroup(named: "Raise") {
///   for employee in team { employee.salary += 100 }
/// }
/// context.undoHistory?.undo()
/// ```
///
/// Changes belong to the group that is open. Without one the context opens a group itself, and
/// closes it at the end of a round: at the next commit, at
/// ``ManagedObjectContext/processPendingChanges()`` and at an undo. Groups nest: one that ends
/// inside of another becomes a part of it.
///
/// Undoing makes new pending changes, also where the group has been committed long ago: deleted
/// objects come back as the same objects under the same IDs, with what their deletion took along;
/// inserted ones go; changed properties and relationships have the values of before, all others
/// keep theirs. The next commit writes it. What was changed and changed back in one group is
/// nothing to undo; what others have changed back since is. What others deleted meanwhile stays
/// deleted, and an object that only its changes have kept here goes with them. What a commit does
/// to agree with others is no part of a group. Hooks of insertion and deletion are not called.
///
/// Recording costs a copy of the earlier record for each object and group, or a reference to it
/// where it is long. Histories belong to the thread of their context, and are emptied when that is
/// reset.
public final class UndoHistory {
  /// Whether changes are recorded. What changes meanwhile cannot be taken back; groups from before
  /// still can, as far as they reach.
  public var isEnabled: Bool {
    get { stack.isEnabled }
    set { stack.isEnabled = newValue }
  }
  /// How many groups are kept, the newest ones; 0 for all of them.
  public var levelLimit: Int {
    get { stack.levelLimit }
    set { stack.levelLimit = newValue }
  }

  /// The groups themselves.
  let stack: UndoStack

  /// An empty history.
  ///
  /// - Parameter levelLimit: How many groups are kept; 0 for all of them.
  public init(levelLimit: Int = 0) { stack = UndoStack(levelLimit: levelLimit) }

  // MARK: Groups

  /// Whether there is anything to undo.
  public var canUndo: Bool { stack.canUndo }

  /// Whether there is anything to redo: something was undone, and nothing changed since.
  public var canRedo: Bool { stack.canRedo }

  /// How many groups have been opened by ``beginGroup(named:)`` and not ended yet. The group that a
  /// context opens itself does not count.
  public var openGroupCount: Int { stack.openGroupCount }

  /// The names of the groups that can be undone, the next one first; empty texts for groups without
  /// a name.
  public var undoNames: [String] { stack.undoNames }

  /// The names of the groups that can be redone, the next one first.
  public var redoNames: [String] { stack.redoNames }

  /// Opens a group, inside of the open one where there is one.
  ///
  /// - Parameter name: What a menu calls it; the name of an inner group is not kept.
  public func beginGroup(named name: String = "") { stack.beginGroup(named: name) }

  /// Ends the group that was opened last.
  ///
  /// - Precondition: One is open: ``openGroupCount`` is not 0.
  public func endGroup() { stack.endGroup() }

  /// Makes what `body` changes a group, which ends with it also where it throws.
  func grouping<R, E: Error>(named name: String, _ body: () throws(E) -> R) throws(E) -> R {
    beginGroup(named: name)
    defer { endGroup() }
    return try body()
  }

  /// Ends the group that the context has opened itself.
  func closeGroup() { stack.closeGroup() }

  // MARK: Undoing

  /// Takes the last group back; explicit groups that are open end first. Nothing where there is
  /// none. What keeps the store from being read, the context's next throwing operation throws.
  ///
  /// - Precondition: No commit is under way.
  public func undo() { stack.undo() }

  /// Brings the group again that was undone last. Nothing where there is none.
  ///
  /// - Precondition: No commit is under way.
  public func redo() { stack.redo() }

  /// Takes back the last group inside of the open one, or what was changed after it; without an
  /// open one, the last group.
  ///
  /// - Precondition: No commit is under way.
  public func undoGroup() { stack.undoGroup() }

  /// Brings the group again that was undone last, inside of the open one where there is one.
  ///
  /// - Precondition: No commit is under way.
  public func redoGroup() { stack.redoGroup() }

  /// Forgets all groups; open ones go on, empty.
  public func removeAll() { stack.removeAll() }

  /// Runs `body` without recording what it changes.
  public func withoutRegistration<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    let wasEnabled = isEnabled
    isEnabled = false
    defer { isEnabled = wasEnabled }
    return try body()
  }
}

@available(*, unavailable, message: "A history stays with its context.")
extension UndoHistory: Sendable {}
