internal import ArborModel

/// What a context can take back, group by group, and bring again.
///
/// Give a context one, and its changes are recorded from then on:
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
/// Changes belong to the group that is open. Without one the context opens a group itself, and
/// closes it at the end of a round: at the next commit, at ``closeGroup()`` and at an undo. Groups
/// nest: one that ends inside of another becomes a part of it.
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
///
/// The open group is the end of the session's edits; a closed one has taken its edits out of
/// it. Undoing a group makes new edits, which are the group that redoes it.
public final class UndoHistory {
  /// The edits that one undo takes back, in the order they were made.
  ///
  /// An edit says what was before, of the parts that changed since; so taking it back changes
  /// nothing that concurrent commits have done to other parts meanwhile.
  private struct Group {
    let name: String
    let log: EditLog
  }

  /// Whether changes are recorded. What changes meanwhile cannot be taken back; groups from before
  /// still can, as far as they reach.
  public var isEnabled = true {
    didSet { if isEnabled != oldValue { seal(always: true) } }
  }
  /// How many groups are kept, the newest ones; 0 for all of them.
  public var levelLimit: Int {
    didSet { trim() }
  }

  /// The session whose edits are recorded; weak, since the program may keep a history for longer.
  private weak var session: Session?
  private var undoGroups: [Group] = []
  private var redoGroups: [Group] = [] { didSet { if redoGroups.isEmpty { hasForgotten = true } } }
  /// Whether groups may have been forgotten since the context last looked what is kept for them.
  var hasForgotten = false
  /// The group that edits belong to; nil before the first one.
  private var open: OpenGroup?
  /// Where the explicit groups that are open begin in the context's log.
  private var openStarts: [Int] = []
  /// Whether an undo or redo runs, whose edits are a group of their own.
  private var isReplaying = false
  private var mark = CommitMark()
  /// The memory of the records before edits.
  let allocator = SlabAllocator()
  /// Whether a commit is being written: what it changes to be written is nothing to undo.
  var isSuspended = false

  /// A group whose edits are still those at the end of the context's log.
  private struct OpenGroup {
    let name: String
    /// The position of its first edit.
    var start: Int
    /// The nested groups that have ended, as positions.
    var nested: [Range<Int>] = []
  }

  /// The state of the history at the last commit, for rollbacks.
  private struct CommitMark {
    /// How many of the groups there were at the commit have not been undone since.
    var undoCount = 0
    /// The groups undone since, the last one first to come back.
    var undone: [Group] = []
    /// Where the log stood.
    var position = 0
    /// Whether the commit under way found no open group, and a closed one since the last commit.
    var hasClosedGroup = false
  }

  /// An empty history.
  ///
  /// - Parameter levelLimit: How many groups are kept; 0 for all of them.
  public init(levelLimit: Int = 0) { self.levelLimit = levelLimit }

  // MARK: Groups

  /// Whether there is anything to undo.
  public var canUndo: Bool { !undoGroups.isEmpty || hasOpenEdits }

  /// Whether there is anything to redo: something was undone, and nothing changed since.
  public var canRedo: Bool { !redoGroups.isEmpty && (!openStarts.isEmpty || !hasOpenEdits) }

  /// The names of the groups that can be undone, the next one first; empty texts for groups without
  /// a name.
  public var undoNames: [String] {
    (hasOpenEdits ? [open?.name ?? ""] : []) + undoGroups.reversed().map(\.name)
  }

  /// The names of the groups that can be redone, the next one first.
  public var redoNames: [String] { redoGroups.reversed().map(\.name) }

  /// Opens a group, inside of the open one where there is one.
  ///
  /// - Parameter name: What a menu calls it; the name of an inner group is not kept.
  public func beginGroup(named name: String = "") {
    seal()
    if openStarts.isEmpty, !isInSavepoint {
      closeGroup()
      open = OpenGroup(name: name, start: position)
    }
    openStarts.append(position)
  }

  /// Ends the group that was opened last.
  ///
  /// - Precondition: A group is open.
  public func endGroup() {
    guard let start = openStarts.popLast() else {
      stopProgram("endGroup() was called without a group. Call beginGroup(named:) first.")
    }
    seal()
    endNested(from: start)
    // What was undone inside of an explicit group can be brought again behind its end.
    if openStarts.isEmpty { closeGroup(keepingRedo: true) }
  }

  /// Runs `body` and makes what it changes one undo group, which ends with it also if it throws; what
  /// it changed until then stays, and can be undone.
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

  /// Makes what follows a position a nested group.
  private func endNested(from start: Int) {
    if start < position { open?.nested.append(start..<position) }
  }

  /// Takes out the last nested group, or the edits after it where there are any. They have to be
  /// sealed.
  private func takeLastNested(from start: Int) -> Group? {
    guard let session, let group = open else { return nil }
    let count = session.log.count
    let last = group.nested.last ?? start..<start
    let ended = last.lowerBound >= start ? last : start..<start
    let lower = ended.upperBound < count ? max(ended.upperBound, start) : ended.lowerBound
    guard lower < count else { return nil }
    let taken = Group(name: group.name, log: session.log.take(from: lower))
    open?.nested.removeAll { $0.upperBound > lower }
    return taken
  }

  /// Ends a round of changes: closes the group that the context opened itself. An explicit one stays
  /// open.
  ///
  /// A program with a run loop calls it once for each event.
  public func closeGroup() { closeGroup(keepingRedo: false) }

  private func closeGroup(keepingRedo: Bool) {
    // A savepoint may have to take back what it finds.
    guard openStarts.isEmpty, !isInSavepoint, let open else { return }
    seal()
    self.open = nil
    guard let session else { return }
    let group = Group(name: open.name, log: session.log.take(from: open.start))
    mark.position = open.start
    guard group.log.hasEffect() else { return UndoReplay(session: session).settle(group.log) }
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
    seal()
    guard let group = takeLastNested(from: start) else { return }
    mark.position = min(mark.position, position)
    if let redo = replay(group) { redoGroups.append(redo) }
  }

  /// Brings the group again that was undone last, inside of the open one where there is one.
  ///
  /// - Precondition: No commit is under way.
  public func redoGroup() {
    guard open != nil, !openStarts.isEmpty else { return redo() }
    guard let group = redoGroups.popLast(), let start = replayAtEnd(group) else { return }
    endNested(from: start)
  }

  /// Forgets all groups; open ones go on, empty.
  public func removeAll() {
    undoGroups = []
    redoGroups = []
    mark = CommitMark()
    // A savepoint may still have to take back what is in the log.
    if !isInSavepoint { session?.log.truncate(to: open?.start ?? position) }
    begin(at: position)
    session?.beginEpoch()
  }

  func begin(at position: Int) {
    open = openStarts.isEmpty ? nil : OpenGroup(name: open?.name ?? "", start: position)
    openStarts = openStarts.map { _ in position }
    mark.position = position
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
  private func replay(_ group: Group) -> Group? {
    guard let start = replayAtEnd(group), let session else { return nil }
    return Group(name: group.name, log: session.log.take(from: start))
  }

  /// Undoes a group by edits at the end of the log; returns the position of the first.
  private func replayAtEnd(_ group: Group) -> Int? {
    guard let session else { return nil }
    guard !isInSavepoint else {
      stopProgram("undo() or redo() was called during a commit or a seed. Call it afterwards.")
    }
    group.log.seal(in: session)
    var start = 0
    // Merges other commits first: what comes of that is not part of the replay.
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

// MARK: - What the context tells

extension UndoHistory {
  /// Whether what changes now can be taken back.
  var isRecording: Bool { (isEnabled && !isSuspended) || isReplaying }

  private var isInSavepoint: Bool { session?.isInSavepoint ?? false }

  /// Where the context's log ends.
  private var position: Int { session?.log.count ?? 0 }

  private var hasOpenEdits: Bool { open.map { $0.start < position } ?? false }

  /// Notes that an edit that can be taken back is about to be appended at a position of the log.
  func noteEdit(at position: Int) {
    guard !isReplaying else { return }
    if open == nil { open = OpenGroup(name: "", start: position) }
    // A group that the context opened may have no net effect.
    if !openStarts.isEmpty { redoGroups = [] }
  }

  /// Lets the edits so far find out what they changed, before others change the same objects.
  func seal() { seal(always: false) }

  private func seal(always: Bool) {
    guard let session, always || (open != nil && !session.log.isSealed) else { return }
    session.log.seal(in: session)
    // The next change of an object is an edit of its own.
    session.beginEpoch()
  }

  /// Tells that a commit begins, whose hooks may change things.
  func beginCommit() {
    seal()
    mark.hasClosedGroup = !hasOpenEdits && openStarts.isEmpty && undoGroups.count > mark.undoCount
  }

  func noteCommit() {
    if let session { session.log.seal(in: session) }
    if mark.hasClosedGroup, let hooks = open, let session, let group = undoGroups.last,
      session.log.hasEffect(from: hooks.start)
    {
      // What hooks change belongs to what made them run, which has been closed already.
      group.log.append(session.log.take(from: hooks.start))
      group.log.seal(in: session)
      open = nil
      redoGroups = []
    }
    closeGroup()
    mark = CommitMark(undoCount: undoGroups.count, position: position)
  }

  /// Goes back to the last commit, as the session does.
  func rollBack() {
    session?.log.truncate(to: mark.position)
    if openStarts.isEmpty, let start = open?.start {
      session?.log.truncate(to: start)
      open = nil
    }
    clamp()
    undoGroups.removeLast(max(0, undoGroups.count - mark.undoCount))
    undoGroups += mark.undone.reversed()
    mark.undoCount = undoGroups.count
    mark.undone = []
    redoGroups = []
  }

  /// Takes back all positions behind the end of the log.
  private func clamp() {
    let end = position
    // A savepoint's first edit may have been one that is not undone.
    if let start = open?.start { open?.start = min(start, end) }
    openStarts = openStarts.map { min($0, end) }
    open?.nested.removeAll { $0.upperBound > end }
    mark.position = min(mark.position, end)
  }

  /// Calls `body` with every earlier record that may come back.
  func forEachRecord(_ body: (ManagedObject, RecordView) -> Void) {
    var logs = (undoGroups + redoGroups + mark.undone).map(\.log)
    if let session { logs.append(session.log) }
    for log in logs {
      for case .object(let edit) in log.edits {
        if let before = edit.before { body(edit.object, before) }
      }
    }
  }

  /// Begins a savepoint.
  ///
  /// - Returns: A function to call when the log has gone back to it.
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

  /// Ends a savepoint, which began at a position of the log.
  func endSavepoint(from start: Int) {
    guard let session else { return }
    session.log.endSavepoint(from: start, allocator)
    clamp()
  }

  /// Lets a history record the edits of a session in place of another one.
  static func replace(_ former: UndoHistory?, by history: UndoHistory?, in session: Session) {
    if let former {
      former.removeAll()
      former.session = nil
    }
    guard let history else { return }
    guard history.session == nil else {
      stopProgram("The undo history already belongs to another context. Create a second one.")
    }
    history.session = session
    history.begin(at: session.log.count)
    // The next change of each object is recorded.
    session.beginEpoch()
  }
}

@available(*, unavailable, message: "A history stays with its context.")
extension UndoHistory: Sendable {}
