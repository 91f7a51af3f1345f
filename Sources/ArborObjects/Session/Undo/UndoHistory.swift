internal import ArborModel
internal import ArborStore

/// The undo history of a context, organized in groups that can be undone and redone.
///
/// Assign a history to a context, and its changes are recorded from then on:
///
/// ```swift
/// let history = UndoHistory()
/// context.undoHistory = history
/// history.group(named: "Raise") {
///   for employee in team { employee.salary += 100 }
/// }
/// history.undo()
/// ```
///
/// Changes belong to the open group. If there is none, the context opens a group itself and closes
/// it at the end of a round: at the next commit, at ``closeGroup()``, and before an undo. Groups
/// can be nested: a group that ends inside another becomes part of it.
///
/// Undoing creates new pending changes, even if the group has long been committed: deleted objects
/// are restored as the same objects with the same IDs, together with the effects of their deletion;
/// inserted objects are deleted; changed properties and relationships get their former values, and
/// all others keep theirs. The next commit writes these changes. Changes that were reverted within
/// a group are not undone; changes that other commits have reverted since are. Objects that other
/// commits have deleted in the meantime remain deleted, and an object that existed only because of
/// its changes is removed with them. Changes that a commit makes to resolve conflicts don't belong
/// to a group. Hooks for insertion and deletion are not called.
///
/// Recording costs a copy of the earlier record per object and group, and less for a long text of
/// which only a part changes. A history belongs to the thread of its context and is emptied when the
/// context is reset.
///
/// The open group is the end of the session's edit log; a closed one has extracted its edits from
/// it. Undoing a group creates new edits, which form the group that redoes it.
public final class UndoHistory {
  /// A Boolean value that indicates whether changes are recorded. Changes made while it is `false`
  /// cannot be undone. Earlier groups can still be undone.
  public var isEnabled = true {
    didSet { if isEnabled != oldValue { seal(always: true) } }
  }
  /// The maximum number of groups to keep, or 0 for no limit. The oldest groups are discarded.
  public var levelLimit: Int {
    didSet { trim() }
  }
  /// The maximum number of bytes that the groups may hold in memory, or 0 for no limit. The oldest
  /// groups are discarded, but never the newest one.
  ///
  /// A group holds the former records of the objects it changed, and the former values of binary
  /// attributes with external storage.
  public var byteLimit: Int {
    didSet { trim() }
  }

  /// The session whose edits are recorded. Weak, because the program may keep a history for longer.
  private weak var session: Session?
  private var undoGroups: UndoStack { didSet { session?.observation?.noteHistory() } }
  private var redoGroups: UndoStack {
    didSet {
      if redoGroups.isEmpty { hasForgotten = true }
      session?.observation?.noteHistory()
    }
  }
  private let memory = HistoryMemory()
  /// Whether groups may have been discarded since the context last released the data kept for them.
  var hasForgotten = false
  /// The group that new edits belong to, or `nil` before the first edit.
  private var open: OpenGroup?
  /// The start positions of open explicit groups in the context's log.
  private var openStarts: [Int] = []
  /// Whether an undo or redo is in progress, whose edits form a separate group.
  private var isReplaying = false
  private var mark: CommitMark
  /// The allocator for copies of records from before edits.
  let allocator = SlabAllocator()
  /// Whether recording is suspended, for example while a commit is being written. Changes made in
  /// the meantime are not undoable.
  var isSuspended = false

  /// A group whose edits are at the end of the context's log.
  private struct OpenGroup {
    let name: String
    /// The position of its first edit.
    var start: Int
    /// The ranges of nested groups that have ended.
    var nested: [Range<Int>] = []
  }

  /// The state of the history at the last commit, for rollbacks.
  private struct CommitMark {
    /// The number of groups at the commit that have not been undone since.
    var undoCount = 0
    /// The groups undone since, in reverse order of restoration.
    var undone: UndoStack
    /// The position in the log at the commit.
    var position = 0
    /// The last action since the commit, which causes the changes of hooks in the next one.
    var cause = Cause.none
    /// Whether no group was open at the start of the current commit.
    var hasNoOpenGroup = false
  }

  /// The groups to the last of which the changes of hooks in a commit belong.
  private enum Cause {
    /// Nothing recorded was changed, so changes of hooks aren't undoable.
    case none
    /// A group was closed or redone.
    case undoGroup
    /// A group was undone.
    case redoGroup
  }

  /// Creates an empty history.
  ///
  /// - Parameters:
  ///   - levelLimit: The maximum number of groups to keep, or 0 for no limit.
  ///   - byteLimit: The maximum number of bytes that the groups may hold, or 0 for no limit.
  public init(levelLimit: Int = 0, byteLimit: Int = 0) {
    self.levelLimit = levelLimit
    self.byteLimit = byteLimit
    let empty = UndoStack(memory)
    (undoGroups, redoGroups, mark) = (empty, empty, CommitMark(undone: empty))
  }

  // MARK: Groups

  /// A Boolean value that indicates whether there is anything to undo.
  public var canUndo: Bool {
    session?.observation?.accessHistory(self, \.canUndo)
    return !undoGroups.isEmpty || hasOpenEdits
  }

  /// A Boolean value that indicates whether there is anything to redo: a group was undone, and
  /// nothing has changed since.
  public var canRedo: Bool {
    session?.observation?.accessHistory(self, \.canRedo)
    return !redoGroups.isEmpty && (!openStarts.isEmpty || !hasOpenEdits)
  }

  /// The names of the groups that can be undone, the next one first. Empty strings for groups
  /// without a name.
  public var undoNames: [String] {
    session?.observation?.accessHistory(self, \.undoNames)
    return (hasOpenEdits ? [open?.name ?? ""] : []) + undoGroups.names.reversed()
  }

  /// The names of the groups that can be redone, the next one first.
  public var redoNames: [String] {
    session?.observation?.accessHistory(self, \.redoNames)
    return redoGroups.names.reversed()
  }

  /// Begins a group, nested in the open one if there is one.
  ///
  /// - Parameter name: The name for menus. The name of a nested group isn't kept.
  public func beginGroup(named name: String = "") {
    seal()
    if openStarts.isEmpty, !isInSavepoint {
      closeGroup()
      open = OpenGroup(name: name, start: position)
    }
    openStarts.append(position)
  }

  /// Ends the innermost open group.
  ///
  /// - Precondition: A group is open.
  public func endGroup() {
    guard let start = openStarts.popLast() else {
      stopProgram("endGroup() was called without a group. Call beginGroup(named:) first.")
    }
    seal()
    // A savepoint may have to restore the records.
    if !isInSavepoint, let session { undoGroups.pack(session.log, from: start) }
    endNested(from: start)
    // A group undone inside an explicit group can still be redone after its end.
    if openStarts.isEmpty { closeGroup(keepingRedo: true) }
  }

  /// Runs `body` and records its changes as one undo group. If `body` throws, the changes made so
  /// far are kept and can be undone.
  ///
  /// ```swift
  /// try history.group(named: "Merge Companies") {
  ///   try merge(small, into: large)
  /// }
  /// ```
  public func group<R, E: Error>(
    named name: String = "", _ body: () throws(E) -> R
  ) throws(E) -> R {
    beginGroup(named: name)
    defer { endGroup() }
    return try body()
  }

  /// Records the edits after a position as a nested group.
  private func endNested(from start: Int) {
    if start < position { open?.nested.append(start..<position) }
  }

  /// Extracts the last nested group, or the edits after it if there are any. They must be sealed.
  private func takeLastNested(from start: Int) -> UndoGroup? {
    guard let session, let group = open else { return nil }
    let count = session.log.count
    let last = group.nested.last ?? start..<start
    let ended = last.lowerBound >= start ? last : start..<start
    let lower = ended.upperBound < count ? max(ended.upperBound, start) : ended.lowerBound
    guard lower < count else { return nil }
    undoGroups.unpack(session.log, from: lower)
    let taken = UndoGroup(name: group.name, log: session.log.take(from: lower))
    open?.nested.removeAll { $0.upperBound > lower }
    return taken
  }

  /// Ends a round of changes by closing the group that the context opened itself. An explicit group
  /// remains open.
  ///
  /// A program with a run loop calls this method once per event.
  public func closeGroup() { closeGroup(keepingRedo: false) }

  private func closeGroup(keepingRedo: Bool) {
    // A savepoint may have to restore existing edits.
    guard openStarts.isEmpty, !isInSavepoint, let open else { return }
    seal()
    self.open = nil
    guard let session else { return }
    let group = UndoGroup(name: open.name, log: session.log.take(from: open.start))
    mark.position = open.start
    guard group.log.hasEffect() else {
      session.observation?.noteHistory()
      return UndoReplay(session: session).settle(group.log)
    }
    undoGroups.append(group)
    mark.cause = .undoGroup
    if !keepingRedo { redoGroups.removeAll() }
    trim()
  }

  /// The number of bytes that the groups hold in memory.
  package var heldBytes: Int {
    memory.bytes + undoGroups.bytes + redoGroups.bytes + mark.undone.bytes
  }

  private func trim() {
    var excess = levelLimit > 0 ? max(0, undoGroups.count - levelLimit) : 0
    if byteLimit > 0, heldBytes > byteLimit {
      excess = max(excess, undoGroups.countOfFirst(holding: heldBytes - byteLimit))
    }
    guard excess > 0 else { return }
    undoGroups.removeFirst(excess)
    hasForgotten = true
    mark.undoCount = max(0, mark.undoCount - excess)
  }

  // MARK: Undoing

  /// Undoes the last group, after ending open explicit groups. Does nothing if there isn't one. If
  /// the store cannot be read, the context's next throwing operation throws the error.
  ///
  /// - Precondition: No commit is in progress.
  public func undo() {
    endAllGroups()
    guard let group = undoGroups.popLast() else { return }
    if undoGroups.count < mark.undoCount {
      mark.undoCount = undoGroups.count
      mark.undone.append(group)
    }
    if let redo = replay(group) {
      redoGroups.append(redo)
      mark.cause = .redoGroup
    }
  }

  /// Redoes the most recently undone group. Does nothing if there isn't one.
  ///
  /// - Precondition: No commit is in progress.
  public func redo() {
    endAllGroups()
    guard let group = redoGroups.popLast(), let undo = replay(group) else { return }
    undoGroups.append(undo)
    mark.cause = .undoGroup
    trim()
  }

  /// Undoes the last group nested in the open one, or the changes after it. If no group is open,
  /// undoes the last group.
  ///
  /// - Precondition: No commit is in progress.
  public func undoGroup() {
    guard let start = openStarts.last else { return undo() }
    seal()
    guard let group = takeLastNested(from: start) else { return }
    mark.position = min(mark.position, position)
    if let redo = replay(group) { redoGroups.append(redo) }
  }

  /// Redoes the most recently undone group, within the open group if there is one.
  ///
  /// - Precondition: No commit is in progress.
  public func redoGroup() {
    guard open != nil, !openStarts.isEmpty else { return redo() }
    guard let group = redoGroups.popLast(), let start = replayAtEnd(group) else { return }
    endNested(from: start)
  }

  /// Removes all groups. Open groups remain open but empty.
  public func removeAll() {
    undoGroups.removeAll()
    redoGroups.removeAll()
    mark = CommitMark(undone: UndoStack(memory))
    // A savepoint may still have to restore edits in the log.
    if !isInSavepoint { session?.log.truncate(to: open?.start ?? position) }
    begin(at: position)
    session?.beginEpoch()
  }

  func begin(at position: Int) {
    open = openStarts.isEmpty ? nil : OpenGroup(name: open?.name ?? "", start: position)
    openStarts = openStarts.map { _ in position }
    mark.position = position
  }

  /// Runs `body` without recording its changes.
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

  /// Undoes a group. Returns the group that redoes it.
  private func replay(_ group: UndoGroup) -> UndoGroup? {
    guard let start = replayAtEnd(group), let session else { return nil }
    return UndoGroup(name: group.name, log: session.log.take(from: start))
  }

  /// Undoes a group with edits at the end of the log. Returns the position of the first.
  private func replayAtEnd(_ group: UndoGroup) -> Int? {
    guard let session else { return nil }
    guard !isInSavepoint else {
      stopProgram("undo() or redo() was called during a commit or a seed. Call it afterwards.")
    }
    group.log.seal(in: session)
    var start = 0
    // Merges other commits first, so that resulting changes are not part of the replay.
    session.withOneSnapshot(merging: true) {
      start = session.log.count
      isReplaying = true
      session.beginEpoch()
      UndoReplay(session: session).run(group.log)
      isReplaying = false
      session.beginEpoch()
    }
    session.settleListeners()
    return start
  }
}

// MARK: - Called by the context

extension UndoHistory {
  /// Whether changes made now can be undone.
  var isRecording: Bool { (isEnabled && !isSuspended) || isReplaying }

  private var isInSavepoint: Bool { session?.isInSavepoint ?? false }

  /// The end of the context's log.
  private var position: Int { session?.log.count ?? 0 }

  private var hasOpenEdits: Bool { open.map { $0.start < position } ?? false }

  /// Called before an undoable edit is appended at a position of the log.
  func noteEdit(at position: Int) {
    guard !isReplaying else { return }
    if open == nil { open = OpenGroup(name: "", start: position) }
    // A group opened by the context may have no net effect.
    if !openStarts.isEmpty { redoGroups.removeAll() }
  }

  /// Determines the effects of the edits so far, before other commits change the same objects.
  func seal() { seal(always: false) }

  private func seal(always: Bool) {
    guard let session, always || (open != nil && !session.log.isSealed) else { return }
    session.log.seal(in: session)
    // Makes the next change of an object a separate edit.
    session.beginEpoch()
  }

  /// Called when a commit begins, whose hooks may change objects.
  func beginCommit() {
    seal()
    mark.hasNoOpenGroup = !hasOpenEdits && openStarts.isEmpty
  }

  func noteCommit() {
    if let session { session.log.seal(in: session) }
    if mark.hasNoOpenGroup, let hooks = open, let session, session.log.hasEffect(from: hooks.start)
    {
      // Changes by hooks belong to the changes that triggered them, whose group is already closed.
      open = nil
      switch mark.cause {
      case .none: discardEdits(from: hooks.start)
      case .undoGroup:
        undoGroups.extendLast(by: session.log.take(from: hooks.start), sealedIn: session)
      case .redoGroup:
        redoGroups.extendLast(by: session.log.take(from: hooks.start), sealedIn: session)
      }
    }
    closeGroup()
    mark = CommitMark(
      undoCount: undoGroups.count, undone: UndoStack(memory), position: position)
  }

  /// Restores the state at the last commit, together with the session.
  func rollBack() {
    discardEdits(from: mark.position)
    if openStarts.isEmpty, let start = open?.start {
      discardEdits(from: start)
      open = nil
    }
    clamp()
    undoGroups.removeLast(undoGroups.count - mark.undoCount)
    while let group = mark.undone.popLast() { undoGroups.append(group) }
    mark.undoCount = undoGroups.count
    mark.cause = .none
    redoGroups.removeAll()
  }

  private func discardEdits(from position: Int) {
    guard let session else { return }
    undoGroups.unpack(session.log, from: position)
    session.log.truncate(to: position)
  }

  /// Clamps all positions to the end of the log.
  private func clamp() {
    let end = position
    // A savepoint's first edit may not have been undoable.
    if let start = open?.start { open?.start = min(start, end) }
    openStarts = openStarts.map { min($0, end) }
    open?.nested.removeAll { $0.upperBound > end }
    mark.position = min(mark.position, end)
  }

  /// Calls `body` with the names of all large binary values of records that may be restored.
  func forEachBlob(_ body: (BlobKey) -> Void) {
    var logs = undoGroups.logs + redoGroups.logs + mark.undone.logs
    if let session { logs.append(session.log) }
    for log in logs {
      for case .object(let edit) in log.edits {
        edit.forEachBlob { body(BlobKey($1, of: edit.object.number, $0)) }
      }
    }
  }

  /// Begins a savepoint.
  ///
  /// - Returns: A closure to call after the log has been restored to the savepoint.
  func beginSavepoint() -> () -> Void {
    let (sealedCount, openCount) = (session?.log.sealedCount ?? 0, openStarts.count)
    let redoGroups = redoGroups
    return { [unowned self] in
      session?.log.unseal(from: sealedCount)
      openStarts.removeLast(max(0, openStarts.count - openCount))
      clamp()
      self.redoGroups = redoGroups
    }
  }

  /// Ends a savepoint that began at a position of the log.
  func endSavepoint(from start: Int) {
    guard let session else { return }
    session.log.endSavepoint(from: start, allocator)
    clamp()
  }

  /// Attaches a history to a session, replacing another one.
  static func replace(_ former: UndoHistory?, by history: UndoHistory?, in session: Session) {
    if let former {
      former.removeAll()
      former.session = nil
    }
    guard let history else { return }
    guard history.session == nil else {
      stopProgram(
        "The undo history already belongs to another context. Create another undo "
          + "history for this context.")
    }
    history.session = session
    history.begin(at: session.log.count)
    // Ensures that the next change of each object is recorded.
    session.beginEpoch()
  }
}

@available(
  *, unavailable,
  message: "An undo history belongs to its context. Create one for each context."
)
extension UndoHistory: Sendable {}
