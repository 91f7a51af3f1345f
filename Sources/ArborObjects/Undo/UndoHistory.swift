internal import ArborModel

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
/// closes it at the next commit, at ``ManagedObjectContext/processPendingChanges()`` and at an
/// undo; a data manager closes one with each of its operations. Groups nest: one that ends inside
/// of another becomes a part of it.
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
  public var isEnabled = true {
    didSet { if isEnabled != oldValue { sealSteps(always: true) } }
  }
  /// How many groups are kept, the newest ones; 0 for all of them.
  public var levelLimit: Int {
    didSet { trim() }
  }

  weak var context: ManagedObjectContext?
  private var undoGroups: [UndoGroup] = []
  private var redoGroups: [UndoGroup] = [] {
    didSet { if redoGroups.isEmpty { hasForgotten = true } }
  }
  /// Whether groups may have been forgotten since the context last looked what is kept for them.
  var hasForgotten = false
  /// The group that changes are recorded in; nil before the first one.
  private var current: UndoGroup?
  /// Where the explicit groups that are open begin in ``current``.
  private var openStarts: [Int] = []
  /// Where the steps of an undo or redo are recorded while it runs.
  private var counterpart: UndoGroup?
  private var mark = CommitMark()
  private let allocator = SlabAllocator()
  /// Whether a commit is being written: what it changes to be written is nothing to undo.
  var isSuspended = false

  /// What the last commit found, for rollbacks.
  private struct CommitMark {
    /// How many of the groups there were at the commit have not been undone since.
    var undoCount = 0
    /// The groups undone since, the last one first to come back.
    var undone: [UndoGroup] = []
    /// The steps of the open group.
    var stepCount = 0
    /// Whether the commit under way found no open group, and a closed one since the last commit.
    var hasClosedGroup = false
  }

  /// Where a history stands when a savepoint begins.
  struct Position {
    let stepCount: Int
    let sealedCount: Int
    let openCount: Int
    fileprivate let redoGroups: [UndoGroup]
  }

  /// An empty history.
  ///
  /// - Parameter levelLimit: How many groups are kept; 0 for all of them.
  public init(levelLimit: Int = 0) {
    self.levelLimit = levelLimit
  }

  // MARK: Groups

  /// Whether there is anything to undo.
  public var canUndo: Bool { !undoGroups.isEmpty || current?.isEmpty == false }

  /// Whether there is anything to redo: something was undone, and nothing changed since.
  public var canRedo: Bool {
    !redoGroups.isEmpty && (!openStarts.isEmpty || current?.isEmpty != false)
  }

  /// How many groups have been opened by ``beginGroup(named:)`` and not ended yet. The group that a
  /// context opens itself does not count.
  public var openGroupCount: Int { openStarts.count }

  /// The names of the groups that can be undone, the next one first; empty texts for groups without
  /// a name.
  public var undoNames: [String] {
    let open = current.flatMap { $0.isEmpty ? nil : $0.name }
    return (open.map { [$0] } ?? []) + undoGroups.reversed().map(\.name)
  }

  /// The names of the groups that can be redone, the next one first.
  public var redoNames: [String] { redoGroups.reversed().map(\.name) }

  /// Opens a group, inside of the open one where there is one.
  ///
  /// - Parameter name: What a menu calls it; the name of an inner group is not kept.
  public func beginGroup(named name: String = "") {
    sealSteps()
    if openStarts.isEmpty, context?.journal == nil {
      closeGroup()
      current = UndoGroup(named: name)
    }
    openStarts.append(current?.steps.count ?? 0)
  }

  /// Ends the group that was opened last.
  ///
  /// - Precondition: One is open: ``openGroupCount`` is not 0.
  public func endGroup() {
    guard let start = openStarts.popLast() else {
      preconditionFailure("endGroup() was called without a group; call beginGroup(named:) first.")
    }
    sealSteps()
    current?.endNested(from: start)
    // What was undone inside of an explicit group can be brought again behind its end.
    if openStarts.isEmpty { closeGroup(keepingRedo: true) }
  }

  /// Closes the group that the context opened itself; an explicit one stays open.
  func closeGroup(keepingRedo: Bool = false) {
    // A savepoint may have to take back what it finds.
    guard openStarts.isEmpty, context?.journal == nil, let group = current else { return }
    sealSteps()
    current = nil
    mark.stepCount = 0
    guard group.hasEffect else {
      if let context { UndoReplay(context: context).settle(group) }
      return
    }
    undoGroups.append(group)
    if !keepingRedo { redoGroups = [] }
    trim()
  }

  private func trim() {
    guard levelLimit > 0, undoGroups.count > levelLimit else { return }
    let excess = undoGroups.count - levelLimit
    undoGroups.removeFirst(excess)
    hasForgotten = true
    mark.undoCount = max(0, mark.undoCount - excess)
  }

  // MARK: Undoing

  /// Takes the last group back; explicit groups that are open end first. Nothing where there is
  /// none. What keeps the store from being read, the context's next throwing operation throws.
  ///
  /// - Precondition: No commit is under way.
  public func undo() {
    endAllGroups()
    guard let group = undoGroups.popLast() else { return }
    if undoGroups.count < mark.undoCount {
      mark.undoCount = undoGroups.count
      mark.undone.append(group)
    }
    if let redo = replay(group) { redoGroups.append(redo) }
  }

  /// Brings the group again that was undone last. Nothing where there is none.
  ///
  /// - Precondition: No commit is under way.
  public func redo() {
    endAllGroups()
    guard let group = redoGroups.popLast(), let undo = replay(group) else { return }
    undoGroups.append(undo)
    trim()
  }

  /// Takes back the last group inside of the open one, or what was changed after it; without an
  /// open one, the last group.
  ///
  /// - Precondition: No commit is under way.
  public func undoGroup() {
    guard let start = openStarts.last else { return undo() }
    sealSteps()
    guard let group = current?.takeLastNested(from: start) else { return }
    mark.stepCount = min(mark.stepCount, current?.steps.count ?? 0)
    if let redo = replay(group) { redoGroups.append(redo) }
  }

  /// Brings the group again that was undone last, inside of the open one where there is one.
  ///
  /// - Precondition: No commit is under way.
  public func redoGroup() {
    guard let open = current, !openStarts.isEmpty else { return redo() }
    guard let group = redoGroups.popLast(), let undo = replay(group) else { return }
    let start = open.steps.count
    for step in undo.steps { open.append(step) }
    if let context { open.seal(in: context) }
    open.endNested(from: start)
  }

  /// Forgets all groups; open ones go on, empty.
  public func removeAll() {
    undoGroups = []
    redoGroups = []
    mark = CommitMark()
    current = openStarts.isEmpty ? nil : UndoGroup(named: current?.name ?? "")
    openStarts = openStarts.map { _ in 0 }
    context?.beginEpoch()
  }

  /// Runs `body` without recording what it changes.
  public func withoutRegistration<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    let wasEnabled = isEnabled
    isEnabled = false
    defer { isEnabled = wasEnabled }
    return try body()
  }

  private func endAllGroups() {
    while !openStarts.isEmpty { endGroup() }
    closeGroup()
  }

  /// Undoes a group; returns what undoes that again.
  private func replay(_ group: UndoGroup) -> UndoGroup? {
    guard let context else { return nil }
    precondition(
      context.journal == nil, "A group was undone during a commit or a seed; do it afterwards.")
    let counterpart = UndoGroup(named: group.name)
    self.counterpart = counterpart
    context.beginEpoch()
    UndoReplay(context: context).run(group, noting: counterpart)
    self.counterpart = nil
    context.beginEpoch()
    return counterpart
  }
}

// MARK: - What the context tells

extension UndoHistory {
  /// Records a step of the context.
  func note(_ entry: ChangeJournal.Entry) {
    guard isRecording, let step = step(entry) else { return }
    append(step)
  }

  private func step(_ entry: ChangeJournal.Entry) -> UndoStep? {
    guard let context else { return nil }
    switch entry {
    case .object(let step): return .object(ObjectUndo(step, allocator))
    case .link(let edit, let member, let standing):
      let wasMember =
        switch standing {
        case .added: true
        case .removed: false
        case .unmentioned: context.isStored(member, in: edit.relation, of: edit.owner)
        }
      return .link(
        LinkUndo(
          owner: edit.owner, relation: edit.relation, member: member, wasMember: wasMember))
    case .order: return nil
    }
  }

  /// Records the sequence that an ordered relationship's members had when the present steps began,
  /// before the first of them leaves or is moved. Asked for while ``isRecording``.
  func noteSequence(_ edit: LinkEdit) {
    guard let context else { return }
    let stored = context.storedMembers(of: edit.owner, edit.relation)
    var members = edit.isSilent ? stored : edit.members(over: stored)
    if let joined = edit.order?.joined(in: context.epoch), !joined.isEmpty {
      members.removeAll(where: joined.contains)
    }
    append(.order(OrderUndo(edit.owner, edit.relation, members, over: stored)))
  }

  /// Whether what changes now is recorded.
  var isRecording: Bool { (isEnabled && !isSuspended) || counterpart != nil }

  private func append(_ step: UndoStep) {
    if let counterpart { return counterpart.append(step) }
    if current == nil { current = UndoGroup(named: "") }
    current?.append(step)
    // A group that the context opened may come to nothing.
    if !openStarts.isEmpty { redoGroups = [] }
  }

  /// Lets the steps so far find out what they changed, before others change the same objects.
  func sealSteps(always: Bool = false) {
    guard always || current?.isSealed == false else { return }
    guard let context else { return }
    current?.seal(in: context)
    // The next change of an object is a step of its own.
    context.beginEpoch()
  }

  /// Tells that a commit begins, whose hooks may change things.
  func beginCommit() {
    sealSteps()
    mark.hasClosedGroup =
      current?.isEmpty != false && openStarts.isEmpty && undoGroups.count > mark.undoCount
  }

  /// Closes the group that a commit has written.
  func noteCommit() {
    if let context { current?.seal(in: context) }
    if mark.hasClosedGroup, let hooks = current, hooks.hasEffect, let group = undoGroups.last {
      // What hooks change belongs to what made them run, which has been closed already.
      for step in hooks.steps { group.append(step) }
      if let context { group.seal(in: context) }
      current = nil
      redoGroups = []
    }
    closeGroup()
    mark = CommitMark(undoCount: undoGroups.count, stepCount: current?.steps.count ?? 0)
  }

  /// Goes back to where the last commit was.
  func rollBack() {
    current?.truncate(to: mark.stepCount)
    if openStarts.isEmpty { current = nil }
    openStarts = openStarts.map { min($0, mark.stepCount) }
    undoGroups.removeLast(max(0, undoGroups.count - mark.undoCount))
    undoGroups += mark.undone.reversed()
    mark.undoCount = undoGroups.count
    mark.undone = []
    redoGroups = []
  }

  /// Calls `body` with every earlier record that may come back.
  func forEachRecord(_ body: (ManagedObject, RecordView) -> Void) {
    for group in undoGroups + redoGroups + mark.undone + (current.map { [$0] } ?? []) {
      for case .object(let step) in group.steps {
        if let before = step.before { body(step.object, before) }
      }
    }
  }

  var position: Position {
    Position(
      stepCount: current?.steps.count ?? 0, sealedCount: current?.sealedCount ?? 0,
      openCount: openStarts.count, redoGroups: redoGroups)
  }

  /// Forgets the steps since a savepoint that failed.
  func restore(_ position: Position) {
    current?.truncate(to: position.stepCount)
    current?.unseal(from: position.sealedCount)
    openStarts.removeLast(max(0, openStarts.count - position.openCount))
    redoGroups = position.redoGroups
  }
}

@available(*, unavailable, message: "A history stays with its context.")
extension UndoHistory: Sendable {}
